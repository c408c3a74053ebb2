"""Tangents beside values: forward-mode differentiation of what Python numbers stand in."""

import pytest
import torch
from torch.autograd import forward_ad

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.script"),  # torch.func imports it
]

USES = {
    "x * 2": lambda x: x * 2,
    "2 * x": lambda x: 2 * x,
    "x + 1": lambda x: x + 1,
    "3 - x": lambda x: 3 - x,
    "x / 2": lambda x: x / 2,
    "2 / x": lambda x: 2 / x,
    "x ** 2": lambda x: x**2,
    "2 ** x": lambda x: 2**x,
    "x * True": lambda x: x * True,
    "x.mul_(2)": lambda x: x.clone().mul_(2),
    "where": lambda x: torch.where(x > 0, x, 0.0),
    "maximum": lambda x: torch.maximum(x, torch.tensor(0.5)),
    "half": lambda x: x.half() * 2,
}


def values(device):
    return torch.tensor([0.5, 1.5, 2.5], device=device), torch.tensor([1.0, 2.0, 3.0], device=device)


def with_dual_numbers(use, device):
    value, tangent = values(device)
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(use(forward_ad.make_dual(value, tangent)))


def with_jvp(use, device):
    value, tangent = values(device)
    return torch.func.jvp(use, (value,), (tangent,))


@pytest.mark.parametrize("differentiated", [with_dual_numbers, with_jvp])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_values_and_tangents_are_those_of_the_cpu(use, differentiated):
    expected, found = differentiated(use, "cpu"), differentiated(use, "cuda")
    for mine, cpus in zip(found, expected, strict=True):
        assert mine.is_cuda
        assert torch.equal(mine.cpu(), cpus)


@pytest.mark.parametrize("use", [lambda x: x * 2, lambda x: x + 1, lambda x: x / 2])
def test_the_zero_tangent_of_a_number_is_added_by_one_memcpy(events, use):
    """BinaryOps.cpp, maybe_add_maybe_sub: the other side is copied, which nothing has to be added to."""
    value, tangent = values("cuda")
    events.clear()
    torch.func.jvp(use, (value,), (tangent,))
    assert [(event.kind, event.dtod, event.waits) for event in events] == [("copy", 1, 0)]


MASK = [True, False, True]

BESIDE_A_HOST_NUMBER = {
    "where": (lambda x, c: torch.where(torch.tensor(MASK, device="cuda"), x, c), 2),
    "where, first": (lambda x, c: torch.where(torch.tensor(MASK, device="cuda"), c, x), 2),
    "masked_fill": (lambda x, c: x.masked_fill(torch.tensor(MASK, device="cuda"), c), 0),
    "index_fill": (lambda x, c: x.index_fill(0, torch.tensor([0, 2], device="cuda"), c), 0),
    "index_put_": (lambda x, c: x.clone().index_put_((torch.tensor([0, 2], device="cuda"),), c), 2),
    "fmod": (torch.fmod, 0),
    "atan2": (torch.atan2, 0),
    "mul": (torch.mul, 0),
    "add": (torch.add, 0),
    "lerp": (lambda x, c: torch.lerp(x, torch.ones(3, device="cuda"), c), 0),
    "pow": (torch.pow, 2),
    "**": (lambda x, c: x**c, 2),
    "float_power": (torch.float_power, 2),
}


def crossings(events):
    """Uploads, fetches and waits, but for the masks and indices that a use makes."""
    made = [event for event in events if event.api != "torch.tensor"]
    assert not [event for event in made if event.kind == "unknown"]
    return tuple(sum(getattr(event, name) for event in made) for name in ("htod", "dtoh", "waits"))


@pytest.mark.parametrize("mode", [with_dual_numbers, with_jvp])
@pytest.mark.parametrize(("use", "uploads"), BESIDE_A_HOST_NUMBER.values(), ids=BESIDE_A_HOST_NUMBER)
def test_zeros_for_the_tangent_of_a_host_number_are_the_hosts(events, use, uploads, mode):
    number = torch.tensor(0.5)
    values("cuda")
    events.clear()
    mode(lambda x: use(x, number), "cuda")
    assert crossings(events) == (uploads, 0, uploads)


@pytest.mark.parametrize("use", [torch.add, torch.sub])
def test_the_tangent_of_a_host_number_goes_up_to_the_zeros_of_a_device_tensor(events, use):
    """BinaryOps.cpp, maybe_add_maybe_sub."""
    x, number = torch.ones(3, device="cuda"), torch.tensor(2.0)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(number, torch.tensor(1.0))
        events.clear()
        tangent = forward_ad.unpack_dual(use(x, dual)).tangent
    assert tangent.is_cuda
    assert crossings(events) == (1, 0, 1)


def test_a_host_number_has_no_tangent_where_nothing_is_differentiated(events):
    x, number = torch.ones(3, device="cuda"), torch.tensor(2.0)
    events.clear()
    with forward_ad.dual_level():
        torch.pow(x, number)
        torch.maximum(x, number)
    assert not events


@pytest.mark.parametrize("choose", [torch.maximum, torch.minimum, torch.fmax, torch.fmin])
def test_a_choice_beside_a_host_number_is_known(events, choose):
    """At most one upload: the formulas of PyTorch's versions differ."""
    number = torch.tensor(0.5)
    with_dual_numbers(lambda x: choose(x, number), "cuda")
    assert {event.kind for event in events} <= {"copy", "upload"}


@pytest.mark.parametrize(
    "transformed",
    [
        lambda f, x: torch.func.jvp(torch.vmap(f), (x,), (x,)),
        lambda f, x: torch.vmap(lambda one: torch.func.jvp(f, (one,), (one,)))(x),
        lambda f, x: torch.func.jacfwd(f)(x[0]),
        lambda f, x: torch.func.hessian(lambda one: f(one * one).sum())(x[0]),
    ],
    ids=["jvp of vmap", "vmap of jvp", "jacfwd", "hessian"],
)
def test_transforms_send_a_host_number_and_its_tangent_up(events, transformed):
    x, number, mask = torch.ones(2, 3, device="cuda"), torch.tensor(0.5), torch.tensor(MASK, device="cuda")
    events.clear()
    transformed(lambda one: torch.where(mask, one, number), x)
    assert crossings(events) == (2, 0, 2)


@pytest.mark.parametrize(
    "taken",
    [
        lambda x: torch.autograd.functional.jacobian(torch.sin, x, vectorize=True),
        lambda x: torch.autograd.functional.jacobian(torch.sin, x, vectorize=True, strategy="forward-mode"),
        lambda x: torch.autograd.functional.jacobian(lambda t: t.cpu().sin(), x, vectorize=True),
        lambda x: torch.autograd.functional.hessian(
            lambda t: t.sin().sum(), x, vectorize=True, outer_jacobian_strategy="forward-mode"
        ),
    ],
    ids=["reverse", "forward", "across", "hessian"],
)
def test_autograds_own_vmap_has_the_values_of_the_cpu(taken):
    x = torch.arange(1.0, 4.0)
    expected = taken(x)
    found = taken(x.cuda())
    assert found.is_cuda
    assert torch.equal(found.cpu(), expected)
