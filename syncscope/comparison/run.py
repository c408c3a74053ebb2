"""Run old and new over the cases, and put what was found into one record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from syncscope import __version__
from syncscope.comparison import left, notes, whereabouts
from syncscope.comparison.calls import CallFailed, Ended, Observed, Runner
from syncscope.comparison.environment import environment
from syncscope.comparison.results import CaseResult, Comparison, Parity, SubjectRecord
from syncscope.comparison.tally import disagreements, side_result
from syncscope.events import Side, count_names
from syncscope.latency.clock import PerfCounter
from syncscope.latency.samplers import examined
from syncscope.observe.families import family_of
from syncscope.observe.scope import Scope
from syncscope.subjects import Unusable, UnusableInputs
from syncscope.subjects.cases import Case, Sweep, place

if TYPE_CHECKING:
    from syncscope.latency.record import Latency, TimedOn, Timing
    from syncscope.observe.profile import Profile
    from syncscope.subjects.inputs import Workload
    from syncscope.subjects.loader import Subject

Device = Literal["auto", "cuda", "sim"]
Progress = Callable[[str, int, int], None]


class UnusableDevice(Unusable):
    """The device that was asked for isn't there."""


@dataclass(frozen=True)
class Plan:
    """What is to be run: the cases, who makes the inputs, how often, where, and what is counted."""

    sweep: Sweep
    workload: Workload
    calls: int = 20
    seeds: tuple[int, ...] = (0,)
    device: Device = "auto"
    families: tuple[str, ...] = ()
    traces: Path | None = None
    time: Timing | None = None
    command: str = ""


@dataclass(frozen=True)
class _Case:
    """One point of the sweep, run: the calls and the profile of each side, and the outputs' parity.

    ``firsts`` are the calls that aren't counted, one a seed.
    """

    point: Case
    calls: Mapping[Side, Sequence[Observed]]
    firsts: Mapping[Side, Sequence[Observed]]
    profiles: Mapping[Side, Profile]
    parity: Parity
    latency: Latency | None = None
    untimed: str = ""


def compare(
    old: Subject, new: Subject, plan: Plan, progress: Progress = lambda what, done, of: None
) -> Comparison:
    """Run ``old`` and ``new`` on equal inputs over the cases of ``plan``.

    ``progress`` is told what begins, and how many of how many steps are done.

    Raises:
        UnusableDevice: a GPU was asked for and torch has none.
        UnknownFamily: a family to count is no operator that reaches a device.
        CallFailed: a subject raised; UnusableInputs: the inputs of a case can't be made.
    """
    device = resolved(plan.device)
    subjects: dict[Side, Subject] = {"old": old, "new": new}
    points = plan.sweep.cases()
    cases = []
    for done, point in enumerate(points):
        progress(place(point) if point else "", done, len(points))
        cases.append(_run_case(subjects, point, plan, device, is_last=done == len(points) - 1))
    progress("", len(points), len(points))
    return _record(subjects, cases, plan, device)


def resolved(device: Device) -> str:
    """The device that runs the calls, ``cuda`` or ``sim``.

    Raises:
        UnusableDevice: ``cuda`` was asked for and torch has none.
    """
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise UnusableDevice(
            "device: torch finds no CUDA GPU on this machine: leave --device out, or say --device sim"
        )
    return "cuda" if device != "sim" and torch.cuda.is_available() else "sim"


def loading(device: Device) -> AbstractContextManager[object]:
    """What subjects are to be loaded in: their modules' own code may ask for ``cuda`` as well."""
    return Scope("sim") if resolved(device) == "sim" else nullcontext()


def _run_case(subjects: Mapping[Side, Subject], point: Case, plan: Plan, device: str, is_last: bool) -> _Case:
    runners: dict[Side, Runner] = {
        side: Runner(subject, side, point, plan.workload, device, plan.families)
        for side, subject in subjects.items()
    }
    calls: dict[Side, list[Observed]] = {"old": [], "new": []}
    firsts = {side: {seed: runner.first(seed) for seed in plan.seeds} for side, runner in runners.items()}
    parity = left.parity(runners, _observed_in_turn(runners, plan, firsts, calls))
    # One trace a subject is kept, that of the last case: the largest, in the usual order.
    profiles = {
        side: runner.profile(plan.seeds, plan.calls, _trace(plan.traces, side) if is_last else None)
        for side, runner in runners.items()
    }
    latency, untimed = None, ""
    if plan.time and parity.equal:
        latency, untimed, parity = _timed(subjects, point, plan, device, parity)
    observed = {side: list(seen.values()) for side, seen in firsts.items()}
    return _Case(point, calls, observed, profiles, parity, latency, untimed)


def _timed(
    subjects: Mapping[Side, Subject],
    point: Case,
    plan: Plan,
    device: str,
    parity: Parity,
) -> tuple[Latency | None, str, Parity]:
    """The latency on the GPU, without one on the CPU with tensors on it; or why there is none.

    With the parity afterwards: where the outputs differ then, there is none either.
    """
    from syncscope.comparison.timing import timed_if_still_equal
    from syncscope.latency.record import Timing

    on: TimedOn = "cuda" if device == "cuda" else "cpu"
    runners = {side: Runner(subject, side, point, plan.workload, on) for side, subject in subjects.items()}
    try:
        latency, after = timed_if_still_equal(
            runners, plan.seeds, plan.time or Timing(), on, len(plan.sweep.cases()), parity
        )
    except (CallFailed, UnusableInputs) as error:  # what was simulated may need a GPU when nothing is
        return None, str(error).partition("\n")[0], parity
    return latency, "", after


def _trace(folder: Path | None, side: Side) -> Path | None:
    return folder / side / f"{side}.json.gz" if folder else None


def _observed_in_turn(
    runners: Mapping[Side, Runner],
    plan: Plan,
    firsts: Mapping[Side, Mapping[int, Observed]],
    calls: Mapping[Side, list[Observed]],
) -> Iterator[left.Pair]:
    """Call old and new in turn, and yield what each pair of calls left."""
    for seed, number in product(plan.seeds, range(plan.calls)):
        ended: dict[Side, Ended] = {}
        for side, runner in runners.items():
            observed, ended[side] = runner.observe(seed, number)
            # The lines that ran were looked at in the first call: these are its inputs again.
            calls[side].append(replace(observed, visited=firsts[side][seed].visited))
        yield ended


def _record(subjects: Mapping[Side, Subject], cases: Sequence[_Case], plan: Plan, device: str) -> Comparison:
    families = family_of(plan.families)
    names = list(dict.fromkeys(families.values()))
    swept = plan.sweep.swept
    by_side = {side: [case.calls[side] for case in cases] for side in subjects}
    branches = {side: whereabouts.conditional_lines(s, side, by_side[side]) for side, s in subjects.items()}
    return Comparison(
        provenance="measured" if device == "cuda" else "simulated",
        command=plan.command,
        old=subject_record(subjects["old"]),
        new=subject_record(subjects["new"]),
        swept=swept,
        workload=plan.workload.describe(),
        calls=plan.calls,
        seeds=list(plan.seeds),
        cases=_results(cases, families, device, timed=plan.time is not None),
        sites=[
            site
            for side, subject in subjects.items()
            for site in whereabouts.sites(subject, side, by_side[side], branches[side], swept)
        ],
        growth={
            side: whereabouts.laws(subject, by_side[side], count_names(names), branches[side], swept)
            for side, subject in subjects.items()
        },
        branches=[branch for found in branches.values() for branch in found],
        environment=environment(device),
        families=names,
        disagreements=[
            sentence
            for case in cases
            for side in subjects
            for sentence in disagreements(_where(side, case), case.calls[side], case.profiles[side], families)
        ],
        notes=[
            note
            for side, subject in subjects.items()
            for note in notes.of(subject, side, by_side[side], [case.firsts[side] for case in cases])
        ],
        idle=[
            side for side in subjects if not any(call.touched for calls in by_side[side] for call in calls)
        ],
        timing=plan.time,
        clock=examined("cuda" if device == "cuda" else "cpu", PerfCounter()) if plan.time else None,
        tool=__version__,
    )


def _results(
    cases: Sequence[_Case], families: Mapping[str, str], device: str, timed: bool
) -> list[CaseResult]:
    found = [_case_result(case, families, device) for case in cases]
    if not timed:
        return found
    from syncscope.latency import verdicts

    return verdicts.with_corrected(found)


def _case_result(case: _Case, families: Mapping[str, str], device: str) -> CaseResult:
    sides = {
        side: side_result(case.calls[side], case.profiles[side], families, measured=device == "cuda")
        for side in case.calls
    }
    point = dict(case.point)
    return CaseResult(point, case.parity, sides["old"], sides["new"], case.latency, case.untimed)


def subject_record(subject: Subject) -> SubjectRecord:
    """What a record keeps of a subject."""
    return SubjectRecord(subject.label, subject.file, subject.function_name, subject.revision, subject.sha256)


def _where(side: Side, case: _Case) -> str:
    return f"{side}, {place(case.point)}" if case.point else side
