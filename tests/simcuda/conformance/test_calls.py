"""The simulated device against what PyTorch's own CUDA host code did, call by call."""

import re

import pytest
import torch
from torch.torch_version import TorchVersion

ONE_GPU = "the simulated machine has one GPU"

DIFFERS: dict[str, str] = {
    "d0928": ONE_GPU,
    "d0929": ONE_GPU,
    "d0930": ONE_GPU,
    "d0931": ONE_GPU,
    "d0932": ONE_GPU,
    "d0933": ONE_GPU,
    "d0934": ONE_GPU,
}

# When the calls were recorded no kernel ran, so these read a value that was never computed, and went on or
# ended otherwise than with true values. The directions of their copies, and whether they wait, are the same;
# what was recorded with true values, `with_values`, is equal.
WITHOUT_VALUES: dict[str, str] = {
    "d0345": "x[mask] = v4[:2]: how many elements are masked",
    "d0612": "AdaptiveLogSoftmaxWithLoss: whether the targets are in range",
    "d0631": "ASGD: mu is 1 in its second step, so that the average is copied",
    "d0709": "eig: whether all elements are finite",
    "d0732": "qr: cuSOLVER's info",
    "d0734": "lobpcg: a norm",
    "d0765": "a nested tensor: the sizes of its parts",
    "d0770": "a nested tensor: the sizes of its parts",
    "d0773": "a nested tensor: the sizes of its parts",
    "d0798": "MultivariateNormal: whether its arguments are valid",
    "d0995": "tolist().index(1.): the list",
    "d1006": "split(sizes.tolist()): the sizes",
}

_NOTED = re.compile(r"d2h=(\d+), h2d=(\d+)(?:, d2d=\d+)?, syncs=(\d+)")


@pytest.fixture
def expected(call, outcome):
    older = "before_2_14" in call and TorchVersion(torch.__version__) < "2.14"
    return recorded(call["before_2_14"] if older else call, outcome)


@pytest.fixture
def with_values(call, outcome):
    """What was done when values were computed, of a call that depends on them; None where that isn't sure."""
    return recorded(call["with_values"], outcome) if "with_values" in call else None


def recorded(row, outcome):
    figures = (row.get(name, 0) for name in ("dtoh", "htod", "dtod", "waits"))
    return outcome(*figures, raises=row.get("raises", ""))


def directions_in_note(note):
    """The note of a value-dependent call tells what other answers lead to."""
    return {tuple(int(figure) > 0 for figure in found) for found in _NOTED.findall(note)}


def check_figures(call, got, expected):
    if call["id"] in DIFFERS:
        assert got.figures != expected.figures, "no longer differs: take it from the list"
    elif call["id"] in WITHOUT_VALUES:
        assert got.figures != expected.figures, "no longer differs: take it from the list"
        assert got.directions == expected.directions
    elif call.get("value_dependent"):
        allowed = directions_in_note(call["note"]) | {expected.directions}
        assert got.figures == expected.figures or got.directions in allowed
    else:
        assert got.figures == expected.figures


def check_waits(got, expected):
    """Holds for the calls that differ, too."""
    assert got.waits or got.unknown or not expected.waits, "a wrong zero"
    assert not got.waits or expected.waits, "a false wait"


def test_call_copies_and_waits_as_on_cuda(call, expected, with_values, on_simulated_device):
    got = on_simulated_device(call["call"], call.get("setup", ""))
    check_figures(call, got, expected)
    if with_values is not None:
        assert (got.figures, got.raises) == (with_values.figures, with_values.raises)
    if got.raises == expected.raises and not call.get("value_dependent"):
        check_waits(got, expected)


def test_every_call_in_a_list_is_one_of_the_calls(every_call):
    assert set(DIFFERS) | set(WITHOUT_VALUES) <= {call["id"] for call in every_call}


def test_every_call_has_an_id_of_its_own(every_call):
    assert len({call["id"] for call in every_call}) == len(every_call)


def test_at_least_98_percent_of_the_calls_are_equal_in_every_figure(every_call):
    fixed = {call["id"] for call in every_call if not call.get("value_dependent")}
    assert len(fixed - set(DIFFERS) - set(WITHOUT_VALUES)) >= 0.98 * len(fixed)


@pytest.mark.gpu
def test_call_on_a_gpu(gpu_call, on_simulated_device, on_gpu):
    got = on_simulated_device(gpu_call["call"], gpu_call.get("setup", ""))
    assert got.figures == on_gpu(gpu_call["call"], gpu_call.get("setup", "")).figures, gpu_call["call"]
