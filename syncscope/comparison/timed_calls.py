"""The calls that are timed: the subjects as they are, with inputs that were made before the clock is read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

from syncscope.comparison.calls import Runner
from syncscope.comparison.parity import argument_differences
from syncscope.comparison.results import Side
from syncscope.latency import timing
from syncscope.latency.order import Block
from syncscope.latency.record import Samples
from syncscope.latency.samplers import Call, Sampler
from syncscope.subjects import Unusable
from syncscope.subjects.made_inputs import Arguments

Runners = Mapping[Side, Runner]


class Calls:
    """Takes samples of both sides of one case.

    Inputs are fresh for every call, or ``rotate`` sets a side that are made once and used in turn; the seeds
    are taken in turn as well.
    """

    def __init__(self, runners: Runners, seeds: tuple[int, ...], rotate: int = 0) -> None:
        """Call each side once: is what it returns to be run to its end?

        Raises:
            CallFailed: a subject raised.
            Unusable: a subject writes into inputs that are to be rotated.
        """
        self._runners = runners
        self._seeds = seeds
        self._last: Side = "old"
        self._sets = {side: [self._fresh(side, number) for number in range(rotate)] for side in runners}
        with self._blaming():
            self._is_lazy = {side: isinstance(self._bare(side, 0)(), Iterator) for side in runners}
        if rotate:
            self._check_unwritten()

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
            timing.collect(self._prepared, blocks, sampler, collected)
        return collected.samples()

    def _prepared(self, side: Side, number: int) -> Call:
        call = self._bare(side, number)
        return partial(_exhaust, call) if self._is_lazy[side] else call

    def _bare(self, side: Side, number: int) -> Callable[[], object]:
        self._last = side
        sets = self._sets[side]
        args, kwargs = sets[number % len(sets)] if sets else self._fresh(side, number)
        return partial(self._runners[side].subject.function, *args, **kwargs)

    def _fresh(self, side: Side, number: int) -> Arguments:
        runner = self._runners[side]
        return runner.workload.inputs(runner.case, self._seeds[number % len(self._seeds)], runner.device)

    def _check_unwritten(self) -> None:
        """The first set, with which each side was called, has to be as if it were fresh."""
        for side in self._runners:
            called, fresh = ({"inputs": made} for made in (self._sets[side][0], self._fresh(side, 0)))
            if argument_differences(fresh, called):
                raise Unusable(
                    f"rotate: {side} writes into its arguments, so that its calls would differ: "
                    "leave --rotate out"
                )

    @contextmanager
    def _blaming(self) -> Iterator[None]:
        """Tell an error as that of the side which was called last."""
        try:
            yield
        except Unusable:
            raise
        except (Exception, SystemExit) as error:
            raise self._runners[self._last].failed(error) from error


def _exhaust(call: Callable[..., Any]) -> None:
    deque(call(), maxlen=0)
