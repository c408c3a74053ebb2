"""One row: are the outputs equal, how long does it take, what is counted? Three runs that don't meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from syncscope.bench.plan import Loaded, Plan
from syncscope.bench.record import Counted, Machine, Row
from syncscope.comparison import left
from syncscope.comparison.calls import CallFailed, Runner
from syncscope.comparison.left import Runners
from syncscope.comparison.results import Parity
from syncscope.comparison.timing import timed_if_still_equal
from syncscope.events import SIDES, Side, count
from syncscope.subjects import UnusableInputs
from syncscope.subjects.cases import Case


def measured(plan: Plan, loaded: Loaded, machine: Machine, case: Case) -> Row:
    """Compare, time and count one case; what it raises, in a subject or in the making of inputs, is kept.

    Raises:
        Unusable: the inputs are to be rotated and a subject writes into them.
    """
    try:
        row = _run(plan, loaded, machine, case)
    except (CallFailed, UnusableInputs) as error:
        row = failed(case, machine, str(error).partition("\n")[0])
    return replace(row, imported=loaded.imported_since())


def failed(case: Case, machine: Machine, why: str) -> Row:
    """The row of a case that could not be run."""
    return Row(dict(case), Parity(equal=False, compared=0), machine, failed=why)


def _run(plan: Plan, loaded: Loaded, machine: Machine, case: Case) -> Row:
    """One case; if its outputs differ it isn't timed, and if they do so after the timed calls it wasn't."""
    observed = _runners(loaded, case, "sim")
    if plan.device == "sim":
        parity = left.parity(observed, _observed(observed, plan.seeds))
        return Row(dict(case), parity, machine, _counted(observed, plan.seeds))
    runners = _runners(loaded, case, plan.device)
    parity, latency = left.parity(runners, left.unobserved(runners, plan.seeds)), None
    if parity.equal:
        rows = len(plan.sweep.cases())
        latency, parity = timed_if_still_equal(runners, plan.seeds, plan.timing, plan.device, rows, parity)
    try:
        counts, uncounted = _counted(observed, plan.seeds), ""
    except CallFailed as error:  # what runs on a CPU may be refused where tensors are on a GPU
        counts, uncounted = {}, str(error).partition("\n")[0]
    return Row(dict(case), parity, machine, counts, uncounted, latency)


def _runners(loaded: Loaded, case: Case, device: str) -> Runners:
    subjects = {"old": loaded.old, "new": loaded.new}
    return {side: Runner(subjects[side], side, case, loaded.workload, device) for side in SIDES}


def _observed(runners: Runners, seeds: Iterable[int]) -> Iterator[left.Pair]:
    """Old and new called once for each seed, on the simulated device."""
    return ({side: runner.observe(seed, 0)[1] for side, runner in runners.items()} for seed in seeds)


def _counted(runners: Runners, seeds: tuple[int, ...]) -> dict[Side, Counted]:
    """What the second call with each seed does: in the first something may be kept."""

    def of_side(runner: Runner) -> Counted:
        for seed in seeds:
            runner.observe(seed, 0)
        seen = [runner.observe(seed, 0)[0] for seed in seeds]
        return Counted(len(seeds), count(event for call in seen for event in call.events))

    return {side: of_side(runner) for side, runner in runners.items()}
