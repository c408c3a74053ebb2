"""A second look at a row that seems slower: only a regression that holds counts."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from syncscope.events import Side
from syncscope.latency.order import Block, alternating
from syncscope.latency.record import Recheck, Samples
from syncscope.latency.statistics import speedup

TRIALS = 5
ITERATIONS = 500


def needed(speedup: float, beyond: float) -> bool:
    """Whether new takes more than ``beyond``, a fraction, longer than old."""
    return 1 / speedup > 1 + beyond


def rechecked(
    taken: Callable[[Iterable[Block]], Samples], beyond: float, iterations: int = ITERATIONS
) -> Recheck:
    """Run five trials, in which old and new begin in turn; ``taken`` takes the samples of some blocks.

    Of a trial's blocks, which are for so many iterations, it may take less.
    """
    firsts: Sequence[Side] = [("old", "new")[trial % 2] for trial in range(TRIALS)]
    trials = [taken(alternating(iterations, first)) for first in firsts]
    fewest = min(len(trial.host["old"]) for trial in trials)
    return replace(judged(fewest, [_speedup(trial) for trial in trials], beyond), trials=trials)


def judged(iterations: int, speedups: list[float], beyond: float) -> Recheck:
    """A regression holds where the median trial is beyond the limit, and every trial is slower."""
    middle = statistics.median(speedups)
    return Recheck(iterations, speedups, middle, needed(middle, beyond) and max(speedups) < 1)


def _speedup(samples: Samples) -> float:
    return speedup(samples.host["old"], samples.host["new"])
