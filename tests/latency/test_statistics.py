"""Exact figures where there are some, properties elsewhere."""

from __future__ import annotations

import math
import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.latency import statistics
from syncscope.latency.level import LEVEL, fewest_blocks, of_one_more
from syncscope.latency.record import Interval, Quantiles

durations = st.integers(1, 10**10)
samples = st.lists(durations, min_size=1, max_size=60)
ps = st.lists(st.floats(0, 1), min_size=1, max_size=60)


def test_quantiles_lie_between_samples_in_proportion() -> None:
    assert statistics.quantiles([10, 20, 30, 40, 50, 60]) == Quantiles(20, 35, 50)


@settings(deadline=None)
@given(samples)
def test_quantiles_lie_within_the_samples_in_their_order(taken: list[int]) -> None:
    found = statistics.quantiles(taken)
    assert min(taken) <= found.p20 <= found.p50 <= found.p80 <= max(taken)


def test_the_speedup_is_old_by_new() -> None:
    assert statistics.speedup([300, 300, 900], [200, 100, 200]) == 1.5


@settings(deadline=None)
@given(samples, samples)
def test_swapping_old_and_new_inverts_the_speedup(old: list[int], new: list[int]) -> None:
    assert statistics.speedup(old, new) == pytest.approx(1 / statistics.speedup(new, old))


def test_samples_without_noise_have_an_interval_without_width() -> None:
    assert statistics.speedup_interval([300] * 20, [200] * 20) == Interval(1.5, 1.5)


def test_fewer_than_seven_blocks_have_no_interval_and_no_test() -> None:
    assert statistics.speedup_interval([300] * 13, [200] * 13) is None
    assert statistics.swap_test([300] * 13, [200] * 13) == 1


def test_the_interval_holds_the_speedup_of_noisy_samples_and_is_drawn_alike_each_time() -> None:
    noise = np.random.default_rng(0)
    old = [int(each) for each in noise.lognormal(7, 0.1, 100)]
    new = [int(each) for each in noise.lognormal(7, 0.1, 100)]
    found = statistics.speedup_interval(old, new)
    assert found == statistics.speedup_interval(old, new)
    assert found.low < statistics.speedup(old, new) < found.high


@pytest.mark.parametrize("blocks", [7, 12, 50])
def test_blocks_that_all_say_the_same_are_beyond_chance(blocks: int) -> None:
    # Of 2**blocks ways to swap them only two are so far from equal: none, and all.
    old, new = ([base + at for at in range(2 * blocks)] for base in (300, 100))
    assert statistics.swap_test(old, new) == 2 / 2**blocks


def swapped(old: list[int], new: list[int], blocks: tuple[bool, ...]) -> tuple[list[int], list[int]]:
    pairs = [(new, old) if each else (old, new) for each in blocks for _ in range(2)]
    sides = [[side[at] for at, side in enumerate(chosen)] for chosen in zip(*pairs, strict=True)]
    return sides[0], sides[1]


def apart(old: list[int], new: list[int]) -> float:
    return abs(statistics.superiority(old, new) - 0.5)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(1, 30), min_size=28, max_size=28))
def test_the_swap_test_counts_all_ways_to_swap(taken: list[int]) -> None:
    old, new = taken[:14], taken[14:]
    ways = [apart(*swapped(old, new, blocks)) for blocks in product((False, True), repeat=7)]
    as_far = sum(way >= apart(old, new) - 1e-9 for way in ways)
    assert statistics.swap_test(old, new) == pytest.approx(as_far / len(ways))


def test_a_very_long_run_is_tested_soon_and_soundly() -> None:
    noise = np.random.default_rng(0)
    old, new = ([int(each) for each in noise.lognormal(mean, 0.1, 10_000)] for mean in (12.002, 12))
    one_by_one = statistics.mann_whitney(old, new)
    assert statistics.swap_test(old, new) == pytest.approx(one_by_one, rel=1)
    assert statistics.swap_test(old, old) == 1
    assert statistics.swap_test(old, [each // 2 for each in old]) == 2**-249


def test_equal_blocks_are_no_sign_of_anything() -> None:
    assert statistics.swap_test([300] * 40, [300] * 40) == 1


def drifting(seed: int, slower: float) -> tuple[list[int], list[int]]:
    """A machine whose speed wanders by a half, far more than old and new differ."""
    noise = random.Random(seed)
    speed, old, new = 1.0, [], []
    for _ in range(50):
        speed = min(1.5, max(1.0, speed * noise.uniform(0.96, 1.05)))
        for samples, factor in ((old, 1.0), (new, slower)):
            samples += [round(1e6 * speed * factor * noise.uniform(1, 1.03)) for _ in range(2)]
    return old, new


def test_five_percent_are_found_on_a_machine_whose_speed_wanders() -> None:
    assert all(statistics.swap_test(*drifting(seed, 1.05)) < 0.01 for seed in range(10))


def test_a_wandering_machine_alone_is_seldom_taken_for_a_difference() -> None:
    found = [statistics.swap_test(*drifting(seed, 1.0)) < LEVEL for seed in range(100)]
    assert sum(found) <= 6  # 2 are to be expected


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_swapping_old_and_new_says_the_same(seed: int) -> None:
    old, new = drifting(seed, 1.01)
    assert statistics.swap_test(old, new) == statistics.swap_test(new, old)


def test_the_u_test_ignores_the_blocks() -> None:
    assert statistics.mann_whitney([3] * 10, [3] * 10) == 1
    assert statistics.mann_whitney(range(100, 120), range(200, 220)) < 1e-6


def even(seed: int, slower: float) -> tuple[list[int], list[int]]:
    """A machine with 5 % of noise in every sample."""
    noise = np.random.default_rng(seed)
    return tuple([int(each) for each in factor * noise.lognormal(14, 0.05, 100)] for factor in (1.0, slower))


def test_new_is_superior_where_its_calls_take_less_time() -> None:
    assert statistics.superiority([300] * 14, [200] * 14) == 1
    assert statistics.superiority([300] * 14, [300] * 14) == 0.5
    assert statistics.superiority([100, 400] * 7, [300] * 14) == 0.5
    assert statistics.superiority([300], [200]) == 0.5  # not a block


def test_samples_without_noise_would_show_any_difference() -> None:
    assert statistics.smallest_visible([300] * 20, [200] * 20) == 0
    assert statistics.smallest_visible([300] * 13, [200] * 13) is None


def test_the_smallest_visible_difference_is_that_of_the_noise() -> None:
    # z(0.99) + z(0.8) are 3.17; times 5 % by the root of 50 blocks, and a little for the ranks.
    visible = [statistics.smallest_visible(*even(seed, 1.0)) for seed in range(40)]
    assert sum(visible) / 40 == pytest.approx(0.0232, rel=0.1)


def test_the_smallest_visible_difference_is_found_four_times_in_five() -> None:
    found = [statistics.swap_test(*even(seed, 1.0232)) < LEVEL for seed in range(100)]
    assert 70 <= sum(found) <= 90


def test_what_a_row_among_many_sees_is_larger_and_takes_more_blocks() -> None:
    alone, among = LEVEL, of_one_more(rows=288, found=0)
    assert (fewest_blocks(alone), fewest_blocks(among)) == (7, 15)
    assert fewest_blocks(of_one_more(rows=288, found=287)) == 7
    old, new = even(0, 1.0)
    assert statistics.smallest_visible(old, new) < statistics.smallest_visible(old, new, among)
    assert statistics.smallest_visible(old[:28], new[:28], among) is None
    assert statistics.smallest_visible(old[:30], new[:30], among) is not None


def test_a_few_disturbed_blocks_do_not_blind_a_row() -> None:
    old, new = even(0, 1.0)
    disturbed = [9 * each if at % 20 == 0 else each for at, each in enumerate(old)]
    before, after = statistics.smallest_visible(old, new), statistics.smallest_visible(disturbed, new)
    assert after < 1.5 * before


def test_benjamini_and_hochberg_by_hand() -> None:
    assert statistics.benjamini_hochberg([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.04, 0.04])
    assert statistics.benjamini_hochberg([]) == []


@settings(deadline=None)
@given(ps)
def test_a_correction_never_helps_and_keeps_the_order(found: list[float]) -> None:
    corrected = statistics.benjamini_hochberg(found)
    assert all(after >= before for before, after in zip(found, corrected, strict=True))
    by_p = [after for _, after in sorted(zip(found, corrected, strict=True))]
    assert by_p == sorted(by_p)


def test_means_over_rows() -> None:
    assert statistics.geometric_mean([0.5, 2.0]) == pytest.approx(1)
    assert statistics.median([0.5, 2.0, 3.0]) == 2
    assert statistics.geometric_mean_interval([1.5]) is None
    assert statistics.geometric_mean_interval([1.5] * 8) == Interval(pytest.approx(1.5), pytest.approx(1.5))


def test_the_mean_of_two_rows_says_little() -> None:
    # The logarithms are 1 and -1: Student's t with one degree of freedom is 12.7, the standard error 1.
    found = statistics.geometric_mean_interval([math.e, 1 / math.e])
    assert math.log(found.high) == pytest.approx(12.706, abs=1e-3)
    assert found.low == pytest.approx(1 / found.high)


def test_the_median_lies_between_two_rows() -> None:
    # Of six rows the median lies outside with 2 / 2**6; of five with 2 / 2**5, which is more than 5 %.
    assert statistics.median_interval([1, 2, 3, 4, 5, 6]) == Interval(1, 6)
    assert statistics.median_interval([1, 2, 3, 4, 5]) is None
    assert statistics.median_interval([1.5]) is None
    assert statistics.median_interval(range(1, 10)) == Interval(2, 8)


def holding(truth: float, intervals: list[Interval]) -> float:
    return sum(found.low <= truth <= found.high for found in intervals) / len(intervals)


@pytest.mark.parametrize("rows", [2, 4, 8])
def test_intervals_over_rows_hold_the_true_value_as_often_as_they_say(rows: int) -> None:
    drawn = np.exp(np.random.default_rng(0).normal(0.1, 0.2, (400, rows)))
    assert holding(math.exp(0.1), [statistics.geometric_mean_interval(each) for each in drawn]) > 0.92
    medians = [found for each in drawn if (found := statistics.median_interval(each))]
    assert not medians or holding(math.exp(0.1), medians) > 0.92


def test_a_rows_interval_holds_the_true_value_with_few_iterations_too() -> None:
    noise = np.random.default_rng(0)
    taken = [noise.lognormal(14, 0.05, (2, 14)).round() for _ in range(150)]
    assert holding(1, [statistics.speedup_interval(*each) for each in taken]) > 0.92


@settings(deadline=None)
@given(st.lists(st.floats(0.1, 10), min_size=2, max_size=20))
def test_a_mean_lies_in_its_interval_and_within_the_rows(ratios: list[float]) -> None:
    found, mean = statistics.geometric_mean_interval(ratios), statistics.geometric_mean(ratios)
    assert found.low * (1 - 1e-9) <= mean <= found.high * (1 + 1e-9)
    assert min(ratios) * (1 - 1e-9) <= mean <= max(ratios) * (1 + 1e-9)


def test_very_many_samples_are_judged_as_well() -> None:
    noise = np.random.default_rng(0)
    old, new = ([int(each) for each in noise.lognormal(mean, 0.1, 1_200)] for mean in (7.03, 7.0))
    assert statistics.swap_test(old, new) < 1e-2
    assert statistics.speedup_interval(old, new).low > 1
