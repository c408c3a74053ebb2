"""Old and new come equally often, early and late, in an order that is drawn."""

from __future__ import annotations

import random
from collections import Counter
from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.latency import order


@settings(deadline=None)
@given(st.integers(1, 300), st.integers())
def test_each_side_is_called_as_often_as_asked(iterations: int, seed: int) -> None:
    calls = [side for block in order.balanced(iterations, random.Random(seed)) for side in block]
    assert Counter(calls) == {"old": iterations, "new": iterations}


@settings(deadline=None)
@given(st.integers(1, 150), st.integers())
def test_in_each_block_both_sides_are_equally_early(blocks: int, seed: int) -> None:
    for block in order.balanced(2 * blocks, random.Random(seed)):
        places = {side: [at for at, each in enumerate(block) if each == side] for side in ("old", "new")}
        assert len(block) == 4
        assert sum(places["old"]) == sum(places["new"])


def test_which_side_begins_is_a_coins_throw() -> None:
    first = Counter(block[0] for block in islice(order.drawn(random.Random(0)), 1_000))
    assert 440 < first["old"] < 560


def test_an_odd_number_ends_in_a_pair() -> None:
    blocks = list(order.balanced(5, random.Random(0)))
    assert [len(block) for block in blocks] == [4, 4, 2]


def test_the_trials_of_a_recheck_alternate() -> None:
    assert list(order.alternating(2, "new")) == [("new", "old"), ("new", "old")]
    assert list(order.alternating(1, "old")) == [("old", "new")]
