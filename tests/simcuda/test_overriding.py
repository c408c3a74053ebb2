"""Code of the user's that answers for ATen calls (``__torch_dispatch__``) sees the device as on a GPU."""

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from syncscope.events import count
from syncscope.simcuda.simulation import SimulatedDevice

pytestmark = pytest.mark.usefixtures("device")


class Wrapper(torch.Tensor):
    """A tensor around another, which tells nobody what it wraps."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        def unwrapped(value):
            return value.inner if isinstance(value, Wrapper) else value

        out = func(*tree_map(unwrapped, args), **tree_map(unwrapped, kwargs or {}))
        return tree_map(lambda value: cls(value) if isinstance(value, torch.Tensor) else value, out)


class Reading(TorchDispatchMode):
    """A mode that looks at all that is made on the device."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor) and out.device.type == "cuda":
            out.cpu()
        return out


class ReadingArguments(TorchDispatchMode):
    """A mode that looks at all that is given to a call and lives on the device."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        for one in args:
            if isinstance(one, torch.Tensor) and one.is_cuda:
                one.cpu()
        return func(*args, **(kwargs or {}))


class ReadingBeforeCopies(TorchDispatchMode):
    """A mode that reads a number whenever a tensor is to be copied to a device."""

    def __init__(self, number):
        super().__init__()
        self.number = number

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten._to_copy.default and "device" in (kwargs or {}):
            self.number.item()
        return func(*args, **(kwargs or {}))


class Adding(TorchDispatchMode):
    """A mode that makes a tensor of its own on the device."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.mul.Tensor:
            return out + torch.tensor(1.0, device="cuda") + torch.zeros(1, device="cuda")
        return out


class Passing(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def wrapped(device="cuda"):
    return Wrapper(torch.arange(3.0, device=device))


ON_DEVICE = {
    "itself": lambda: wrapped(),
    "result": lambda: wrapped() * 2,
    "moved": lambda: wrapped("cpu").cuda() * 2,
    "moved to another's": lambda: wrapped("cpu").to(wrapped().device),
    "parameter": lambda: nn.Parameter(wrapped()),
    "like": lambda: torch.zeros_like(wrapped()),
    "asked for": lambda: torch.zeros_like(wrapped("cpu"), device="cuda"),
    "new": lambda: wrapped().new_zeros(3),
    "masked": lambda: wrapped()[wrapped() > 0],
    "torch's own": lambda: (
        torch.masked.masked_tensor(torch.ones(2, device="cuda"), torch.ones(2, device="cuda") > 0) * 2
    ),
}


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
@pytest.mark.parametrize("make", ON_DEVICE.values(), ids=ON_DEVICE)
def test_a_wrapper_is_where_it_was_made(make):
    made = make()
    assert made.device == torch.device("cuda:0")
    assert made.is_cuda


@pytest.mark.parametrize(
    "make", [lambda: wrapped("cpu") * 2, lambda: torch.zeros_like(wrapped(), device="cpu")]
)
def test_a_wrapper_of_the_host_stays_there(make):
    assert not make().is_cuda


@pytest.mark.parametrize(
    ("call", "dtoh", "htod", "waits"),
    [
        (lambda w: w.cpu(), 1, 0, 1),
        (lambda w: w.to("cpu", non_blocking=True), 1, 0, 0),
        (lambda w: w.sum().item(), 1, 0, 1),
        (lambda w: w[w > 0], 1, 0, 1),
        (lambda w: torch.tensor([1], device=w.device), 0, 1, 1),
        (lambda w: wrapped("cpu").to(w.device), 0, 1, 1),
    ],
)
def test_a_wrapper_costs_what_it_wraps_costs(call, dtoh, htod, waits, events):
    result = wrapped() * 2
    events.clear()
    call(result)
    counted = count(events)
    assert (counted.dtoh, counted.htod, counted.waits) == (dtoh, htod, waits)


def test_a_wrapper_takes_no_memory_of_its_own():
    inner = torch.ones(1000, device="cuda")
    before = torch.cuda.memory_allocated()
    kept = Wrapper(inner)
    assert kept.is_cuda
    assert torch.cuda.memory_allocated() == before


READ = {
    "result": (lambda x: x * 2, 1),
    "reads": (lambda x: x.sum().item(), 2),
    "mask": (lambda x: x[x > 0], 3),
    "factory": (lambda x: torch.zeros(3, device="cuda"), 1),
    "like": (lambda x: torch.ones_like(x), 1),
    "of the host": (lambda x: torch.ones(3) * 2, 0),
}


@pytest.mark.parametrize(("call", "reads"), READ.values(), ids=READ)
def test_what_a_mode_reads_is_counted(call, reads, events):
    x = torch.ones(3, device="cuda")
    with Reading():
        call(x)
    assert count(events).waits == reads


def host():
    return torch.ones(3)


# What PyTorch's CUDA host code does under such a mode: (DtoH, HtoD, waits).
CROSSINGS = {
    "cuda": (lambda x: host().cuda(), (1, 1, 2), (0, 1, 1), (1, 1, 2)),
    "to": (lambda x: host().to("cuda", torch.half), (1, 1, 2), (0, 1, 1), (1, 1, 2)),
    "to another's": (lambda x: host().to(x), (1, 1, 2), (0, 1, 1), (1, 1, 2)),
    "later": (lambda x: host().to("cuda", non_blocking=True), (1, 1, 1), (0, 1, 0), (1, 1, 1)),
    "differentiated": (lambda x: host().requires_grad_().cuda(), (1, 1, 2), (0, 1, 1), (1, 1, 2)),
    "module": (lambda x: nn.Linear(2, 2).cuda(), (2, 2, 4), (0, 2, 2), (2, 2, 4)),
    "data": (lambda x: torch.tensor([1.0, 2.0], device="cuda"), (1, 1, 2), (1, 1, 2), (0, 1, 1)),
    "data like": (lambda x: x.new_tensor([1.0]), (1, 1, 2), (1, 1, 2), (0, 1, 1)),
    "array": (lambda x: torch.as_tensor(host().numpy(), device="cuda"), (1, 1, 2), (0, 1, 1), (1, 1, 2)),
    "old form": (lambda x: torch.cuda.FloatTensor([1.0, 2.0]), (1, 1, 2), (1, 1, 2), (0, 1, 1)),
    "size": (lambda x: x.new(3), (1, 0, 1), (0, 0, 0), (0, 0, 0)),
    "list index": (lambda x: x[[0, 1]], (2, 1, 3), (2, 1, 3), (0, 1, 1)),
    "number": (lambda x: x.__setitem__(0, 3), (2, 1, 3), (2, 1, 3), (0, 1, 1)),
    "cpu": (lambda x: x.cpu(), (1, 0, 1), (2, 0, 2), (2, 0, 2)),
    "tolist": (lambda x: x.tolist(), (1, 0, 1), (2, 0, 2), (2, 0, 2)),
    "numpy": (lambda x: x.numpy(force=True), (2, 0, 2), (3, 0, 3), (2, 0, 2)),
}
READERS = (Reading, ReadingArguments, lambda: ReadingBeforeCopies(torch.ones((), device="cuda")))
UNDER_READERS = [
    pytest.param(call, reader, figures[i], id=f"{name}-{('results', 'arguments', 'copies')[i]}")
    for name, (call, *figures) in CROSSINGS.items()
    for i, reader in enumerate(READERS)
]


@pytest.mark.parametrize(("call", "reader", "figures"), UNDER_READERS)
def test_a_mode_sees_what_crosses_where_it_is(call, reader, figures, events):
    x, mode = torch.ones(3, device="cuda"), reader()
    with mode:
        call(x)
    counted = count(events)
    assert (counted.dtoh, counted.htod, counted.waits) == figures


def test_each_of_two_modes_sees_what_crosses(events):
    with Reading(), Reading():
        host().cuda()
    assert (count(events).dtoh, count(events).waits) == (2, 3)


@pytest.mark.parametrize("keeps", [True, False])
def test_a_mode_may_answer_a_transfer_itself(keeps):
    class Refusing(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return args[0] if func is torch.ops.aten._to_copy.default else func(*args, **(kwargs or {}))

    given = host()
    with Refusing() if keeps else Passing():
        assert (given.cuda() is given) is keeps


def test_a_mode_makes_tensors_on_the_device(events):
    x = torch.ones(3, device="cuda")
    with Adding():
        made = x * 2
    assert made.is_cuda
    assert made.tolist() == [3.0] * 3
    assert count(events).htod == 1


PASSED = {
    "list": lambda x: x[[0, 1]],
    "tolist": lambda x: x.tolist(),
    "cpu": lambda x: x.cpu(),
    "cuda": lambda x: x.cpu().cuda(),
    "elements": lambda x: torch.tensor([x[0], x[1]], device="cuda"),
    "one_hot": lambda x: nn.functional.one_hot(x.long()),
    "backward": lambda x: x.clone().requires_grad_().mul(2).sum().backward(),
    "to the host": lambda x: torch.zeros_like(x, device="cpu").cpu(),
}


@pytest.mark.parametrize("call", PASSED.values(), ids=PASSED)
def test_a_mode_that_passes_calls_on_changes_no_figure(call, events):
    x = torch.ones(3, device="cuda")
    call(x)
    alone = count(events)
    events.clear()
    with Passing():
        call(x)
    assert count(events) == alone


def test_classes_are_as_they_were_after_the_scope(device):
    before = {kind: vars(kind)["__torch_dispatch__"] for kind in (Wrapper, Reading)}
    device.__exit__(None, None, None)
    try:
        outside = {kind: vars(kind)["__torch_dispatch__"] for kind in before}
        assert all(outside[kind] is not before[kind] for kind in before)
        assert outside[Reading].__module__ == __name__
        assert "_make_wrapper_subclass" not in vars(torch.Tensor)
        assert "__init_subclass__" not in vars(torch.Tensor)
    finally:
        device.__enter__()


def test_a_class_that_is_made_in_the_scope_sees_the_device():
    class Later(Wrapper):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            assert args[0].inner.is_cuda
            return super().__torch_dispatch__(func, types, args, kwargs)

    made = Later(torch.ones(3, device="cuda")) * 2
    assert type(made) is Later
    assert made.is_cuda


def test_a_scope_in_a_scope_leaves_classes_to_the_outer_one():
    with SimulatedDevice([].append):
        pass
    assert (wrapped() * 2).is_cuda


class Parted(torch.Tensor):
    """A tensor that tells its parts, of which one is no tensor (as those of a ``DTensor``)."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, local):
        return torch.Tensor._make_wrapper_subclass(cls, local.shape, dtype=local.dtype, device=local.device)

    def __init__(self, local):
        self.local, self.mesh = local, "mesh"

    def __tensor_flatten__(self):
        return ["local", "mesh"], None

    @staticmethod
    def __tensor_unflatten__(inner, context, size, stride):
        assert inner["mesh"] == "mesh"
        return Parted(inner["local"])

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return cls(func(*(arg.local if isinstance(arg, cls) else arg for arg in args), **(kwargs or {})))


def test_parts_that_are_no_tensors_live_nowhere(events):
    parted = Parted(torch.ones(3, device="cuda")) * 2
    assert parted.device == torch.device("cuda:0")
    assert not parted.cpu().is_cuda
    assert count(events).waits == 1
