"""Functions of ``torch._C`` that a CPU build lacks, called without ``torch.cuda``."""

import threading

import pytest
import torch

from syncscope.simcuda.simulation import SimulatedDevice


def test_they_answer_for_the_one_gpu(device):
    assert torch._C._cuda_getDevice() == 0
    assert torch._C._cuda_exchangeDevice(0) == 0
    assert torch._C._cuda_getCurrentStream(0) == (0, 0, 1)
    torch._C._cuda_setDevice(0)
    torch._C._host_emptyCache()
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch._C._cuda_setDevice(1)


@pytest.mark.parametrize(
    "synchronize", ["_cuda_synchronize", "_accelerator_synchronizeDevice"], ids=lambda name: name
)
def test_a_wait_is_a_wait(synchronize, device, events):
    getattr(torch._C, synchronize)(*([0] if "accelerator" in synchronize else []))
    assert [event.waits for event in events] == [1]


@pytest.mark.skipif(hasattr(torch._C, "_cuda_getDevice"), reason="this torch has it")
def test_a_thread_that_isnt_watched_finds_nothing():
    said = []

    def ask():
        try:
            torch._C._cuda_getDevice()
        except AttributeError as error:
            said.append(str(error))

    with SimulatedDevice(lambda event: None):
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
    assert said == ["module 'torch._C' has no attribute '_cuda_getDevice'"]
    assert not hasattr(torch._C, "_cuda_getDevice")
    assert not torch.cuda.is_available()
