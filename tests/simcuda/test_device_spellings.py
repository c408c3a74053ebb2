"""Every way to name the GPU, where a machine that has one takes it."""

import copy
import pickle

import pytest
import torch
from torch import nn

pytestmark = pytest.mark.usefixtures("device")

NAMES = {
    "0": lambda: torch.device(0),
    "device=0": lambda: torch.device(device=0),
    '"cuda"': lambda: torch.device("cuda"),
    '"cuda:0"': lambda: torch.device("cuda:0"),
    '"cuda", 0': lambda: torch.device("cuda", 0),
    '"cuda", index=0': lambda: torch.device("cuda", index=0),
    "type, index": lambda: torch.device(type="cuda", index=0),
    "of a device": lambda: torch.device(torch.device(0)),
}
USES = {
    "factory": lambda d: torch.ones(2, device=d),
    "context": lambda d: in_context(d),
    "to": lambda d: torch.ones(2).to(d),
    "to, by name": lambda d: torch.ones(2).to(device=d, dtype=torch.float16),
    "cuda": lambda d: torch.ones(2).cuda(d),
    "module": lambda d: nn.Linear(2, 2).to(d).weight,
    "module, by name": lambda d: nn.Linear(2, 2).to(device=d, dtype=torch.float16).weight,
    "parameter": lambda d: nn.Linear(2, 2, device=d).weight,
}


def in_context(device):
    with torch.device(device):
        return torch.ones(2)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_device_takes_tensors_there_however_it_is_named(name, use):
    assert use(name()).device == torch.device("cuda:0")


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_number_alone_is_a_gpus(use):
    assert use(0).is_cuda


@pytest.mark.parametrize("name", [lambda: torch.device("cuda:1"), lambda: torch.device(1)])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_gpu_that_is_not_there_can_be_named_and_not_used(name, use):
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        use(name())


def test_a_device_is_of_torchs_class():
    named = torch.device(0)
    assert isinstance(named, torch.device)
    assert type(named) == torch.device  # noqa: E721
    assert {torch.device, type(named)} == {torch.device}
    assert pickle.loads(pickle.dumps(named)) == copy.deepcopy(named) == named
    assert torch.device | None


@pytest.mark.parametrize("given", [-1, True, 1.5, "no such kind"])
def test_what_is_no_device_is_refused(given):
    with pytest.raises((RuntimeError, TypeError)):
        torch.device(given)
