"""How fine a clock is, and what looking at it costs."""

from __future__ import annotations

import gc
from itertools import count

import pytest
import torch

from syncscope.latency.clock import PerfCounter, granularity_ns, preemptions
from syncscope.latency.timing import steady


class Ticking:
    """Each look takes 30 ns, and the clock shows full hundreds."""

    def __init__(self) -> None:
        self.looks = count()

    def now_ns(self) -> int:
        return next(self.looks) * 30 // 100 * 100


def test_the_granularity_is_the_smallest_step_that_is_seen() -> None:
    assert granularity_ns(Ticking(), reads=100) == 100


def test_a_clock_that_stands_still_has_no_granularity(clock) -> None:
    assert granularity_ns(clock, reads=10) == 0


def test_pythons_clock_has_one() -> None:
    assert granularity_ns(PerfCounter()) > 0


def test_interruptions_are_counted_upwards() -> None:
    interruptions = preemptions()
    assert 0 <= interruptions() <= interruptions()


def test_while_time_is_taken_threads_are_fixed_and_no_garbage_is_collected() -> None:
    threads = torch.get_num_threads()
    with pytest.raises(KeyboardInterrupt), steady(threads + 1):
        assert torch.get_num_threads() == threads + 1
        assert not gc.isenabled()
        raise KeyboardInterrupt
    assert torch.get_num_threads() == threads
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with steady(1):
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
