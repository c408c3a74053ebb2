"""Are the verdicts sound? A function against itself, and against itself slowed by 5 %, on this machine.

    python benchmarks/latency_verdicts.py [AA_ROWS [AB_ROWS [ITERATIONS]]]

A/A: a small function on CPU tensors, 200 rows: at most 5 % of them may get a verdict other than "no
difference", and none once the verdicts are corrected for their number. A/B: a function of about 1 ms with 5 %
more work: the slowdown has to be found in at least 95 of 100 rows. Each row has 25 warm-ups and 100
iterations a side, timed as `syncscope bench` times them.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

import torch

from syncscope.latency import order, timing, verdicts
from syncscope.latency.order import Side
from syncscope.latency.record import Latency
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

    for _ in range(number):
        with timing.steady(threads=1):
            timing.warm(prepared, 25)
            collected = timing.Collected()
            timing.collect(prepared, order.balanced(iterations, random.Random()), HostSampler(), collected)
        yield verdicts.latency(collected.samples(), "cpu")


def told(name: str, found: list[Latency], wanted: str, most: Callable[[int], str]) -> None:
    """Print the verdicts of some rows before and after their correction."""
    after = verdicts.corrected(found)
    for when, seen in (
        ("uncorrected", [row.verdict for row in found]),
        ("corrected", [row.corrected for row in after]),
    ):
        others = sum(verdict != wanted for verdict in seen)
        told = ", ".join(f"{number} {verdict}" for verdict, number in Counter(seen).most_common())
        print(f"{name}, {when}: {told}: {others} of {len(seen)} other than {wanted!r}{most(len(seen))}")
    visible = sorted(row.smallest_visible or float("inf") for row in found)
    repeated = sum(row.samples.repeated for row in found)
    print(f"{name}: sees {visible[len(visible) // 2]:.2%} in the median row, {visible[-1]:.1%} at worst; "
          f"{repeated} calls made again", flush=True)  # fmt: skip


def main(aa_rows: int = 200, ab_rows: int = 100, iterations: int = 100) -> None:
    """Run both."""
    aa = list(rows(small, small, aa_rows, iterations))
    told("A/A", aa, "no difference", lambda n: f" (at most {n // 20} before the correction, none after)")
    rounds = rounds_of_a_millisecond()
    ab = list(rows(work(rounds), work(round(rounds * 1.05)), ab_rows, iterations))
    told("A/B 5 %", ab, "slower", lambda n: f" (at most {n // 20})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
