"""The calls that are timed: the subjects as they are, with inputs that were made before the clock is read."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple

from syncscope.comparison import input_sets
from syncscope.comparison.consuming import consumed
from syncscope.comparison.defaults import Defaults
from syncscope.comparison.input_sets import InputSets, Maker
from syncscope.comparison.left import Runners
from syncscope.comparison.parity import argument_differences
from syncscope.events import SIDES, Side
from syncscope.latency import timing
from syncscope.latency.order import Block
from syncscope.latency.record import Samples
from syncscope.latency.samplers import Call, Sampler
from syncscope.subjects import Unusable
from syncscope.subjects.made_inputs import Arguments
from syncscope.subjects.raised import told_as


class _First(NamedTuple):
    """The first call of a side: with what, whether it wrote into that, and whether its result is lazy."""

    made: Arguments
    wrote: bool
    is_lazy: bool


class Calls:
    """Takes samples of both sides of one case.

    Inputs are fresh for every call, or ``rotate`` sets a side that are made once and used in turn; the seeds
    are taken in turn as well.
    """

    def __init__(self, runners: Runners, seeds: tuple[int, ...], defaults: Defaults, rotate: int = 0) -> None:
        """Call each side once: is what it returns to be run to its end, and does it write into its inputs?

        Before each call and the making of its inputs torch's ``defaults`` are put back.

        Raises:
            CallFailed: a subject raised.
            Unusable: the inputs can't be made, or not be rotated: a subject writes into them, or they are too
                few or too large.
        """
        self._runners = runners
        self._defaults = defaults
        self._last: Side = "old"
        old = runners["old"]
        maker = Maker(old.workload, old.case, old.device, seeds)
        spare = maker.one(0)
        before = input_sets.state(spare)
        called = {side: self._first_call(side, maker.one(0)) for side in SIDES}
        self._is_lazy = {side: first.is_lazy for side, first in called.items()}
        is_apart = input_sets.state(spare) == before and not self._is_overwritten(maker, spare, called)
        self._sets: InputSets
        if rotate:
            for side, first in called.items():
                _check_unwritten(side, first, spare, is_apart)
            input_sets.check_rotation(rotate, called["old"].made, spare)
            self._sets = input_sets.Rotated(maker, rotate, random.Random())
        elif is_apart:
            together = input_sets.ahead(called["old"].made, spare)
            self._sets = input_sets.Fresh(maker, together, random.Random())
        else:
            self._sets = input_sets.OneByOne(maker)

    def warm(self, warmups: int) -> None:
        """Call both sides ``warmups`` times without a look at the clock."""
        with self._blaming():
            timing.warm(self._prepared, warmups)

    def taken(
        self, blocks: Iterable[Block], sampler: Sampler, into: timing.Collected | None = None
    ) -> Samples:
        """The samples of some blocks."""
        collected = into or timing.Collected()
        with self._blaming():
            timing.collect(self._prepared, timing.tidied(blocks), sampler, collected)
        return collected.samples()

    def _prepared(self, side: Side, number: int) -> Call:
        self._defaults.put_back()
        call = self._call(side, self._sets.take(side, number))
        return partial(_exhaust, call) if self._is_lazy[side] else call

    def _call(self, side: Side, made: Arguments) -> Callable[[], object]:
        self._last = side
        args, kwargs = made
        return partial(self._runners[side].subject.function, *args, **kwargs)

    def _first_call(self, side: Side, made: Arguments) -> _First:
        """Call once, to the end."""
        before = input_sets.state(made)
        with self._blaming():
            output = self._call(side, made)()
            is_lazy = consumed(output) is not output
        self._defaults.put_back()
        return _First(made, input_sets.state(made) != before, is_lazy)

    @staticmethod
    def _is_overwritten(maker: Maker, spare: Arguments, called: Mapping[Side, _First]) -> bool:
        """Whether sets lie in one buffer, which calls or the making of the next set write into."""
        if any(each.wrote and input_sets.is_one_memory(spare, each.made) for each in called.values()):
            return True
        if len(maker.seeds) == 1:
            return False
        before = input_sets.state(spare)
        other = maker.one(1)
        return input_sets.state(spare) != before or input_sets.is_one_memory(spare, other)

    def _blaming(self) -> AbstractContextManager[None]:
        """Tell an error as that of the side which was called last."""
        return told_as(lambda error: self._runners[self._last].failed(error))


def _check_unwritten(side: Side, called: _First, fresh: Arguments, is_apart: bool) -> None:
    """The set with which a side was called has to be as if it were fresh, and that one untouched."""
    written = called.wrote or argument_differences({"inputs": fresh}, {"inputs": called.made})
    if written or not is_apart:
        raise Unusable(
            f"rotate: {side} writes into its arguments, so that its calls would differ: leave --rotate out"
        )


def _exhaust(call: Callable[..., Any]) -> None:
    output = call()
    if isinstance(output, Iterator):
        deque(output, maxlen=0)
    else:
        consumed(output)
