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

from syncscope.latency.record import Interval, Quantiles

LEVEL = 0.02
"""Of rows without a difference so many get a verdict; of 200 hardly ever more than 5 %."""

FEWEST_BLOCKS = 7
"""With fewer there is no way to swap them that is rarer than the level: 2 / 2**6 is 0.03."""

_RESAMPLES = 2_000
# So many that one row in some hundred can be told from chance.
_SWAPS = 10_000
# How many figures are resampled at once: what is held in memory.
_AT_ONCE = 500_000
# A difference of so many standard errors is seen four times in five: z(0.99) + z(0.8).
_VISIBLE_ERRORS = float(stats.norm.ppf(1 - LEVEL / 2) + stats.norm.ppf(0.8))

Floats = NDArray[np.float64]


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
    """The 95 % bootstrap interval of ``speedup``, by whole blocks; nothing where these are too few."""
    olds, news = blocks(old), blocks(new)
    if len(olds) < FEWEST_BLOCKS:
        return None

    def ratio(chosen: NDArray[np.int64], axis: int) -> Floats:
        return _medians(olds[chosen]) / _medians(news[chosen])

    return _bootstrap(np.arange(len(olds)), ratio, seed)


def _medians(chosen: Floats) -> Floats:
    """``(..., blocks, 2)`` to ``(...)``."""
    return np.asarray(np.median(chosen.reshape(*chosen.shape[:-2], -1), axis=-1))


def _bootstrap(indices: NDArray[np.int64], statistic: object, seed: int) -> Interval:
    found = stats.bootstrap(
        (indices,),
        statistic,
        n_resamples=_RESAMPLES,
        method="percentile",
        vectorized=True,
        batch=max(1, _AT_ONCE // len(indices)),
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))


def swap_test(old: Sequence[int], new: Sequence[int], seed: int = 0) -> float:
    """The probability of so large a difference in rank if old and new are equal.

    All samples are ranked together, as Mann and Whitney do. Then the sides of each block are swapped or not,
    by a coin, again and again: how often do the ranks of old and new differ as much as they did? (Edgington
    and Onghena, Randomization Tests, chapter 1.)
    """
    whole = len(blocks(old)) * 2
    if whole < 2 * FEWEST_BLOCKS:
        return 1.0
    ranks = stats.rankdata([*old[:whole], *new[:whole]])
    differences = (ranks[whole:] - ranks[:whole]).reshape(-1, 2).sum(axis=1)
    coins = np.random.default_rng(seed)
    at_once = max(1, _AT_ONCE // whole)
    as_far = 0
    for first in range(0, _SWAPS, at_once):
        signs = coins.choice((-1.0, 1.0), (min(at_once, _SWAPS - first), len(differences)))
        # Half a rank is room for rounding.
        as_far += int((abs(signs @ differences) > abs(differences.sum()) - 0.5).sum())
    # What was seen is one of them.
    return (as_far + 1) / (_SWAPS + 1)


def mann_whitney(old: Sequence[int], new: Sequence[int]) -> float:
    """Mann and Whitney's U test, which takes every sample for one drawn by itself."""
    return float(stats.mannwhitneyu(old, new).pvalue)


def smallest_visible(old: Sequence[int], new: Sequence[int]) -> float | None:
    """The relative difference that such a run finds four times in five; nothing where it can find none.

    By how much the blocks' ratios of old and new scatter (by their quartiles, so that a few disturbed blocks
    don't matter), and a rank test's error in the middle of so many, sqrt(pi / 3) of a mean's.
    """
    ratios = np.log(blocks(old)).mean(axis=1) - np.log(blocks(new)).mean(axis=1)
    if len(ratios) < FEWEST_BLOCKS:
        return None
    scatter = float(stats.iqr(ratios, scale="normal"))
    return math.expm1(_VISIBLE_ERRORS * scatter * math.sqrt(math.pi / 3 / len(ratios)))


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Each p with regard to their number: the rate of false discoveries at which it counts as one."""
    return [float(p) for p in stats.false_discovery_control(ps)] if ps else []


def geometric_mean(ratios: Sequence[float]) -> float:
    """Of some ratios."""
    return float(stats.gmean(ratios))


def geometric_mean_interval(ratios: Sequence[float], seed: int = 0) -> Interval | None:
    """The 95 % bootstrap interval of the geometric mean over rows; nothing for a single row."""
    logarithms = np.log(ratios)

    def mean(chosen: NDArray[np.int64], axis: int) -> Floats:
        return np.asarray(np.exp(logarithms[chosen].mean(axis=-1)))

    return _over_rows(len(ratios), mean, seed)


def median(ratios: Sequence[float]) -> float:
    """Of some ratios."""
    return float(np.median(ratios))


def median_interval(ratios: Sequence[float], seed: int = 0) -> Interval | None:
    """The 95 % bootstrap interval of the median over rows; nothing for a single row."""
    values = np.asarray(ratios)

    def middle(chosen: NDArray[np.int64], axis: int) -> Floats:
        return np.asarray(np.median(values[chosen], axis=-1))

    return _over_rows(len(ratios), middle, seed)


def _over_rows(rows: int, statistic: object, seed: int) -> Interval | None:
    return _bootstrap(np.arange(rows), statistic, seed) if rows > 1 else None
