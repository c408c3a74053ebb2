"""A simulated device watches the thread that entered it, and no other."""

import threading

import pytest
import torch

from syncscope.simcuda.simulation import SimulatedDevice

TORCH_STREAM = torch.cuda.Stream


def in_thread(function):
    """What ``function`` returns in a thread of its own."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def error_of(function):
    try:
        function()
    except Exception as error:
        return type(error), str(error)
    return None


def test_a_thread_that_is_not_watched_sees_torchs_own_cuda():
    asked = {
        name: error_of(getattr(torch.cuda, name))
        for name in ("current_device", "Stream", "Event", "synchronize", "current_stream", "get_rng_state")
    }
    answers = torch.cuda.is_available(), torch.cuda.device_count(), torch.accelerator.is_available()
    own = {name: getattr(torch.cuda, name) for name in ("is_available", "FloatTensor", "CUDAGraph", "device")}
    with SimulatedDevice(lambda event: None):
        assert torch.cuda.is_available()
        seen = in_thread(
            lambda: (torch.cuda.is_available(), torch.cuda.device_count(), torch.accelerator.is_available())
        )
        assert seen == answers
        assert in_thread(lambda: {name: getattr(torch.cuda, name) for name in own}) == own
        assert in_thread(lambda: {name: error_of(getattr(torch.cuda, name)) for name in asked}) == asked


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there")
def test_a_thread_that_is_not_watched_has_no_cuda_device():
    with SimulatedDevice(lambda event: None):
        assert in_thread(lambda: error_of(lambda: torch.zeros(3, device="cuda")))
        assert in_thread(lambda: error_of(lambda: torch.Generator(device="cuda")))
        assert in_thread(lambda: type(torch.Generator()).__module__) == "torch._C"


def test_reads_of_another_thread_are_nobodys():
    events = []
    with SimulatedDevice(events.append):
        x = torch.arange(3, device="cuda")
        assert in_thread(lambda: (x.device.type, x.tolist(), x[0].item(), x.untyped_storage().device.type))[
            1:3
        ] == ([0, 1, 2], 0)
    assert events == []


def test_two_devices_in_two_threads_do_not_see_each_other():
    ready, leave = threading.Barrier(2, timeout=30), threading.Barrier(2, timeout=30)
    found = {}

    def watch(name, reads):
        events = []
        with SimulatedDevice(events.append):
            ready.wait()
            x = torch.arange(3, device="cuda")
            for _ in range(reads):
                x[0].item()
            leave.wait()
            torch.cuda.synchronize()
        found[name] = [event.api for event in events]

    threads = [threading.Thread(target=watch, args=("a", 3)), threading.Thread(target=watch, args=("b", 5))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found["a"] == ["Tensor.item"] * 3 + ["torch.cuda.synchronize"]
    assert found["b"] == ["Tensor.item"] * 5 + ["torch.cuda.synchronize"]
    assert type(torch.cuda) is type(torch)
    assert torch.cuda.Stream is TORCH_STREAM


def test_the_current_stream_is_each_threads_own():
    with SimulatedDevice(lambda event: None), torch.cuda.stream(torch.cuda.Stream()):
        mine = torch.cuda.current_stream()

        def other():
            with SimulatedDevice(lambda event: None):
                return torch.cuda.current_stream() == mine

        assert in_thread(other) is False
