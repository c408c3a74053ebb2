"""From the samples of a row to its verdict, and from the rows' verdicts to those that hold for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from syncscope.latency import statistics
from syncscope.latency.record import Latency, Samples, TimedOn, Verdict

RESOLUTION = 0.1
"""A row that could not have seen a difference as small as this says nothing by seeing none."""

NARROW = 0.01
"""An interval is narrow enough when its ends are so far from the speedup, as a fraction of it."""


def latency(samples: Samples, on: TimedOn) -> Latency:
    """All that is said of one row by itself."""
    old, new = samples.host["old"], samples.host["new"]
    interval = statistics.speedup_interval(old, new)
    visible = statistics.smallest_visible(old, new)
    p = statistics.swap_test(old, new)
    speedup = statistics.speedup(old, new)
    verdict = decided(p, speedup, visible)
    return Latency(
        on=on,
        samples=samples,
        old=statistics.quantiles(old),
        new=statistics.quantiles(new),
        speedup=speedup,
        interval=interval,
        p=p,
        mann_whitney=statistics.mann_whitney(old, new),
        smallest_visible=visible,
        verdict=verdict,
        corrected_p=p,
        corrected=verdict,
        device_speedup=_device_speedup(samples),
    )


def decided(p: float, speedup: float, visible: float | None) -> Verdict:
    """Faster or slower where the test says so; else whether a difference would have been seen."""
    if visible is None:
        return "inconclusive"
    if p < statistics.LEVEL and speedup != 1:
        return "faster" if speedup > 1 else "slower"
    return "no difference" if visible <= RESOLUTION else "inconclusive"


def corrected(rows: Sequence[Latency]) -> list[Latency]:
    """The rows with their verdicts corrected for how many they are."""
    ps = statistics.benjamini_hochberg([row.p for row in rows])
    return [
        replace(row, corrected_p=p, corrected=decided(p, row.speedup, row.smallest_visible))
        for row, p in zip(rows, ps, strict=True)
    ]


def is_narrow(samples: Samples) -> bool:
    """Whether more samples would tell little more."""
    old, new = samples.host["old"], samples.host["new"]
    interval, middle = statistics.speedup_interval(old, new), statistics.speedup(old, new)
    if interval is None:
        return False
    return max(interval.high / middle, middle / interval.low) <= 1 + NARROW


def _device_speedup(samples: Samples) -> float | None:
    device = samples.device
    return statistics.speedup(device["old"], device["new"]) if device else None
