"""From the samples of a row to its verdict, and from the rows' verdicts to those that hold for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar

from syncscope.latency import statistics
from syncscope.latency.level import LEVEL, RESOLUTION, fewest_iterations, of_one_more
from syncscope.latency.record import DeviceTimes, Latency, Samples, TimedOn, Verdict

NARROW = 0.01
"""An interval is narrow enough when its ends are so far from the speedup, as a fraction of it."""


def latency(samples: Samples, on: TimedOn) -> Latency:
    """All that is said of one row by itself."""
    old, new = samples.host["old"], samples.host["new"]
    visible = statistics.smallest_visible(old, new)
    p, speedup = statistics.swap_test(old, new), statistics.speedup(old, new)
    superiority = statistics.superiority(old, new)
    verdict = decided(p, speedup, superiority, visible)
    return Latency(
        on=on,
        samples=samples,
        old=statistics.quantiles(old),
        new=statistics.quantiles(new),
        speedup=speedup,
        interval=statistics.speedup_interval(old, new),
        p=p,
        mann_whitney=statistics.mann_whitney(old, new),
        superiority=superiority,
        smallest_visible=visible,
        verdict=verdict,
        corrected_p=p,
        corrected_visible=visible,
        corrected=verdict,
        device=_device_times(samples),
    )


def decided(p: float, speedup: float, superiority: float, visible: float | None) -> Verdict:
    """Faster or slower where the test says so; else whether a difference would have been seen.

    The test looks at ranks, the speedup at medians. Where these don't point the same way the times have
    another shape, and neither word would be true.
    """
    if visible is None:
        return "inconclusive"
    if p < LEVEL:
        return _direction(speedup, superiority)
    return "no difference" if visible <= RESOLUTION else "inconclusive"


def _direction(speedup: float, superiority: float) -> Verdict:
    if speedup > 1 and superiority > 0.5:
        return "faster"
    return "slower" if speedup < 1 and superiority < 0.5 else "inconclusive"


class Timed(Protocol):
    """A frozen dataclass of a case, which may have been timed."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def latency(self) -> Latency | None:
        """Absent where it wasn't."""


T = TypeVar("T", bound=Timed)


def with_corrected(cases: Sequence[T]) -> list[T]:
    """The cases with verdicts corrected for the number of those that were timed."""
    found = iter(corrected([case.latency for case in cases if case.latency]))
    return [replace(case, latency=next(found)) if case.latency else case for case in cases]


def corrected(rows: Sequence[Latency]) -> list[Latency]:
    """The rows with their verdicts corrected for how many they are, and what each can see then."""
    ps = statistics.benjamini_hochberg([row.p for row in rows])
    level = of_one_more(len(rows), sum(p < LEVEL for p in ps)) if rows else LEVEL
    return [_corrected(row, p, level) for row, p in zip(rows, ps, strict=True)]


def _corrected(row: Latency, p: float, level: float) -> Latency:
    host = row.samples.host
    visible = statistics.smallest_visible(host["old"], host["new"], level)
    verdict = decided(p, row.speedup, row.superiority, visible)
    return replace(row, corrected_p=p, corrected_visible=visible, corrected=verdict)


def hides(samples: Samples, rows: int) -> bool:
    """Whether a row, one of so many, would miss a difference that counts.

    Not where it has too few blocks for a verdict by itself: so few were asked for.
    """
    old, new = samples.host["old"], samples.host["new"]
    visible = statistics.smallest_visible(old, new, of_one_more(rows, 0))
    return len(old) >= fewest_iterations() and (visible is None or visible > RESOLUTION)


def is_narrow(samples: Samples, rows: int) -> bool:
    """Whether more samples would tell little more, and there are enough for a verdict among so many rows."""
    old, new = samples.host["old"], samples.host["new"]
    interval, middle = statistics.speedup_interval(old, new), statistics.speedup(old, new)
    if interval is None or len(old) < fewest_iterations(of_one_more(rows, 0)):
        return False
    return max(interval.high / middle, middle / interval.low) <= 1 + NARROW


def _device_times(samples: Samples) -> DeviceTimes | None:
    if not samples.device:
        return None
    return DeviceTimes(*(statistics.median(samples.device[side]) for side in ("old", "new")))
