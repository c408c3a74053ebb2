"""What the harness costs a sample, beside torch.utils.benchmark's Timer on the same function, in one run.

    python benchmarks/latency_overhead.py [ROUNDS]

The function does nothing with a small tensor. Its calls are taken as `syncscope bench` takes them, inputs and
all, with fresh inputs for every call and with `--rotate 10`. Timer does the same work: its setup makes the
inputs, where they are fresh, from seeded random numbers, since each call has to be given equal ones, and
`timeit(1)` is its way to time a single call. Wall time a sample, the smallest of some rounds in turn; exit
code 1 where the harness takes longer than Timer. Beside it Timer with unseeded inputs, and what both say that
the function itself takes, where Timer's is its `blocked_autorange`, over many calls in a row.
"""

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from torch.utils.benchmark import Timer

from syncscope.bench.plan import Plan, load
from syncscope.comparison.calls import Runner
from syncscope.comparison.defaults import Defaults
from syncscope.comparison.timed_calls import Calls
from syncscope.latency import order, timing
from syncscope.latency.record import Samples
from syncscope.latency.samplers import HostSampler
from syncscope.subjects.cases import Sweep

SAMPLES = 200
SEEDED = "torch.manual_seed(0); numpy.random.seed(0); random.seed(0)"
SUBJECT = """
import random
import numpy
import torch

def make_inputs():
    return (torch.rand(64),)

def nothing(x):
    pass
"""


def calls(rotate: int) -> Calls:
    """Those of a subject against itself."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("subject.py").write_text(SUBJECT)
        loaded = load(Plan("subject.py::nothing", "subject.py::nothing", Sweep(), "cpu"))
        os.chdir("/")
    runners = {
        "old": Runner(loaded.old, "old", {}, loaded.workload, "cpu"),
        "new": Runner(loaded.new, "new", {}, loaded.workload, "cpu"),
    }
    return Calls(runners, (0,), Defaults.now(), rotate)


def ours(calls: Calls) -> Samples:
    """200 samples, 100 a side."""
    return calls.taken(order.balanced(SAMPLES // 2, random.Random(0)), HostSampler())


def timer(setup: str) -> Timer:
    """Torch's timer of the same function."""
    names: dict[str, object] = {}
    exec(SUBJECT, names)
    return Timer("nothing(x)", setup=setup, globals={**names, "x": names["make_inputs"]()[0]})


def theirs(timer: Timer) -> None:
    """As many samples of a single call."""
    for _ in range(SAMPLES):
        timer.timeit(1)


def microseconds(run: Callable[[], object]) -> float:
    """Wall time a sample."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) / SAMPLES * 1e6


def told(name: str, rotate: int, setup: str, rounds: int) -> bool:
    """Print one comparison; whether the harness is as cheap as Timer."""
    mine, timers = calls(rotate), timer(setup)
    with timing.steady(threads=1):
        pairs = [
            (microseconds(lambda: ours(mine)), microseconds(lambda: theirs(timers))) for _ in range(rounds)
        ]
        taken = ours(mine).host
    harness, other = (min(figures) for figures in zip(*pairs, strict=True))
    print(f"{name}: a sample costs {harness:.2f} µs, Timer's {other:.2f} µs: {harness / other:.2f} times")
    middle = sorted(taken["old"] + taken["new"])[SAMPLES // 2] / 1e3
    bare = timers.blocked_autorange().median * 1e6
    print(f"{name}: the function takes {middle:.3f} µs by one sample, {bare:.3f} µs by many calls in a row")
    return harness <= other


def main(rounds: int = 20) -> None:
    """Both ways to have inputs."""
    fresh = told("fresh", 0, f"{SEEDED}; (x,) = make_inputs()", rounds)
    rotated = told("--rotate 10", 10, "pass", rounds)
    told("fresh, and Timer's not seeded", 0, "(x,) = make_inputs()", rounds)
    sys.exit(0 if fresh and rotated else 1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
