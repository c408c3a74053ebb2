"""The latency of one case: a run of its own, in which nothing is observed, patched or simulated."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable
from dataclasses import dataclass, replace

from syncscope.comparison import left
from syncscope.comparison.defaults import defaults_kept
from syncscope.comparison.left import Runners
from syncscope.comparison.results import Parity
from syncscope.comparison.timed_calls import Calls
from syncscope.latency import order, timing, verdicts
from syncscope.latency.clock import Clock, PerfCounter
from syncscope.latency.order import Block
from syncscope.latency.recheck import TRIALS, needed, rechecked
from syncscope.latency.record import Latency, Recheck, Samples, TimedOn, Timing
from syncscope.latency.samplers import Sampler, sampler_on
from syncscope.subjects.cases import place
from syncscope.subjects.seeds import seeded

_LOG = logging.getLogger(__name__)
# What takes longer than a user waits without asking is announced.
_LONG_NS = 30 * 10**9


def timed_if_still_equal(
    runners: Runners, seeds: tuple[int, ...], how: Timing, on: TimedOn, rows: int, parity: Parity
) -> tuple[Latency | None, Parity]:
    """Time a case whose outputs are equal, and compare them once more: equal at first isn't yet equal later.

    Returns:
        The latency, unless the outputs differ afterwards, and the parity then.

    Raises:
        CallFailed, Unusable: as ``timed``.
    """
    latency = timed(runners, seeds, how, on, rows)
    after = left.parity_after_timing(runners, seeds, parity)
    return (latency if after.equal else None), after


def timed(runners: Runners, seeds: tuple[int, ...], how: Timing, on: TimedOn, rows: int) -> Latency:
    """Time old and new, whose outputs are equal, as one of so many rows; where new looks slower, once more.

    Raises:
        CallFailed: a subject raised.
        Unusable: the inputs are to be rotated and a subject writes into them.
    """
    clock = PerfCounter()
    sampler = sampler_on(on, clock)
    with timing.steady(how.threads), seeded(seeds[0]), defaults_kept() as defaults:
        calls = Calls(runners, seeds, defaults, how.rotate)
        calls.warm(how.warmups)
        row = _Row(calls, how, sampler, clock, rows, place(runners["old"].case))
        found = verdicts.latency(row.samples(), on)
        if not needed(found.speedup, how.recheck_beyond):
            return found
        return replace(found, recheck=row.recheck(found))


@dataclass(frozen=True)
class _Row:
    """Takes the samples of a row that is one of ``rows``."""

    calls: Calls
    how: Timing
    sampler: Sampler
    clock: Clock
    rows: int
    place: str

    def samples(self) -> Samples:
        """As many as the row is to have."""
        # The order is drawn anew for every row.
        coin, collected = random.Random(), timing.Collected()
        if self.how.budget_s is None:
            iterations, prolong = self.how.iterations, self.how.prolong
            blocks = timing.prolonged(coin, collected, iterations, prolong, self._hides)
        else:
            blocks = timing.until(
                order.drawn(coin), collected, self.clock, self._budget_ns(), self._is_narrow
            )
        return self.calls.taken(blocks, self.sampler, collected)

    def recheck(self, found: Latency) -> Recheck:
        """The trials of a row that looks slower; all of them take as long as a budget at most."""
        iterations = self.how.recheck_iterations
        if self.how.budget_s is None:
            self._announce("slower, and run again", TRIALS * iterations * (found.old.p50 + found.new.p50))
        return rechecked(self._trial, self.how.recheck_beyond, iterations)

    def _trial(self, blocks: Iterable[Block]) -> Samples:
        collected = timing.Collected()
        if self.how.budget_s is not None:
            budget_ns = self._budget_ns() // TRIALS
            blocks = timing.until(blocks, collected, self.clock, budget_ns, lambda samples: False)
        return self.calls.taken(blocks, self.sampler, collected)

    def _budget_ns(self) -> int:
        return round((self.how.budget_s or 0) * 1e9)

    def _is_narrow(self, samples: Samples) -> bool:
        return verdicts.is_narrow(samples, self.rows)

    def _hides(self, samples: Samples) -> bool:
        hides, host = verdicts.hides(samples, self.rows), samples.host
        if hides and len(host["old"]) <= self.how.iterations:
            so_far = sum(host["old"]) + sum(host["new"])
            self._announce(
                "noise could hide 10 %, and it goes on", (self.how.prolong - 1) * so_far, "at most "
            )
        return hides

    def _announce(self, what: str, ns: float, bound: str = "about ") -> None:
        if ns > _LONG_NS:
            _LOG.warning("%s: %s: %s%.0f min", self.place, what, bound, ns / 60e9)
