"""Whatever a watched block does or fails with, the process is afterwards as it was."""

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from syncscope.simcuda.simulation import SimulatedDevice

MODULES = (
    torch.cuda,
    torch.cuda.memory,
    torch.cuda.random,
    torch.accelerator,
    torch.backends.cuda,
    torch.cuda.nvtx,
)
NAMES = [tuple(vars(module)) for module in MODULES]  # torch itself adds some when it imports more of itself
CLASSES = (torch.Tensor, torch.UntypedStorage, torch.cuda.Stream, torch.cuda.Event)


def state():
    """All that a simulated device may touch."""
    return {
        "Tensor.item": torch.Tensor.item,
        "modules": [
            (type(module), {name: vars(module)[name] for name in names})
            for module, names in zip(MODULES, NAMES, strict=True)
        ],
        "classes": [dict(vars(kind)) for kind in CLASSES],
        "torch": [torch.Stream, torch.Event, torch.Generator, torch.compile],
        "torch._C": [torch._C._from_dlpack, torch._C._group_tensors_by_device_and_dtype],
        "function modes": torch.overrides._get_current_function_mode_stack(),
        "dispatch modes": torch._C._len_torch_dispatch_stack(),
        "included keys": str(torch._C._dispatch_tls_local_include_set()),
        "excluded keys": str(torch._C._dispatch_tls_local_exclude_set()),
        "default device": (torch.get_default_device(), torch.utils._device.CURRENT_DEVICE),
        "gradients": torch.is_grad_enabled(),
    }


class Pushed(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Dispatched(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@pytest.fixture(autouse=True)
def unchanged():
    before = state()
    yield
    after = state()
    assert after == before


@pytest.fixture
def entered():
    return SimulatedDevice(lambda event: None)


def test_after_a_plain_end(entered):
    with entered:
        torch.zeros(3, device="cuda").sum().item()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError])
def test_after_an_exception(entered, error):
    with pytest.raises(error), entered:
        torch.zeros(3, device="cuda")
        raise error


def test_after_an_error_of_torch_itself(entered):
    with pytest.raises(RuntimeError, match="size of tensor a"), entered:
        torch.zeros(3, device="cuda") + torch.zeros(4, device="cuda")


def test_after_an_error_in_an_operator_called_from_a_torch_function(entered):
    with pytest.raises(RuntimeError), entered:
        torch.nn.functional.interpolate(torch.zeros(1, 1, 2, 2, device="cuda"), scale_factor=-1)


def test_after_an_error_in_a_sink():
    def sink(event):
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"), SimulatedDevice(sink):
        torch.zeros(3, device="cuda").sum().item()


def test_after_a_function_mode_was_left_behind(entered):
    def leaving():
        with Pushed():
            yield

    with entered:
        left = leaving()
        next(left)
    with pytest.raises(RuntimeError, match="empty mode stack"):
        left.close()  # its own clean-up comes too late


def test_after_a_dispatch_mode_was_left_behind(entered):
    with entered:
        Dispatched().__enter__()
        torch.zeros(3, device="cuda")


def test_a_mode_of_the_caller_stays(entered):
    with Pushed() as mine:
        with entered:
            torch.zeros(3, device="cuda")
        assert torch.overrides._get_current_function_mode_stack() == [mine]


def test_after_a_default_device(entered):
    with entered:
        torch.set_default_device("cuda")
        assert torch.zeros(3).is_cuda
    assert not torch.zeros(3).is_cuda


def test_after_a_device_context_was_left_behind(entered):
    def leaving():
        with torch.device("cuda"):
            yield torch.zeros(3)

    with entered:
        left = leaving()
        assert next(left).is_cuda
    assert not torch.zeros(3).is_cuda
    with pytest.raises(RuntimeError, match="empty mode stack"):
        left.close()


def test_a_generator_that_holds_the_device_closes_it():
    def holding():
        with SimulatedDevice(lambda event: None):
            yield torch.zeros(3, device="cuda")

    left = holding()
    assert torch.cuda.is_available() or next(left) is not None
    assert torch.cuda.is_available()
    left.close()


def test_devices_inside_of_each_other():
    outer, inner = [], []
    with SimulatedDevice(outer.append):
        x = torch.arange(3, device="cuda")
        x[0].item()
        with SimulatedDevice(inner.append):
            assert x.is_cuda
            x.tolist()
            torch.cuda.synchronize()
        x[1].item()
    assert [event.api for event in inner] == ["Tensor.tolist", "torch.cuda.synchronize"]
    assert [event.api for event in outer] == [
        "Tensor.item", "Tensor.tolist", "torch.cuda.synchronize", "Tensor.item",
    ]  # fmt: skip


def test_an_inner_device_that_fails_leaves_the_outer_one_watching():
    outer = []
    with SimulatedDevice(outer.append):
        x = torch.arange(3, device="cuda")
        with pytest.raises(ValueError), SimulatedDevice(lambda event: None):
            raise ValueError
        x[0].item()
    assert [event.api for event in outer] == ["Tensor.item"]


def test_operators_that_an_inner_device_saw_are_the_outers_too():
    with SimulatedDevice(lambda event: None) as outer:
        with SimulatedDevice(lambda event: None) as inner:
            torch.arange(3, device="cuda").topk(1)
        assert inner.operators["topk"] == 1
    assert outer.operators["topk"] == 1


def test_each_of_two_devices_counts_its_own_families():
    outer, inner = [], []
    with SimulatedDevice(outer.append, {"topk": "topk"}):
        x = torch.arange(3, device="cuda")
        with SimulatedDevice(inner.append, {"scatter_": "scatter"}):
            x.topk(1)
            x.scatter_(0, x.clone(), 1)
    assert [event.family for event in inner if event.kind == "launch"] == ["scatter"]
    assert [event.family for event in outer if event.kind == "launch"] == ["topk"]


def test_an_interrupt_on_the_way_in(monkeypatch):
    from syncscope.simcuda.stand_ins import grouping

    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr(grouping, "show", interrupt)
    with pytest.raises(KeyboardInterrupt), SimulatedDevice(lambda event: None):
        raise AssertionError("entered")
    monkeypatch.undo()
    with SimulatedDevice(lambda event: None):
        assert torch.cuda.is_available()


def test_a_tensor_stays_where_it_is_from_one_device_to_the_next(entered):
    with entered:
        x = torch.arange(3, device="cuda")
    assert x.device.type == "cpu"
    assert x[0].item() == 0
    with SimulatedDevice(lambda event: None):
        assert x.is_cuda


def test_an_address_that_is_used_again_is_not_on_the_device(entered):
    with entered:
        for _ in range(200):
            torch.zeros(64, device="cuda")
            assert not torch.zeros(64).is_cuda


def read(made):
    torch.ones(2, device="cuda").sum().item()
    return len(made)


def test_a_scope_that_is_left_before_those_inside_of_it_takes_nothing_along():
    before = state()
    first, second = [], []
    outer, inner = SimulatedDevice(first.append), SimulatedDevice(second.append)
    outer.__enter__()
    inner.__enter__()
    assert (read(first), read(second)) == (1, 2)
    outer.__exit__(None, None, None)
    assert (read(second), len(first)) == (3, 2)
    inner.__exit__(None, None, None)
    assert state() == before


def test_generators_that_take_turns_inside_of_their_scopes():
    before = state()

    def watched():
        events = []
        with SimulatedDevice(events.append):
            yield events
            read(events)
            yield events

    generators = [watched() for _ in range(3)]
    heard = [next(one) for one in generators]
    for one in generators:
        next(one)
    assert [len(events) for events in heard] == [3, 3, 3]
    for one in (generators[1], generators[0], generators[2]):
        one.close()
    assert state() == before


def test_what_was_set_is_forgotten_with_the_device():
    with SimulatedDevice([].append):
        torch.cuda.tunable.enable()
        torch.backends.cuda.cufft_plan_cache.max_size = 10
    with SimulatedDevice([].append):
        assert not torch.cuda.tunable.is_enabled()
        assert torch.backends.cuda.cufft_plan_cache.max_size == 4096
