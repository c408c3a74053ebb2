"""What a script asks of a machine with a GPU besides computing: versions, types, profilers, sharing."""

import subprocess
import sys

import pytest
import torch
from torch.autograd import profiler
from torch.profiler import ProfilerActivity, profile

from syncscope.events import count

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors", "ignore:The attribute `use_cuda`"),
]


def ones(place="cuda", dtype=None):
    return torch.ones(3, device=place, dtype=dtype)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("FloatTensor", torch.float32), ("HalfTensor", torch.half), ("LongTensor", torch.long)],
)
def test_a_tensor_is_of_the_type_of_its_place(name, dtype):
    device, host = ones(dtype=dtype), ones("cpu", dtype)
    assert isinstance(device, getattr(torch.cuda, name))
    assert not isinstance(device, getattr(torch, name))
    assert isinstance(host, getattr(torch, name))
    assert not isinstance(host, getattr(torch.cuda, name))
    assert (device.type(), host.type()) == (f"torch.cuda.{name}", f"torch.{name}")
    assert isinstance(device, torch.Tensor)
    assert not isinstance(device, torch.IntTensor)


def test_device_memory_is_always_shared():
    assert ones().is_shared()
    assert ones().share_memory_().is_shared()
    assert ones().untyped_storage().is_shared()
    assert not ones("cpu").is_shared()
    assert ones("cpu").share_memory_().is_shared()


def test_the_libraries_have_versions():
    assert [int(part) for part in torch.version.cuda.split(".")]
    assert torch.backends.cudnn.is_available()
    assert torch.backends.cudnn.version() > 90000
    assert torch.backends.cudnn.is_acceptable(ones())
    assert not torch.backends.cudnn.is_acceptable(ones("cpu"))
    assert len(torch.cuda.nccl.version()) == 3
    free, total = torch.cuda.mem_get_info()
    assert 0 < free <= total == torch.cuda.get_device_properties(0).total_memory


def test_the_versions_end_with_the_scope(device):
    device.__exit__(None, None, None)
    assert (torch.version.cuda, torch.backends.cudnn.is_available()) == (None, False)
    device.__enter__()


def test_a_recurrent_layer_runs_where_cudnn_is_said_to_be():
    assert torch.nn.LSTM(3, 4).cuda()(torch.ones(2, 1, 3, device="cuda"))[0].is_cuda


PROFILERS = {
    "both": lambda: profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]),
    "device only": lambda: profile(activities=[ProfilerActivity.CUDA]),
    "old": lambda: profiler.profile(use_cuda=True),
}


@pytest.mark.parametrize("made", PROFILERS.values(), ids=PROFILERS)
def test_a_profiler_records_the_cpu(made, device, events):
    x = ones()
    with made() as profiled:
        x.sum()
    assert "aten::sum" in {event.key for event in profiled.key_averages()}
    assert "torch.profiler recorded the CPU only: a simulated device runs no kernels" in device.notes
    assert count(events).waits == 1  # the profiler waits for the device when it ends


def test_a_profiler_says_nothing_of_events_that_it_fails_to_record():
    script = """
import syncscope, torch
from torch.profiler import ProfilerActivity, profile
with syncscope.observe():
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        torch.ones(3, device="cuda").sum()
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Failed to record CUDA event" not in ended.stderr


def test_nvtx_ranges_wait_at_both_ends(events):
    with profiler.emit_nvtx():
        pass
    assert [event.waits for event in events] == [1, 1]


@pytest.mark.parametrize(
    ("place", "gradients"), [("cuda", "cpu"), ("cpu", "cuda")], ids=["device tensor", "host tensor"]
)
def test_a_gradient_of_another_device_is_refused(place, gradients):
    with pytest.raises(
        RuntimeError, match=f"device type '{gradients}' to a tensor with device type '{place}'"
    ):
        ones(place).grad = ones(gradients)
    x = ones(place)
    x.grad = ones(place)
    x.grad = None
    assert x.grad is None


@pytest.mark.parametrize(
    ("make", "cost"),
    [
        (lambda: torch.nested.nested_tensor([[1.0, 2.0], [3.0]], device="cuda"), (0, 1, 1)),
        (lambda: torch.nested.nested_tensor([ones("cpu"), ones("cpu")[:1]], device=0), (0, 1, 1)),
        (lambda: torch.nested.as_nested_tensor([ones("cpu"), ones("cpu")[:1]], device="cuda"), (0, 1, 1)),
        (lambda: torch.nested.nested_tensor([ones(), ones()[:1]]), (0, 0, 0)),
        (lambda: torch.nested.nested_tensor([ones(), ones()[:1]], device="cuda"), (0, 0, 0)),
        (lambda: torch.nested.nested_tensor([ones(), ones()[:1]], device="cpu"), (1, 0, 1)),
    ],
)
def test_the_parts_of_a_nested_tensor_cross_together(events, make, cost):
    made = make()
    found = count(events)
    assert (found.dtoh, found.htod, found.waits) == cost
    assert made.is_cuda != bool(found.dtoh)


def test_a_nested_tensor_is_a_leaf():
    assert torch.nested.nested_tensor([[1.0], [2.0]], device="cuda", requires_grad=True).is_leaf
