"""``torch.cuda.set_sync_debug_mode``: what CUDA warns of, or refuses, is warned of and refused here."""

import warnings

import pytest
import torch

from syncscope.simcuda.simulation import SimulatedDevice

pytestmark = pytest.mark.usefixtures("device")

NOTICED = {
    "item": lambda x: x[0].item(),
    "if": lambda x: bool(x[0]),
    "cpu": lambda x: x.cpu(),
    "tolist": lambda x: x.tolist(),
    "cuda": lambda x: torch.ones(2).cuda(),
    "tensor": lambda x: torch.tensor([1.0], device="cuda"),
    "mask": lambda x: x[x > 0],
    "nonzero": lambda x: x.nonzero(),
    "host index": lambda x: x[torch.tensor([0])],
    "stream": lambda x: torch.cuda.Stream().synchronize(),
}
UNNOTICED = {
    "no wait": lambda x: x + 1,
    "non_blocking": lambda x: x.to("cpu", non_blocking=True),
    "synchronize": lambda x: torch.cuda.synchronize(),
    "event": lambda x: torch.cuda.Event().synchronize(),
    "thrust": lambda x: torch.unique(x.reshape(2, 2), dim=0),
}


@pytest.fixture
def x(device):
    yield torch.tensor([3.0, 1.0, 2.0, 1.0], device="cuda")
    torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize("call", NOTICED.values(), ids=NOTICED)
def test_a_wait_warns_at_the_users_line(x, call):
    torch.cuda.set_sync_debug_mode("warn")
    with pytest.warns(UserWarning, match="called a synchronizing CUDA operation") as told:
        call(x)
    assert [one.filename for one in told] == [__file__]


@pytest.mark.parametrize("call", NOTICED.values(), ids=NOTICED)
def test_a_wait_is_refused(x, events, call):
    torch.cuda.set_sync_debug_mode("error")
    before = sum(event.waits for event in events)
    with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
        call(x)
    assert sum(event.waits for event in events) == before


@pytest.mark.parametrize("call", UNNOTICED.values(), ids=UNNOTICED)
def test_what_torch_does_not_notice_is_let_through(x, call):
    torch.cuda.set_sync_debug_mode("error")
    call(x)


def test_each_wait_of_a_call_warns(x):
    torch.cuda.set_sync_debug_mode(1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.repeat_interleave(x, torch.tensor([2], device="cuda").expand(4))
    assert len(told) == 3  # one is the upload of the list


def test_the_mode_is_told_and_ends_with_the_scope(x):
    for name, number in ("default", 0), ("warn", 1), ("error", 2):
        torch.cuda.set_sync_debug_mode(name)
        assert torch.cuda.get_sync_debug_mode() == number
    with pytest.raises(RuntimeError, match="invalid value of debug_mode"):
        torch.cuda.set_sync_debug_mode("loud")


def test_a_scope_begins_without_it(device):
    device.__exit__(None, None, None)
    with SimulatedDevice(lambda event: None):
        torch.cuda.set_sync_debug_mode("error")
    with SimulatedDevice(lambda event: None):
        assert torch.cuda.get_sync_debug_mode() == 0
    device.__enter__()
