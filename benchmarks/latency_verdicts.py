"""Are the verdicts sound? A function against itself, and against itself slowed by 5 %, on this machine.

    python benchmarks/latency_verdicts.py [AA_ROWS [AB_ROWS [ITERATIONS]]]

A/A: a small function on CPU tensors, 200 rows: at most 5 % of them may get a verdict other than "no
difference", and none once the verdicts are corrected for their number. A/B: a function of about 1 ms with 5 %
more work: the slowdown has to be found in at least 95 of 100 rows. Each row has 25 warm-ups and 100
iterations a side, timed as `syncscope bench` times them: more, up to 1,000, while the noise of a row could
hide 10 %. Exit code 1 where one of these limits is broken: on a machine so busy that 1,000 don't help, a row
is "inconclusive", which is not wrong, but counts as another verdict all the same.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial

import torch

from syncscope.latency import timing, verdicts
from syncscope.latency.order import Side
from syncscope.latency.record import Latency, Timing, Verdict
from syncscope.latency.samplers import Call, HostSampler

VALUES = torch.arange(1_000, dtype=torch.float32)


def small() -> object:
    """A small function on the CPU."""
    return VALUES.sort().values.sum()


def work(rounds: int) -> Call:
    """A function whose time is in proportion to ``rounds``."""

    def run() -> int:
        total = 0
        for each in range(rounds):
            total += each
        return total

    return run


def rounds_of_a_millisecond() -> int:
    """How much work takes one millisecond when nothing disturbs it."""
    rounds, best = 10_000, float("inf")
    for _ in range(200):
        start = time.perf_counter()
        work(rounds)()
        best = min(best, time.perf_counter() - start)
    return round(rounds * 1e-3 / best)


def rows(old: Call, new: Call, number: int, iterations: int) -> Iterator[Latency]:
    """Time old against new again and again."""

    def prepared(side: Side, at: int) -> Call:
        return old if side == "old" else new

    hides = partial(verdicts.hides, rows=number)
    for _ in range(number):
        with timing.steady(threads=1):
            timing.warm(prepared, 25)
            collected = timing.Collected()
            blocks = timing.prolonged(random.Random(), collected, iterations, Timing.prolong, hides)
            timing.collect(prepared, timing.tidied(blocks), HostSampler(), collected)
        yield verdicts.latency(collected.samples(), "cpu")


def told(name: str, found: list[Latency], wanted: str, before: int, after: int) -> bool:
    """Print the verdicts of some rows ``before`` and ``after`` their correction, at most so many others.

    Whether these limits are kept.
    """
    corrected = [row.corrected for row in verdicts.corrected(found)]
    uncorrected = [row.verdict for row in found]
    others = [
        said(f"{name}, {when}", seen, wanted, most)
        for when, seen, most in (("uncorrected", uncorrected, before), ("corrected", corrected, after))
    ]
    visible = sorted(row.smallest_visible or float("inf") for row in found)
    repeated = sum(row.samples.repeated for row in found)
    longest = max(row.iterations for row in found)
    longer = sum(row.iterations > min(row.iterations for row in found) for row in found)
    print(
        f"{name}: sees {visible[len(visible) // 2]:.2%} in the median row, {visible[-1]:.1%} at worst; "
        f"{longer} rows went on, the longest to {longest}; {repeated} calls made again",
        flush=True,
    )
    return all(others)


def said(what: str, seen: list[Verdict], wanted: str, most: int) -> bool:
    """Print some verdicts, and whether at most so many of them are others than the one that is wanted."""
    others = sum(verdict != wanted for verdict in seen)
    each = ", ".join(f"{number} {verdict}" for verdict, number in Counter(seen).most_common())
    print(f"{what}: {each}: {others} of {len(seen)} other than {wanted!r} (at most {most})")
    return others <= most


def main(aa_rows: int = 200, ab_rows: int = 100, iterations: int = 100) -> None:
    """Run both."""
    aa = list(rows(small, small, aa_rows, iterations))
    is_sound = told("A/A", aa, "no difference", before=aa_rows // 20, after=0)
    rounds = rounds_of_a_millisecond()
    ab = list(rows(work(rounds), work(round(rounds * 1.05)), ab_rows, iterations))
    finds = told("A/B 5 %", ab, "slower", before=ab_rows // 20, after=ab_rows // 20)
    sys.exit(0 if is_sound and finds else 1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
