"""The clock: what reads it, how fine it is, and whether the kernel took the thread off its core meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol


class Clock(Protocol):
    """Anything that tells a time that never goes back; tests have one of their own."""

    def now_ns(self) -> int:
        """Nanoseconds since some moment."""


class PerfCounter:
    """Python's finest clock."""

    # The builtin itself: a method around it would be inside every sample.
    now_ns = staticmethod(time.perf_counter_ns)


@dataclass(frozen=True)
class ClockFigures:
    """``granularity_ns`` is the smallest step seen, ``overhead_ns`` what a sample of nothing takes."""

    granularity_ns: int
    overhead_ns: float


def granularity_ns(clock: Clock, reads: int = 2_000) -> int:
    """The smallest step of ``clock``; one that stands still has 0."""
    now = clock.now_ns
    stamps = [now() for _ in range(reads)]
    return min((after - before for before, after in pairwise(stamps) if after > before), default=0)


def preemptions() -> Callable[[], int]:
    """What counts how often the kernel took this thread off its core against its will.

    Where the system doesn't say (Linux does), the count stays 0.
    """
    try:
        import resource
    except ImportError:  # Windows
        return lambda: 0
    thread = getattr(resource, "RUSAGE_THREAD", None)
    if thread is None:
        return lambda: 0
    usage = resource.getrusage
    return lambda: usage(thread).ru_nivcsw
