"""One row: are the outputs equal, how long does it take, what is counted? Three runs that don't meet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from syncscope.bench.plan import Loaded, Plan
from syncscope.bench.record import Counted, Machine, Row
from syncscope.comparison.calls import CallFailed, Ended, Runner
from syncscope.comparison.parity import over_calls
from syncscope.comparison.results import Difference, Parity, Side, SweepValue
from syncscope.comparison.retained import retained_differences
from syncscope.comparison.run import left_differences
from syncscope.comparison.timed_calls import Runners
from syncscope.comparison.timing import timed
from syncscope.events import count
from syncscope.subjects import UnusableInputs

_SIDES: tuple[Side, ...] = ("old", "new")

Case = Mapping[str, SweepValue]


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
    """One case; if its outputs differ it isn't timed."""
    observed = _runners(loaded, case, "sim")
    if plan.device == "sim":
        parity = _parity(observed, plan.seeds, lambda runner, seed: runner.observe(seed, 0)[1])
        return Row(dict(case), parity, machine, _counted(observed, plan.seeds))
    runners = _runners(loaded, case, plan.device)
    parity = _parity(runners, plan.seeds, Runner.plain)
    latency = timed(runners, plan.seeds, plan.timing, plan.device) if parity.equal else None
    try:
        counts, uncounted = _counted(observed, plan.seeds), ""
    except CallFailed as error:  # what runs on a CPU may be refused where tensors are on a GPU
        counts, uncounted = {}, str(error).partition("\n")[0]
    return Row(dict(case), parity, machine, counts, uncounted, latency)


def _runners(loaded: Loaded, case: Case, device: str) -> Runners:
    subjects = {"old": loaded.old, "new": loaded.new}
    return {side: Runner(subjects[side], side, case, loaded.workload, device) for side in _SIDES}


def _parity(runners: Runners, seeds: Iterable[int], called: Callable[[Runner, int], Ended]) -> Parity:
    """Old and new called once for each seed."""

    def compared(seed: int) -> list[Difference]:
        ended = {side: called(runner, seed) for side, runner in runners.items()}
        promised = (found for side in _SIDES for found in retained_differences(runners[side], ended[side]))
        return [*promised, *left_differences(ended["old"], ended["new"])]

    return over_calls(map(compared, seeds))


def _counted(runners: Runners, seeds: tuple[int, ...]) -> dict[Side, Counted]:
    """What the second call with each seed does: in the first something may be kept."""

    def of_side(runner: Runner) -> Counted:
        for seed in seeds:
            runner.observe(seed, 0)
        seen = [runner.observe(seed, 0)[0] for seed in seeds]
        return Counted(len(seeds), count(event for call in seen for event in call.events))

    return {side: of_side(runner) for side, runner in runners.items()}
