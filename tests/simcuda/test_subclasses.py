"""Tensors of the user's own classes: what they print, what they hear, and what they are charged for."""

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch.utils._pytree import tree_map

from syncscope.simcuda.simulation import SimulatedDevice


def totals(events):
    return tuple(sum(getattr(event, name) for event in events) for name in ("dtoh", "htod", "dtod", "waits"))


class Plain(torch.Tensor):
    pass


@pytest.mark.parametrize("size", [(), (3,), (2, 3), (np.int64(3),), (torch.Size((2, 3)),)])
def test_a_tensor_of_ones_own_is_made_by_its_size(device, size):
    made = Plain(*size)
    assert type(made) is Plain
    assert made.shape == torch.Tensor(*size).shape
    assert not made.is_cuda


def test_a_tensor_of_ones_own_that_is_made_of_numbers_of_the_device_reads_them(device, events):
    length = torch.ones((), device="cuda", dtype=torch.int64)
    assert Plain(length, 2).shape == (1, 2)
    assert totals(events) == (1, 0, 0, 1)
    Plain([length, 2.0])
    assert totals(events) == (2, 0, 0, 2)


@pytest.mark.parametrize(
    "data",
    [np.ones(3), np.array(3.0), torch.arange(2.0).untyped_storage(), [1.0, 2.0], torch.ones(2)],
    ids=lambda data: type(data).__name__,
)
def test_a_tensor_of_ones_own_is_made_of_what_it_is_made_of_without_a_scope(data):
    expected = Plain(data)
    with SimulatedDevice(lambda event: None):
        made = Plain(data)
    assert type(made) is Plain
    assert torch.equal(torch.Tensor(made), torch.Tensor(expected))


class Calling(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


class Loud(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        heard.append(getattr(func, "__name__", ""))
        return super().__torch_function__(func, types, args, kwargs or {})


heard = []


class Answering(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in (torch.Tensor.cpu, torch.Tensor.tolist):
            return "mine"
        return super().__torch_function__(func, types, args, kwargs or {})


class Wrapper(torch.Tensor):
    @staticmethod
    def __new__(cls, inner):
        return cls._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)

    def __init__(self, inner):
        self.wrapped = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = tree_map(lambda one: getattr(one, "wrapped", one), (args, kwargs or {}))
        return tree_map(lambda one: cls(one) if isinstance(one, torch.Tensor) else one, func(*args, **kwargs))


@pytest.mark.parametrize("kind", [Plain, Calling])
@pytest.mark.parametrize("text", [repr, str, "{}".format])
@pytest.mark.parametrize("values", [[0, 1, 2], [0.5, 1.0], [True, False], 2.0, []])
def test_a_subclass_prints_itself_at_the_cost_of_a_plain_tensor(kind, text, values, device, events):
    host = torch.tensor(values)
    there = host.to("cuda")
    events.clear()
    printed = text(there) if host.dim() else repr(there)
    cost = totals(events)
    assert text(host.as_subclass(kind)) == repr(host).replace("tensor", kind.__name__)
    assert totals(events) == cost
    assert text(there.as_subclass(kind)) == printed.replace("tensor", kind.__name__)
    assert totals(events) == tuple(2 * figure for figure in cost)


CALLS = [
    lambda b: b.cpu(),
    lambda b: b.tolist(),
    lambda b: b.to("cpu"),
    lambda b: b.device,
    lambda b: b.is_cuda,
    lambda b: b.type(),
    lambda b: b.sum().item(),
    lambda b: b[b > 1],
    lambda b: b.nonzero(),
    lambda b: b.unique(),
    lambda b: bool(b.any()),
    lambda b: b.new_zeros(3),
    lambda b: torch.zeros_like(b),
    lambda b: torch.stack([b, b]),
    lambda b: torch.equal(b, b),
    lambda b: torch.full((2,), b[0]),
    lambda b: torch.tensor([b[0], b[1]]),
    lambda b: torch.tensor(b),
    lambda b: torch.as_tensor(b),
    lambda b: torch.asarray(b, dtype=torch.float64),
    lambda b: F.interpolate(b[None, None], scale_factor=2),
    lambda b: F.one_hot(b.long(), 8),
    lambda b: torch.einsum("i,i", b, b),
    lambda b: b.numpy(force=True),
    lambda b: list(b),
    lambda b: repr(b),
    lambda b: b.data_ptr(),
    lambda b: b.share_memory_(),
]


def _heard(call, place):
    b = torch.arange(4.0, device=place).as_subclass(Loud)
    heard.clear()
    result = call(b)
    return list(heard), type(result)


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor")
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_subclass_hears_what_it_hears_without_a_device(number, request):
    bare = _heard(CALLS[number], "cpu")
    request.getfixturevalue("device")
    assert _heard(CALLS[number], "cpu") == bare
    assert _heard(CALLS[number], "cuda") == bare


@pytest.mark.parametrize("place", ["cpu", "cuda"])
def test_what_a_subclass_answers_itself_reads_nothing(place, device, events):
    mine = torch.ones(2, device=place).as_subclass(Answering)
    events.clear()
    assert (mine.cpu(), mine.tolist()) == ("mine", "mine")
    assert events == []
    assert mine.sum().item() == 2
    assert totals(events) == ((1, 0, 0, 1) if place == "cuda" else (0, 0, 0, 0))


def test_the_address_of_a_plain_subclass_leaves_torch_as_any_other(device, events):
    tensor = torch.ones(2, device="cuda").as_subclass(Plain)
    print(tensor.data_ptr())
    assert [event.kind for event in events] == ["unknown"]


@pytest.mark.parametrize("place", ["cpu", "cuda"])
def test_a_subclass_that_cannot_be_copied_deeply_says_so(place, device):
    with pytest.raises(RuntimeError, match="default implementation of __deepcopy__"):
        copy.deepcopy(torch.ones(2, device=place).as_subclass(Plain))


@pytest.mark.parametrize("classes", [6, -1])
def test_one_hot_of_a_wrapper_is_a_wrapper(classes, device):
    made = F.one_hot(Wrapper(torch.tensor([1, 5], device="cuda")), classes)
    assert type(made) is Wrapper
    assert made.is_cuda
    assert made.wrapped.tolist() == F.one_hot(torch.tensor([1, 5]), 6).tolist()


@pytest.mark.parametrize(
    "read",
    [
        lambda w: w.tolist(),
        lambda w: w.numpy(),
        lambda w: w.numpy(force=True),
        lambda w: np.asarray(w),
    ],
)
def test_a_wrapper_refuses_to_be_read_before_anything_is(read, device, events):
    wrapper = Wrapper(torch.ones(2, device="cuda"))
    events.clear()
    with pytest.raises(RuntimeError, match="is not supported for tensor subclasses"):
        read(wrapper)
    assert events == []
