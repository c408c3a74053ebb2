"""What is timed, in which order, and what isn't; on a clock that only the calls move."""

from __future__ import annotations

import random
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncscope.latency import order, timing
from syncscope.latency.record import Samples

TAKES = {"old": 300, "new": 200}


class Calls:
    """Old takes 300 ns and new 200; making the inputs takes a second."""

    def __init__(self, clock) -> None:
        self.clock = clock
        self.made = []

    def __call__(self, side, number):
        self.clock.wait(1_000_000_000)
        self.made.append((side, number))
        return partial(self.clock.wait, TAKES[side])


@pytest.fixture
def calls(clock):
    return Calls(clock)


def collected(calls, blocks) -> timing.Collected:
    found = timing.Collected()
    timing.collect(calls, blocks, calls.clock.sampler(), found)
    return found


def test_a_sample_is_the_call_and_nothing_else(calls) -> None:
    samples = collected(calls, order.balanced(5, random.Random(0))).samples()
    assert samples.host == {"old": [300] * 5, "new": [200] * 5}


def test_the_order_is_kept_with_the_samples(calls) -> None:
    samples = collected(calls, [order.OLD_FIRST, order.NEW_FIRST, order.OLD_FIRST[:2]]).samples()
    assert samples.order == "onno noon on"
    assert samples.device == {}


def test_both_sides_are_given_equal_inputs_in_a_block(calls) -> None:
    collected(calls, [order.OLD_FIRST, order.NEW_FIRST])
    assert calls.made == [
        ("old", 0), ("new", 0), ("new", 1), ("old", 1), ("new", 2), ("old", 2), ("old", 3), ("new", 3),
    ]  # fmt: skip


def test_in_pairs_as_well(calls) -> None:
    collected(calls, order.alternating(2, "new"))
    assert calls.made == [("new", 0), ("old", 0), ("new", 1), ("old", 1)]


def test_warming_up_calls_both_and_keeps_nothing(calls) -> None:
    timing.warm(calls, 2)
    assert calls.made == [("old", 0), ("new", 0), ("old", 1), ("new", 1)]


def test_a_call_that_a_coarse_clock_does_not_see_took_a_nanosecond(clock) -> None:
    found = timing.Collected()
    timing.collect(lambda side, number: lambda: None, [order.OLD_FIRST], clock.sampler(), found)
    assert found.host == {"old": [1, 1], "new": [1, 1]}


def test_garbage_is_freed_after_a_block_and_never_in_a_sample(clock, monkeypatch) -> None:
    freed = []
    monkeypatch.setattr(timing.gc, "collect", lambda generation: freed.append(clock.time))
    blocks = timing.tidied([order.OLD_FIRST, order.NEW_FIRST])
    found = timing.Collected()
    timing.collect(lambda side, number: partial(clock.wait, 100), blocks, clock.sampler(), found)
    assert freed == [400, 800]


def test_garbage_of_calls_that_are_made_again_is_freed_as_well(clock, monkeypatch) -> None:
    freed = []
    monkeypatch.setattr(timing.gc, "collect", freed.append)
    collected(Interrupted(clock, at=range(7)), [order.OLD_FIRST])
    assert len(freed) == 4


class Interrupted(Calls):
    """The kernel takes the core away in the calls whose numbers, from 0, are given."""

    def __init__(self, clock, at) -> None:
        super().__init__(clock)
        self.at = at

    def __call__(self, side, number):
        is_hit = len(self.made) in self.at
        call = super().__call__(side, number)

        def interrupted() -> None:
            call()
            if is_hit:
                self.clock.interruptions += 1
                self.clock.wait(10**7)

        return interrupted


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sets(st.integers(0, 60)))
def test_whatever_is_interrupted_both_sides_are_called_in_pairs(clock, at) -> None:
    calls = Interrupted(clock, at=at)
    found = collected(calls, [order.OLD_FIRST, order.NEW_FIRST] * 3).samples()
    pairs = list(zip(calls.made[::2], calls.made[1::2], strict=True))
    assert all({one[0], other[0]} == {"old", "new"} and one[1] == other[1] for one, other in pairs)
    assert len(found.host["old"]) == len(found.host["new"]) == 12


def test_a_pair_that_was_interrupted_is_made_again_at_once(clock) -> None:
    calls = Interrupted(clock, at=[2])
    found = collected(calls, [order.OLD_FIRST, order.NEW_FIRST]).samples()
    assert found.host == {"old": [300] * 4, "new": [200] * 4}
    assert found.repeated == 2
    assert found.order == "onno noon"
    assert calls.made == [
        ("old", 0), ("new", 0), ("new", 1), ("old", 1), ("new", 1), ("old", 1),
        ("new", 2), ("old", 2), ("old", 3), ("new", 3),
    ]  # fmt: skip


def test_what_is_interrupted_while_inputs_are_made_does_not_matter(clock) -> None:
    def prepare(side, number):
        clock.interruptions += 1
        return partial(clock.wait, TAKES[side])

    found = timing.Collected()
    timing.collect(prepare, [order.OLD_FIRST], clock.sampler(), found)
    assert found.repeated == 0


def test_where_every_call_is_interrupted_an_end_comes_soon(clock) -> None:
    calls = Interrupted(clock, at=range(10_000))
    found = collected(calls, [order.OLD_FIRST] * 20)
    assert len(found.order) == 20
    assert found.repeated == 10


def prolonged(calls, iterations: int, prolong: int, hides) -> Samples:
    found = timing.Collected()
    blocks = timing.prolonged(random.Random(0), found, iterations, prolong, hides)
    timing.collect(calls, blocks, calls.clock.sampler(), found)
    return found.samples()


def test_a_row_goes_on_while_its_samples_hide_a_difference(calls) -> None:
    asked = []

    def hides(samples: Samples) -> bool:
        asked.append(len(samples.host["old"]))
        return len(asked) < 3

    assert {len(side) for side in prolonged(calls, 4, 10, hides).host.values()} == {12}
    assert asked == [4, 8, 12]


@pytest.mark.parametrize(("iterations", "prolong", "each"), [(4, 3, 12), (5, 3, 13), (5, 1, 5), (1, 9, 1)])
def test_it_goes_on_in_whole_blocks_and_ends(calls, iterations: int, prolong: int, each: int) -> None:
    samples = prolonged(calls, iterations, prolong, lambda samples: True)
    assert {len(side) for side in samples.host.values()} == {each}
    assert {len(block) for block in samples.order.split()[: each // 2]} <= {4}


def budgeted(calls, budget_ns, enough=lambda samples: False) -> Samples:
    found = timing.Collected()
    blocks = timing.until(order.drawn(random.Random(0)), found, calls.clock, budget_ns, enough)
    timing.collect(calls, blocks, calls.clock.sampler(), found)
    return found.samples()


def test_a_time_budget_ends_a_row(calls) -> None:
    # A block takes 4 s and 1000 ns here.
    assert len(budgeted(calls, budget_ns=40_000_000_000).order.split()) == 10


def test_a_time_budget_is_not_used_up_when_the_samples_are_enough(calls) -> None:
    asked = []

    def enough(samples: Samples) -> bool:
        asked.append(len(samples.host["old"]))
        return len(asked) == 3

    assert len(budgeted(calls, 10**15, enough).order.split()) == 18
    assert asked == [16, 24, 36]


def test_however_small_a_time_budget_is_there_is_a_block(calls) -> None:
    assert budgeted(calls, budget_ns=0).order in ("onno", "noon")


def test_within_a_time_budget_no_more_blocks_are_taken_than_there_are(calls) -> None:
    found = timing.Collected()
    blocks = timing.until(order.alternating(3, "new"), found, calls.clock, 10**15, lambda samples: False)
    timing.collect(calls, blocks, calls.clock.sampler(), found)
    assert found.samples().order == "no no no"


def test_a_time_budget_ends_with_very_many_samples_too(clock) -> None:
    found = timing.Collected()
    blocks = timing.until(order.drawn(random.Random(0)), found, clock, 10**15, lambda samples: False)
    timing.collect(lambda side, number: partial(clock.wait, 1), blocks, clock.sampler(), found)
    assert len(found.order) == timing.MOST_BLOCKS
