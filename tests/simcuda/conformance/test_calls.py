"""The simulated device against what PyTorch's own CUDA host code did, call by call."""

import re

import pytest

DIFFERS: dict[str, str] = {}

_NOTED = re.compile(r"d2h=(\d+), h2d=(\d+)(?:, d2d=\d+)?, syncs=(\d+)")


@pytest.fixture
def expected(call, outcome):
    figures = (call.get(name, 0) for name in ("dtoh", "htod", "dtod", "waits"))
    return outcome(*figures, raises=call.get("raises", ""))


def directions_in_note(note):
    """The note of a value-dependent call tells what other answers lead to."""
    return {tuple(int(figure) > 0 for figure in found) for found in _NOTED.findall(note)}


def check(call, got, expected):
    text = f"{call['call']}   after {call.get('setup') or 'nothing'}"
    if call["id"] in DIFFERS:
        assert got.figures != expected.figures, f"no longer differs, take it from the list: {text}"
    elif call.get("value_dependent"):
        allowed = directions_in_note(call["note"]) | {expected.directions}
        assert got.figures == expected.figures or got.directions in allowed, text
    else:
        assert got.figures == expected.figures, text


def test_call_copies_and_waits_as_on_cuda(call, expected, on_simulated_device):
    check(call, on_simulated_device(call["call"], call.get("setup", "")), expected)


def test_no_wrong_zero_and_no_false_wait(call, expected, on_simulated_device):
    """Holds for the calls that differ, too, if they come to an end in the same way."""
    got = on_simulated_device(call["call"], call.get("setup", ""))
    if got.raises == expected.raises and not call.get("value_dependent"):
        assert (got.waits > 0 or got.unknown > 0) >= (expected.waits > 0), f"a wrong zero: {call['call']}"
        assert (got.waits > 0) <= (expected.waits > 0), f"a false wait: {call['call']}"


@pytest.mark.gpu
def test_call_on_a_gpu(call, on_simulated_device, on_gpu):
    got = on_simulated_device(call["call"], call.get("setup", ""))
    assert got.figures == on_gpu(call["call"], call.get("setup", "")).figures, call["call"]
