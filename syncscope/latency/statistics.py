"""The statistics of one row and of many: plain functions of arrays, by numpy and scipy.

The samples lie in blocks of four, each side twice, in an order that was drawn (``order``). Two things follow.
A row is resampled by whole blocks, so that what slows both sides of a block doesn't look like a difference.
And where old and new are equal, swapping them in any block gives what might as well have been seen: a test by
such swaps is exact, however the noise of a machine hangs together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from syncscope.latency.level import LEVEL, fewest_blocks
from syncscope.latency.record import Interval, Quantiles

_RESAMPLES = 2_000
# How many figures are resampled at once: what is held in memory.
_AT_ONCE = 500_000
# What bounds the table of the swap test; 100 iterations are far below both.
_MOST_SWAPPED = 256
_LARGEST_SUM = 2**19

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def quantiles(samples: Sequence[int]) -> Quantiles:
    """p20, p50 and p80, between two samples in proportion."""
    p20, p50, p80 = np.quantile(samples, (0.2, 0.5, 0.8))
    return Quantiles(float(p20), float(p50), float(p80))


def blocks(samples: Sequence[int]) -> Floats:
    """The samples of one side, ``(blocks, 2)``; an odd last one belongs to no block."""
    whole = len(samples) // 2 * 2
    return np.asarray(samples[:whole], dtype=np.float64).reshape(-1, 2)


def speedup(old: Sequence[int], new: Sequence[int]) -> float:
    """Old's median by new's."""
    return float(np.median(old) / np.median(new))


def speedup_interval(old: Sequence[int], new: Sequence[int], seed: int = 0) -> Interval | None:
    """The 95 % bootstrap interval of ``speedup``, by whole blocks; nothing where these are too few.

    From the expanded percentiles, which hold the true value about as often as they say with few blocks as
    well. (Hesterberg, What Teachers Should Know About the Bootstrap, section 5.3.)
    """
    olds, news = blocks(old), blocks(new)
    if len(olds) < fewest_blocks():
        return None

    def ratio(chosen: Integers, axis: int) -> Floats:
        return _medians(olds[chosen]) / _medians(news[chosen])

    found = stats.bootstrap(
        (np.arange(len(olds)),),
        ratio,
        n_resamples=_RESAMPLES,
        confidence_level=_expanded(len(olds)),
        method="percentile",
        vectorized=True,
        batch=max(1, _AT_ONCE // len(olds)),
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))


def _expanded(number: int) -> float:
    """The level of the percentiles between which 95 % of such figures lie, as far as Student's t says it."""
    errors = math.sqrt(number / (number - 1)) * stats.t.ppf(0.975, number - 1)
    return float(1 - 2 * stats.norm.sf(errors))


def _medians(chosen: Floats) -> Floats:
    """``(..., blocks, 2)`` to ``(...)``."""
    return np.asarray(np.median(chosen.reshape(*chosen.shape[:-2], -1), axis=-1))


def swap_test(old: Sequence[int], new: Sequence[int]) -> float:
    """The probability of so large a difference in rank if old and new are equal. It is exact.

    All samples are ranked together, as Mann and Whitney do; what is looked at is the sum of the blocks'
    differences in rank. Were the sides of each block swapped or not by a coin, how often would that sum be as
    far from 0? All 2**blocks ways are counted, by convolution: p goes down to 2**(1 - blocks). (Edgington and
    Onghena, Randomization Tests, chapter 1.)

    Of a long run, beyond 256 blocks (512 iterations), neighbours are swapped together, and sums of ranks
    above half a million are rounded: a coarser figure, whose test is exact all the same.
    """
    steps = _steps(old, new)
    if len(steps) < fewest_blocks():
        return 1.0
    return _as_far(steps)


def _steps(old: Sequence[int], new: Sequence[int]) -> Integers:
    """By how much the ranks of old and new differ in each block, or some of them, in one unit for all."""
    whole = len(blocks(old)) * 2
    if not whole:
        return np.zeros(0, dtype=np.int64)
    # Equal samples share a rank and a half: twice the ranks are whole numbers.
    ranks = np.rint(2 * stats.rankdata([*old[:whole], *new[:whole]])).astype(np.int64)
    differences = (ranks[:whole] - ranks[whole:]).reshape(-1, 2).sum(axis=1)
    together = -(-len(differences) // _MOST_SWAPPED)
    sums = np.add.reduceat(differences, np.arange(0, len(differences), together))
    # Both the unit and the rounding are those of the swapped samples as well: the test stays exact.
    unit = max(1, int(abs(sums).sum()) / _LARGEST_SUM)
    return np.rint(sums / unit).astype(np.int64)


def _as_far(steps: Integers) -> float:
    """The probability that as many steps, forward or back by a coin, lead as far from where they began."""
    sizes, reached = abs(steps), abs(int(steps.sum()))
    if reached == 0:
        return 1.0
    # All steps forward but some: those back are at most so long together.
    most = (int(sizes.sum()) - reached) // 2
    chances = np.zeros(most + 1)
    chances[0] = 1.0
    for size in sizes:
        chances /= 2
        chances[size:] += chances[: max(0, most + 1 - size)].copy()
    return 2 * float(chances.sum())


def superiority(old: Sequence[int], new: Sequence[int]) -> float:
    """Of all pairs of an old and a new call the part in which new takes less time; equal ones count half.

    Of whole blocks, as the swap test looks at them: above 0.5 its ranks say that new is the faster.
    """
    whole = len(blocks(old)) * 2
    if not whole:
        return 0.5
    ranks = stats.rankdata([*old[:whole], *new[:whole]])
    return float(ranks[:whole].sum() - whole * (whole + 1) / 2) / whole**2


def mann_whitney(old: Sequence[int], new: Sequence[int]) -> float:
    """Mann and Whitney's U test, which takes every sample for one drawn by itself."""
    return float(stats.mannwhitneyu(old, new).pvalue)


def smallest_visible(old: Sequence[int], new: Sequence[int], level: float = LEVEL) -> float | None:
    """The relative difference that such a run finds at ``level`` four times in five.

    Nothing where it can find none: there are too few blocks.

    By how much the blocks' ratios of old and new scatter (by their quartiles, so that a few disturbed blocks
    don't matter), and a rank test's error in the middle of so many, sqrt(pi / 3) of a mean's.
    """
    ratios = np.log(blocks(old)).mean(axis=1) - np.log(blocks(new)).mean(axis=1)
    if len(ratios) < fewest_blocks(level):
        return None
    errors = float(stats.norm.ppf(1 - level / 2) + stats.norm.ppf(0.8))
    scatter = float(stats.iqr(ratios, scale="normal"))
    return math.expm1(errors * scatter * math.sqrt(math.pi / 3 / len(ratios)))


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Each p with regard to their number: the rate of false discoveries at which it counts as one."""
    return [float(p) for p in stats.false_discovery_control(ps)] if ps else []


def geometric_mean(ratios: Sequence[float]) -> float:
    """Of some ratios."""
    return float(stats.gmean(ratios))


def geometric_mean_interval(ratios: Sequence[float]) -> Interval | None:
    """The 95 % interval of the geometric mean over rows, Student's on logarithms; nothing for one row."""
    if len(ratios) < 2:
        return None
    logarithms = np.log(ratios)
    middle, errors = float(logarithms.mean()), float(stats.t.ppf(0.975, len(ratios) - 1))
    margin = errors * float(stats.sem(logarithms))
    return Interval(math.exp(middle - margin), math.exp(middle + margin))


def median(ratios: Sequence[float]) -> float:
    """Of some ratios."""
    return float(np.median(ratios))


def median_interval(ratios: Sequence[float]) -> Interval | None:
    """The interval of the median over rows, between two of them, of at least 95 %; nothing below six rows."""
    found = stats.quantile_test(ratios, p=0.5).confidence_interval(confidence_level=0.95)
    ends = float(found.low), float(found.high)
    return None if any(map(math.isnan, ends)) else Interval(*ends)
