"""One sample: what a single call takes, on the CPU and on a GPU. Nothing else happens between its stamps."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

from syncscope.latency.clock import Clock, ClockFigures, PerfCounter, granularity_ns, preemptions
from syncscope.latency.record import TimedOn

Call = Callable[[], object]


class Sample(NamedTuple):
    """The caller's time, on a GPU the device's as well, and whether the kernel interrupted the call."""

    host_ns: int
    device_ns: int | None
    interrupted: bool


class Sampler(Protocol):
    """Takes the time of one call."""

    def sample(self, call: Call) -> Sample:
        """Call once; what it returns is dropped when the time is taken."""


class HostSampler:
    """The caller's time alone."""

    def __init__(self, clock: Clock | None = None, interruptions: Callable[[], int] | None = None) -> None:
        """Read ``clock``; ``interruptions`` counts how often the thread was taken off its core."""
        self._now = (clock or PerfCounter()).now_ns
        self._interruptions = interruptions or preemptions()

    def sample(self, call: Call) -> Sample:
        """Call between two stamps."""
        now, before = self._now, self._interruptions()
        start = now()
        kept = call()
        end = now()
        del kept
        return Sample(end - start, None, self._interruptions() != before)


class CudaSampler:
    """The caller's time from an idle device to an idle device, and the device's between two events.

    The events are on the current stream: what runs on others is in the caller's time alone.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        """Read ``clock``; needs a GPU."""
        import torch

        self._host = HostSampler(clock)
        self._synchronize = torch.cuda.synchronize
        self._begin = torch.cuda.Event(enable_timing=True)
        self._end = torch.cuda.Event(enable_timing=True)
        # They are made when they are recorded for the first time: not in a sample.
        self._begin.record()
        self._end.record()

    def sample(self, call: Call) -> Sample:
        """Wait until the device is idle, call, and wait until it is idle again."""

        def to_idle() -> object:
            kept = call()
            self._end.record()
            self._synchronize()
            return kept

        self._synchronize()
        # Before the stamp: on an idle device the event is reached at once.
        self._begin.record()
        host_ns, _, interrupted = self._host.sample(to_idle)
        return Sample(host_ns, round(self._begin.elapsed_time(self._end) * 1e6), interrupted)


def sampler_on(on: TimedOn, clock: Clock) -> Sampler:
    """Whatever takes the times of calls on a CPU or on a GPU."""
    return CudaSampler(clock) if on == "cuda" else HostSampler(clock)


def examined(on: TimedOn, clock: Clock, samples: int = 500) -> ClockFigures:
    """How fine ``clock`` is, and what a sample of a call of nothing takes: the median of some."""
    sampler, nothing = sampler_on(on, clock), partial(_nothing)
    taken = [sampler.sample(nothing).host_ns for _ in range(samples)]
    return ClockFigures(granularity_ns(clock), statistics.median(taken))


def _nothing() -> None:
    pass
