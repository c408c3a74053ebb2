"""A process that was forked from one that used the device: CUDA can't be used in it."""

import os
import traceback

import pytest
import torch

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="a system that forks"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


def in_a_child(use):
    """What ``use()`` raises in a forked process: "" for nothing."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            use()
            said = ""
        except BaseException as error:
            said = "".join(traceback.format_exception_only(error))
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return said


@pytest.mark.parametrize(
    "use",
    [
        lambda x: torch.zeros(2, device="cuda"),
        lambda x: torch.zeros(2).cuda(),
        lambda x: torch.zeros(2).to(x),
        lambda x: torch.nn.Linear(2, 2).to("cuda"),
        lambda x: torch.cuda.synchronize(),
        lambda x: torch.cuda.current_device(),
        lambda x: torch.cuda.get_device_name(),
        lambda x: torch.cuda.init(),
        lambda x: torch.cuda.Event().record(),
    ],
)
def test_the_device_cannot_be_reached(use):
    x = torch.zeros(2, device="cuda")
    assert in_a_child(lambda: use(x)).startswith(
        "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, "
        "you must use the 'spawn' start method"
    )


@pytest.mark.parametrize("use", [lambda x: x + 1, lambda x: x.cpu(), lambda x: x.sum().item()])
def test_tensors_that_were_there_cannot_be_used(use):
    x = torch.zeros(2, device="cuda")
    assert in_a_child(lambda: use(x)) == "RuntimeError: CUDA error: initialization error\n"


def test_the_host_works_as_before():
    torch.zeros(2, device="cuda")

    def work():
        assert torch.cuda._is_in_bad_fork()
        assert torch._C._cuda_isInBadFork()
        assert not torch.cuda.is_initialized()
        torch.manual_seed(3)
        assert torch.ones(2).sum().item() == 2

    assert in_a_child(work) == ""
    assert not torch.cuda._is_in_bad_fork()
