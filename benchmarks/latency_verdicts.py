"""Are the verdicts sound? Functions against themselves, and slowed by 5 %, on this machine.

    python benchmarks/latency_verdicts.py [AA_ROWS [AB_ROWS [ITERATIONS]]]

A/A: a small function on CPU tensors, 200 rows: at most 5 % of them may get a verdict other than "no
difference", and none once the verdicts are corrected for their number. The same of a function that reads
inputs of 256 kB, for which it matters where these lie. A/B: a function of about 1 ms with 5 % more work: the
slowdown has to be found in at least 95 of 100 rows.

The rows are those of `syncscope bench`: outputs compared, 25 warm-ups, 100 iterations a side with fresh
inputs, more, up to 1,000, while the noise of a row could hide 10 %, waits counted. Only the second look at
slower rows is left out. Exit code 1 where one of these limits is broken: on a machine so busy that 1,000
don't help, a row is "inconclusive", which is not wrong, but counts as another verdict all the same.
"""

import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from syncscope.bench.machine import this_machine
from syncscope.bench.matrix import bench
from syncscope.bench.plan import Plan, load
from syncscope.latency.record import Latency, Timing, Verdict
from syncscope.subjects.cases import sweep_of

SMALL = """
import torch
def make_inputs(row):
    return (torch.rand(1_000),)
def run(x):
    return x.sort().values.sum()
"""
LARGE = """
import torch
def make_inputs(row):
    return (torch.rand(256, 256),)
def run(x):
    return x.sum()
"""
WORK = """
def make_inputs(row):
    return ()
def run():
    total = 0
    for each in range({rounds}):
        total += each
"""


def rounds_of_a_millisecond() -> int:
    """How much work takes one millisecond when nothing disturbs it."""
    rounds, best, names = 10_000, float("inf"), {}
    exec(WORK.format(rounds=rounds), names)
    for _ in range(200):
        start = time.perf_counter()
        names["run"]()
        best = min(best, time.perf_counter() - start)
    return round(rounds * 1e-3 / best)


def rows(old: str, new: str, number: int, iterations: int) -> list[Latency]:
    """Time the subject with the text ``old`` against that with the text ``new`` again and again."""
    Path("old.py").write_text(old)
    Path("new.py").write_text(new)
    how = Timing(iterations=iterations, recheck_beyond=float("inf"))
    plan = Plan("old.py::run", "new.py::run", sweep_of([("row", range(number))]), "cpu", how)
    found = bench(plan, load(plan), this_machine("cpu"))
    return [row.latency for row in found.rows if row.latency]


def told(name: str, found: list[Latency], wanted: str, before: int, after: int) -> bool:
    """Print the verdicts of some rows ``before`` and ``after`` their correction, at most so many others.

    Whether these limits are kept.
    """
    corrected = [row.corrected for row in found]
    uncorrected = [row.verdict for row in found]
    others = [
        said(f"{name}, {when}", seen, wanted, most)
        for when, seen, most in (("uncorrected", uncorrected, before), ("corrected", corrected, after))
    ]
    visible = sorted(row.smallest_visible or float("inf") for row in found)
    lengths = [row.iterations for row in found]
    print(
        f"{name}: sees {visible[len(visible) // 2]:.2%} in the median row, {visible[-1]:.1%} at worst; "
        f"{sum(each > min(lengths) for each in lengths)} rows went on, the longest to {max(lengths)}; "
        f"{sum(row.samples.repeated for row in found)} calls made again",
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
    """Run all three."""
    kept = []
    for name, text in (("A/A", SMALL), ("A/A, 256 kB", LARGE)):
        found = rows(text, text, aa_rows, iterations)
        kept.append(told(name, found, "no difference", before=aa_rows // 20, after=0))
    rounds = rounds_of_a_millisecond()
    ab = rows(WORK.format(rounds=rounds), WORK.format(rounds=round(rounds * 1.05)), ab_rows, iterations)
    kept.append(told("A/B 5 %", ab, "slower", before=ab_rows // 20, after=ab_rows // 20))
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main(*map(int, sys.argv[1:]))
