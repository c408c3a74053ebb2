"""What the harness costs a sample, beside torch.utils.benchmark's Timer on the same function, in one run.

    python benchmarks/latency_overhead.py [ROUNDS]

The function does nothing. Two figures, each the smallest of some rounds in turn: what a sample takes in all,
where Timer's is `timeit(1)`, its way to time a single call; and what the harness says that the empty function
takes, where Timer's is its `blocked_autorange`, over many calls in a row.
"""

import random
import sys
import time
from collections.abc import Callable

from torch.utils.benchmark import Timer

from syncscope.latency import order, timing
from syncscope.latency.order import Side
from syncscope.latency.samplers import Call, HostSampler

SAMPLES = 200


def nothing() -> None:
    """The function that is timed."""


def prepared(side: Side, number: int) -> Call:
    """No inputs to make."""
    return nothing


def ours() -> timing.Collected:
    """As `syncscope bench` takes samples: 200, 100 a side."""
    collected = timing.Collected()
    blocks = order.balanced(SAMPLES // 2, random.Random(0))
    timing.collect(prepared, blocks, HostSampler(), collected)
    return collected


def theirs() -> None:
    """As many samples of a single call."""
    timer = Timer("nothing()", globals={"nothing": nothing})
    for _ in range(SAMPLES):
        timer.timeit(1)


def microseconds(run: Callable[[], object]) -> float:
    """Wall time a sample."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) / SAMPLES * 1e6


def main(rounds: int = 20) -> None:
    """Both in turn."""
    mine, timers = [], []
    for _ in range(rounds):
        mine.append(microseconds(ours))
        timers.append(microseconds(theirs))
    ratio = min(mine) / min(timers)
    print(f"a sample costs {min(mine):.2f} µs, Timer's {min(timers):.2f} µs: {ratio:.2f} times")
    host = ours().host
    empty = sorted(host["old"] + host["new"])[SAMPLES // 2] / 1e3
    bare = Timer("nothing()", globals={"nothing": nothing}).blocked_autorange().median * 1e6
    print(f"an empty function takes {empty:.3f} µs by one sample, {bare:.3f} µs by many calls in a row")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
