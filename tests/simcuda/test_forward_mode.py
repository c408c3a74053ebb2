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
