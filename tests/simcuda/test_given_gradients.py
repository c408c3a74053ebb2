"""Gradients that a user hands to autograd live where their tensors do."""

import pytest
import torch

from syncscope.events import count

pytestmark = pytest.mark.usefixtures("device")


def returning(gradient):
    class Given(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return gradient

    return Given


@pytest.mark.parametrize(("at", "other"), [("cuda", "cpu"), ("cpu", "cuda")])
def test_a_function_that_returns_a_gradient_of_the_other_side_is_refused(at, other):
    x = torch.ones(4, device=at, requires_grad=True)
    result = returning(torch.ones(4, device=other)).apply(x * 3).sum()
    with pytest.raises(RuntimeError, match="Function GivenBackward returned an invalid gradient at index 0"):
        result.backward()


@pytest.mark.parametrize(("at", "other", "copies"), [("cuda", "cpu", (0, 1)), ("cpu", "cuda", (1, 0))])
def test_a_scalar_of_the_other_side_is_carried_over(events, at, other, copies):
    x = torch.ones((), device=at, requires_grad=True)
    result = returning(torch.full((), 5.0, device=other)).apply(x)
    events.clear()
    result.backward()
    counts = count(events)
    assert (counts.dtoh, counts.htod, counts.waits) == (*copies, 1)
    assert x.grad.item() == 5
    assert x.grad.device.type == at


@pytest.mark.parametrize("given", [torch.autograd.backward, torch.autograd.grad, torch.Tensor.backward])
def test_what_the_backward_begins_with_lives_where_the_output_does(events, given):
    x = torch.ones(4, device="cuda", requires_grad=True)
    words = {"inputs": x} if given is torch.autograd.grad else {}
    with pytest.raises(
        RuntimeError, match="invalid gradient at index 0 - expected device cuda:0 but got cpu"
    ):
        given(x * 2, **words, **_gradient(given, torch.ones(4)))
    events.clear()
    given((x * 2).sum(), **words, **_gradient(given, torch.ones(())))
    counts = count(events)
    assert (counts.htod, counts.waits) == (1, 1)


def _gradient(given, one):
    name = {torch.autograd.grad: "grad_outputs", torch.autograd.backward: "grad_tensors"}.get(
        given, "gradient"
    )
    return {name: one}


def test_a_function_of_many_arguments_takes_gradients_of_those_that_are_tensors():
    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, factor, x, bias):
            return factor * x + bias

        @staticmethod
        def backward(ctx, grad):
            return None, grad * 2, grad.sum()

    x = torch.ones(3, device="cuda", requires_grad=True)
    bias = torch.ones((), requires_grad=True)
    Scaled.apply(2, x, bias).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    assert not bias.grad.is_cuda


@pytest.mark.parametrize(("at", "other"), [("cuda", "cpu"), ("cpu", "cuda")])
def test_a_hook_that_returns_a_gradient_of_the_other_side_is_refused(at, other):
    x = torch.ones(4, device=at, requires_grad=True)
    x.register_hook(lambda gradient: gradient.to(other))
    with pytest.raises(RuntimeError, match="hook '<lambda>' has changed the type of value"):
        (x * 2).sum().backward()


def test_a_hook_changes_the_gradient_until_it_is_removed():
    x = torch.ones(4, device="cuda", requires_grad=True)
    handle = x.register_hook(lambda gradient: gradient * 3)
    (x * 2).sum().backward()
    handle.remove()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [8.0] * 4


class OnBothSides(torch.autograd.Function):
    """One result on the device, one on the host; its backward keeps what it is given."""

    given: tuple = ()

    @staticmethod
    def forward(ctx, a, b):
        return a * 2, b * 2

    @staticmethod
    def backward(ctx, of_first, of_second):
        OnBothSides.given = (of_first, of_second)
        return of_first * 2, of_second * 2


@pytest.mark.parametrize("used", [0, 1])
def test_zeros_for_a_result_that_is_not_used_are_where_the_result_is(used):
    a = torch.ones(3, device="cuda", requires_grad=True)
    b = torch.ones(3, requires_grad=True)
    OnBothSides.apply(a, b)[used].sum().backward()
    assert [one.is_cuda for one in OnBothSides.given] == [True, False]
    assert a.grad.is_cuda
    assert not b.grad.is_cuda


WRITES = {
    "number by index": ("0.0", False, 1),
    "number by mask": ("0.0", True, 0),
    "host scalar": ("torch.tensor(1.0)", False, 1),
    "device scalar": ("torch.ones((), device='cuda')", False, 0),
}


@pytest.mark.parametrize(("value", "by_mask", "waits"), WRITES.values(), ids=WRITES)
def test_the_backward_of_a_write_uploads_what_the_write_did(value, by_mask, waits, events):
    weights = torch.ones(4, 5, device="cuda", requires_grad=True)
    hidden = weights * 2
    index = hidden > 5 if by_mask else torch.zeros(3, dtype=torch.long, device="cuda")
    hidden[index] = eval(value)
    loss = hidden.sum()
    events.clear()
    loss.backward()
    assert (count(events).htod, count(events).waits) == (waits, waits)
