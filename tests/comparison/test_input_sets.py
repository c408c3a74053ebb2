"""Inputs for timed calls: fresh for each, made for many at a time, as many as memory should hold."""

from __future__ import annotations

import itertools
import random

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.comparison.input_sets import (
    Fresh,
    Maker,
    OneByOne,
    Rotated,
    ahead,
    check_rotation,
    state,
)
from syncscope.subjects import Unusable


class Numbered:
    """Makes sets that tell their seed, and keeps how many it made at a time."""

    def __init__(self) -> None:
        self.series_of: list[int] = []

    def series(self, case, seeds, device):
        self.series_of.append(len(seeds))
        return [((seed, object()), {}) for seed in seeds]


def maker(workload, seeds=(0,)) -> Maker:
    return Maker(workload, {}, "cpu", seeds)


sides = st.lists(st.sampled_from(("old", "new")), min_size=1, max_size=60)


@settings(deadline=None)
@given(sides, st.integers(1, 5), st.integers(1, 7))
def test_each_call_has_a_set_of_its_own_and_of_its_seed(calls, seeds, together) -> None:
    """Whatever is asked for in which order: calls are made again as well."""
    workload = Numbered()
    sets = Fresh(maker(workload, tuple(range(seeds))), together, random.Random(0))
    taken = [(sets.take(side, number), number) for number, side in enumerate(calls)]
    assert [args[0] for (args, _), _ in taken] == [number % seeds for _, number in taken]
    assert len({id(args[1]) for (args, _), _ in taken}) == len(calls)


def test_sets_are_made_for_many_calls_at_once() -> None:
    workload = Numbered()
    sets = Fresh(maker(workload), 50, random.Random(0))
    for number in range(100):
        sets.take("old", number), sets.take("new", number)
    assert workload.series_of == [100, 100]


def test_or_each_right_before_its_call() -> None:
    workload = Numbered()
    sets = OneByOne(maker(workload, (5, 6)))
    assert [sets.take("old", number)[0][0] for number in range(3)] == [5, 6, 5]
    assert workload.series_of == [1, 1, 1]


def test_rotated_sets_come_in_turn_and_have_the_seeds_in_turn() -> None:
    sets = Rotated(maker(Numbered(), (5, 6)), 3, random.Random(0))
    taken = [sets.take("new", number) for number in range(6)]
    assert [args[0] for args, _ in taken[:3]] == [5, 6, 5]
    others = [sets.take("old", number) for number in range(6)]
    # In each turn two equal sets, and each time the same two.
    assert [args[0] for args, _ in others] == [5, 6, 5] * 2
    pairs = [{id(one), id(other)} for one, other in zip(taken, others, strict=True)]
    assert {len(pair) for pair in pairs} == {2}
    assert pairs[:3] == pairs[3:]


@pytest.mark.parametrize("kind", [Fresh, Rotated])
def test_which_side_has_which_of_two_equal_sets_is_drawn(kind) -> None:
    """Younger inputs lie nearer: those of one side would make it the faster."""

    class InOrder:
        made = itertools.count()

        def series(self, case, seeds, device):
            return [((next(self.made),), {}) for _ in seeds]

    sets = kind(maker(InOrder()), 50, random.Random(0))
    turns = [[sets.take(side, number)[0][0] for side in ("old", "new")] for number in range(100)]
    assert 30 < sum(old < new for old, new in turns) < 70


def made(*values: object) -> tuple[tuple[object, ...], dict[str, object]]:
    return values, {}


MODEL = torch.nn.Linear(1_000, 1_000)


@pytest.mark.parametrize(
    ("values", "number"),
    [
        (lambda: [3], 50),
        (lambda: [torch.zeros(2**20)], 4),
        (lambda: [{"x": [numpy.zeros(2**19)]}], 4),
        (lambda: [torch.zeros(2**20).to_sparse()], 4),
        (lambda: [torch.zeros(2**23)], 1),
        (lambda: [torch.nn.Linear(2**10, 2**10, bias=False)], 4),
        # What all sets share takes no more memory for many.
        (lambda: [MODEL, torch.zeros(3)], 50),
    ],
)
def test_large_sets_are_made_fewer_at_a_time(values, number) -> None:
    assert ahead(made(*values()), made(*values())) == number


def test_more_rotated_sets_than_memory_should_hold_are_refused() -> None:
    large = made(torch.zeros(2**20, device="meta")), made(torch.zeros(2**20, device="meta"))
    check_rotation(512, *large)
    with pytest.raises(
        Unusable, match=r"^rotate: 513 sets of each side would take 4\.0 GiB, at most 4 are held: give fewer$"
    ):
        check_rotation(513, *large)


def test_a_write_is_seen_whichever_name_it_has() -> None:
    common = torch.zeros(4)
    one, other = made(common, torch.zeros(3)), made(common.view(2, 2), torch.zeros(3))
    before = state(other)
    one[0][1].add_(1)
    assert state(other) == before
    one[0][0].add_(1)
    assert state(other) != before
