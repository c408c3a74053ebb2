"""The latency of one case: a run of its own, in which nothing is observed, patched or simulated."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

from syncscope.comparison.calls import defaults_kept
from syncscope.comparison.left import Runners
from syncscope.comparison.timed_calls import Calls
from syncscope.latency import order, recheck, timing, verdicts
from syncscope.latency.clock import Clock, PerfCounter
from syncscope.latency.record import Latency, Samples, TimedOn, Timing
from syncscope.latency.samplers import CudaSampler, HostSampler, Sampler
from syncscope.subjects.seeds import seeded


def timed(runners: Runners, seeds: tuple[int, ...], how: Timing, on: TimedOn, rows: int) -> Latency:
    """Time old and new, whose outputs are equal, as one of so many rows; where new looks slower, once more.

    Raises:
        CallFailed: a subject raised.
        Unusable: the inputs are to be rotated and a subject writes into them.
    """
    clock = PerfCounter()
    sampler = CudaSampler(clock) if on == "cuda" else HostSampler(clock)
    with timing.steady(how.threads), seeded(seeds[0]), defaults_kept():
        calls = Calls(runners, seeds, how.rotate)
        calls.warm(how.warmups)
        found = verdicts.latency(_sampled(calls, how, sampler, clock, rows), on)
        if not recheck.needed(found.speedup, how.recheck_beyond):
            return found
        again = recheck.rechecked(
            lambda blocks: calls.taken(blocks, sampler), how.recheck_beyond, how.recheck_iterations
        )
        return replace(found, recheck=again)


def _sampled(calls: Calls, how: Timing, sampler: Sampler, clock: Clock, rows: int) -> Samples:
    # The order is drawn anew for every row.
    coin, collected = random.Random(), timing.Collected()
    if how.budget_s is None:
        hides = partial(verdicts.hides, rows=rows)
        blocks = timing.prolonged(coin, collected, how.iterations, how.prolong, hides)
    else:
        budget_ns, are_enough = round(how.budget_s * 1e9), partial(verdicts.is_narrow, rows=rows)
        blocks = timing.until(order.drawn(coin), collected, clock, budget_ns, are_enough)
    return calls.taken(blocks, sampler, collected)
