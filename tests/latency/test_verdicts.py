"""Faster, slower, no difference, inconclusive: and what many rows leave of it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.latency import recheck, verdicts, worth
from syncscope.latency.record import Samples


def samples(old: list[int], new: list[int]) -> Samples:
    return Samples({"old": old, "new": new}, "")


def noisy(base: int, number: int = 40) -> list[int]:
    """Between ``base`` and 2 % more, in a pattern of its own for every base."""
    noise = random.Random(base)
    return [base + noise.randrange(base // 50) for _ in range(number)]


def test_a_row_says_what_its_samples_say() -> None:
    found = verdicts.latency(samples(noisy(3_000), noisy(2_000)), "cpu")
    assert found.verdict == "faster"
    assert found.speedup == pytest.approx(1.5, abs=0.01)
    assert found.interval.low < 1.5 < found.interval.high
    assert found.saved_ns == pytest.approx(1_000, abs=20)
    assert found.device is None


@pytest.mark.parametrize(
    ("p", "speedup", "superiority", "visible", "verdict"),
    [
        (0.01, 1.02, 0.7, 0.02, "faster"),
        (0.01, 0.98, 0.3, 0.02, "slower"),
        # Also where one would have had to be lucky to see it.
        (0.01, 1.30, 0.7, 0.40, "faster"),
        (0.03, 1.02, 0.7, 0.02, "no difference"),
        # The ranks say another thing than the medians.
        (0.01, 1.02, 0.3, 0.02, "inconclusive"),
        (0.01, 0.98, 0.7, 0.02, "inconclusive"),
        (0.01, 1.00, 0.7, 0.02, "inconclusive"),
        # Nothing seen, and nothing could have been.
        (0.20, 1.02, 0.7, 0.15, "inconclusive"),
        (1.00, 1.50, 0.9, None, "inconclusive"),
    ],
)
def test_how_it_is_decided(p, speedup, superiority, visible, verdict) -> None:
    assert verdicts.decided(p, speedup, superiority, visible) == verdict


def test_where_ranks_and_medians_disagree_nothing_is_concluded() -> None:
    old = [440 if at % 20 < 11 else 900 for at in range(200)]
    new = [400 if 7 * at % 20 < 9 else 445 for at in range(200)]
    found = verdicts.latency(samples(old, new), "cpu")
    assert found.speedup == pytest.approx(440 / 445)
    assert found.superiority == pytest.approx(0.7, abs=0.01)
    assert found.p < 1e-6
    assert (found.verdict, found.corrected) == ("inconclusive", "inconclusive")


def test_one_regression_is_found_among_287_equal_rows() -> None:
    equal = verdicts.latency(samples(noisy(3_000, 100), noisy(3_001, 100)), "cpu")
    slow = verdicts.latency(samples(noisy(500, 100), noisy(3_000, 100)), "cpu")
    rows = verdicts.corrected([*[verdicts.replace(equal, p=0.5)] * 287, slow])
    assert rows[-1].corrected == "slower"
    assert rows[-1].corrected_p == pytest.approx(288 * 2**-49)
    assert {row.corrected for row in rows[:-1]} == {"no difference"}


def test_few_iterations_have_no_verdict_among_many_rows() -> None:
    slow = verdicts.latency(samples(noisy(500, 20), noisy(3_000, 20)), "cpu")
    equal = verdicts.replace(slow, p=0.5, verdict="no difference")
    rows = verdicts.corrected([*[equal] * 287, slow])
    assert slow.verdict == "slower"
    assert (rows[-1].corrected, rows[-1].corrected_visible) == ("inconclusive", None)
    # Many rows that are all slower bear each other out.
    assert {row.corrected for row in verdicts.corrected([slow] * 288)} == {"slower"}


def test_too_few_iterations_are_inconclusive() -> None:
    found = verdicts.latency(samples([300] * 5, [200] * 5), "cpu")
    assert (found.verdict, found.interval, found.smallest_visible) == ("inconclusive", None, None)
    assert verdicts.latency(samples([300], [200]), "cpu").p == 1


def test_one_row_in_many_that_may_be_chance_is_no_difference() -> None:
    row = verdicts.latency(samples(noisy(3_000), noisy(3_001)), "cpu")
    lucky = verdicts.replace(row, p=0.01, speedup=1.002, superiority=0.6, verdict="faster")
    rows = verdicts.corrected([lucky, *[verdicts.replace(row, p=0.5)] * 19])
    assert rows[0].verdict == "faster"
    assert rows[0].corrected == "no difference"
    assert rows[0].corrected_p == pytest.approx(0.2)
    assert verdicts.corrected([lucky])[0].corrected == "faster"


def test_events_times_have_a_speedup_of_their_own() -> None:
    found = Samples({"old": [400] * 4, "new": [400] * 4}, "", {"old": [300] * 4, "new": [100] * 4})
    assert verdicts.latency(found, "cuda").device.speedup == 3


def test_noise_hides_a_difference_of_ten_percent() -> None:
    quiet, loud = noisy(3_000, 100), [500 if at % 7 < 3 else 900 for at in range(100)]
    assert not verdicts.hides(samples(quiet, quiet[::-1]), rows=1)
    assert verdicts.hides(samples(quiet, loud), rows=1)


def test_among_many_rows_the_noise_of_one_hides_more() -> None:
    jumping = [[100 + 24 * (at * step % 7 % 2) for at in range(100)] for step in (3, 5)]
    assert not verdicts.hides(samples(*jumping), rows=1)
    assert verdicts.hides(samples(*jumping), rows=288)


def test_a_row_too_short_for_a_verdict_among_so_many_hides_one() -> None:
    quiet = noisy(3_000, 28)
    assert not verdicts.hides(samples(quiet, quiet), rows=1)
    assert verdicts.hides(samples(quiet, quiet), rows=288)
    assert not verdicts.hides(samples(noisy(3_000, 30), noisy(3_000, 30)), rows=288)


def test_who_asks_for_too_few_iterations_for_any_verdict_is_given_these() -> None:
    assert not verdicts.hides(samples([100, 900] * 6, [300] * 12), rows=1)


def test_narrow_is_within_one_percent() -> None:
    assert verdicts.is_narrow(samples([3_000] * 20, [2_000] * 20), rows=1)
    wide = [3_000, 3_000, 3_900, 3_900] * 6
    assert not verdicts.is_narrow(samples(wide, [2_000] * 24), rows=1)
    assert not verdicts.is_narrow(samples([3_000] * 4, [2_000] * 4), rows=1)


def test_what_has_no_verdict_among_so_many_rows_is_not_narrow_enough() -> None:
    assert not verdicts.is_narrow(samples([3_000] * 28, [2_000] * 28), rows=288)
    assert verdicts.is_narrow(samples([3_000] * 30, [2_000] * 30), rows=288)


def test_a_row_is_looked_at_again_beyond_the_limit() -> None:
    assert recheck.needed(speedup=1 / 1.04, beyond=0.03)
    assert not recheck.needed(speedup=1 / 1.02, beyond=0.03)
    assert not recheck.needed(speedup=1.5, beyond=0.03)


def test_the_trials_begin_in_turn_with_old_and_new() -> None:
    trials = []

    def taken(blocks) -> Samples:
        trials.append(list(blocks))
        return samples([100], [110])

    found = recheck.rechecked(taken, beyond=0.03, iterations=3)
    assert [trial[0][0] for trial in trials] == ["old", "new", "old", "new", "old"]
    assert {len(trial) for trial in trials} == {3}
    assert found.speedups == [pytest.approx(100 / 110)] * 5
    assert found.holds
    assert found.trials == [samples([100], [110])] * 5


def test_a_trial_may_be_shorter_than_it_was_to_be() -> None:
    trials = iter([samples([100] * length, [110] * length) for length in (4, 3, 5, 3, 4)])
    found = recheck.rechecked(lambda blocks: next(trials), beyond=0.03)
    assert found.iterations == 3


def test_the_published_outlier_does_not_hold() -> None:
    found = recheck.judged(500, [1.041, 1.037, 1.040, 1.041, 1.041], beyond=0.03)
    assert (found.speedup, found.holds) == (1.041, False)


@pytest.mark.parametrize(
    ("speedups", "holds"),
    [
        ([0.9, 0.9, 0.9, 0.9, 0.9], True),
        ([0.9, 0.9, 0.9, 0.9, 1.1], False),
        ([0.98, 0.98, 0.98, 0.98, 0.98], False),
    ],
)
def test_only_a_regression_in_every_trial_holds(speedups: list[float], holds: bool) -> None:
    assert recheck.judged(500, speedups, beyond=0.03).holds is holds


def test_a_wait_is_worth_the_slope() -> None:
    found = worth.fitted([1, 2, 4, 8], [7.0, 12.0, 22.0, 42.0])
    assert found.per_wait_us == pytest.approx(5)
    assert found.fixed_us == pytest.approx(2)
    assert found.interval.low == pytest.approx(5)
    assert found.r_squared == pytest.approx(1)
    # 75 of 83 µs.
    assert found.explained == pytest.approx(75 / 83)


@pytest.mark.parametrize("removed", [[1, 2], [3, 3, 3, 3], []])
def test_no_line_goes_through_too_few_points(removed: list[float]) -> None:
    assert worth.fitted(removed, [1.0] * len(removed)) is None


def test_of_no_gain_no_part_is_explained() -> None:
    assert worth.fitted([1, 2, 3], [-1.0, -2.0, -2.5]).explained is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 200), st.floats(-1e4, 1e4)), min_size=3, max_size=30))
def test_the_slope_lies_in_its_interval(points: list[tuple[int, float]]) -> None:
    found = worth.fitted([removed for removed, _ in points], [saved for _, saved in points])
    if found:
        assert found.interval.low <= found.per_wait_us <= found.interval.high
        assert 0 <= found.r_squared <= 1 + 1e-9
