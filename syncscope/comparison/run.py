"""Run old and new over the cases, and put what was found into one record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from syncscope import __version__
from syncscope.comparison import whereabouts
from syncscope.comparison.calls import Observed, Runner
from syncscope.comparison.environment import environment
from syncscope.comparison.parity import differences, over_calls
from syncscope.comparison.results import (
    CaseResult,
    Comparison,
    Difference,
    Parity,
    Side,
    SubjectRecord,
    SweepValue,
)
from syncscope.comparison.retained import retained_differences
from syncscope.comparison.tally import disagreements, side_result
from syncscope.events import count_names
from syncscope.observe.families import family_of
from syncscope.subjects import Unusable

if TYPE_CHECKING:
    from torch import Tensor

    from syncscope.observe.profile import Profile
    from syncscope.subjects.cases import Sweep
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
    command: str = ""


@dataclass(frozen=True)
class _Case:
    """One point of the sweep, run: the calls and the profile of each side, and the outputs' parity."""

    point: Mapping[str, SweepValue]
    calls: Mapping[Side, Sequence[Observed]]
    profiles: Mapping[Side, Profile]
    parity: Parity


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
        progress(", ".join(f"{name}={value}" for name, value in point.items()), done, len(points))
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


def _run_case(
    subjects: Mapping[Side, Subject], point: Mapping[str, SweepValue], plan: Plan, device: str, is_last: bool
) -> _Case:
    runners: dict[Side, Runner] = {
        side: Runner(subject, side, point, plan.workload, device, plan.families)
        for side, subject in subjects.items()
    }
    calls: dict[Side, list[Observed]] = {"old": [], "new": []}
    parity = over_calls(_observed_in_turn(runners, plan, calls))
    # One trace a subject is kept, that of the last case: the largest, in the usual order.
    profiles = {
        side: runner.profile(plan.seeds, plan.calls, _trace(plan.traces, side) if is_last else None)
        for side, runner in runners.items()
    }
    return _Case(point, calls, profiles, parity)


def _trace(folder: Path | None, side: Side) -> Path | None:
    return folder / side / f"{side}.json.gz" if folder else None


def _observed_in_turn(
    runners: Mapping[Side, Runner], plan: Plan, calls: Mapping[Side, list[Observed]]
) -> Iterator[list[Difference]]:
    """Call old and new in turn, and yield how the outputs of each pair of calls differ."""
    for seed, number in product(plan.seeds, range(plan.calls)):
        outputs: dict[Side, Any] = {}
        found: list[Difference] = []
        for side, runner in runners.items():
            observed, outputs[side] = runner.observe(seed, visits=number == 0)
            calls[side].append(_with_visits(observed, calls[side]))
            found += retained_differences(runner, seed, outputs[side])
        yield found + differences(outputs["old"], outputs["new"], device_of)


def _with_visits(observed: Observed, before: Sequence[Observed]) -> Observed:
    """The lines that ran are looked up once an input: its further calls share them."""
    if observed.visited or not before:
        return observed
    return replace(observed, visited=before[-1].visited)


def device_of(tensor: Tensor) -> str:
    """Where a subject's output lives, in CUDA's words."""
    from syncscope.simcuda.placement import PLACEMENT

    return "cuda:0" if PLACEMENT.is_on(tensor) else str(tensor.device)


def _record(subjects: Mapping[Side, Subject], cases: Sequence[_Case], plan: Plan, device: str) -> Comparison:
    families = family_of(plan.families)
    names = list(dict.fromkeys(families.values()))
    swept = plan.sweep.swept
    by_side = {side: [case.calls[side] for case in cases] for side in subjects}
    branches = {side: whereabouts.conditional_lines(s, side, by_side[side]) for side, s in subjects.items()}
    return Comparison(
        provenance="measured" if device == "cuda" else "simulated",
        command=plan.command,
        old=_subject_record(subjects["old"]),
        new=_subject_record(subjects["new"]),
        swept=swept,
        workload=plan.workload.describe(),
        calls=plan.calls,
        seeds=list(plan.seeds),
        cases=[_case_result(case, families, device) for case in cases],
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
        notes=[note for side, subject in subjects.items() for note in _notes(subject, side, by_side[side])],
        tool=__version__,
    )


def _case_result(case: _Case, families: Mapping[str, str], device: str) -> CaseResult:
    sides = {
        side: side_result(case.calls[side], case.profiles[side], families, measured=device == "cuda")
        for side in case.calls
    }
    return CaseResult(dict(case.point), case.parity, sides["old"], sides["new"])


def _subject_record(subject: Subject) -> SubjectRecord:
    return SubjectRecord(subject.label, subject.file, subject.function_name, subject.revision, subject.sha256)


def _where(side: Side, case: _Case) -> str:
    place = ", ".join(f"{name}={value}" for name, value in case.point.items())
    return f"{side}, {place}" if place else side


def _notes(subject: Subject, side: Side, cases: whereabouts.Cases) -> list[str]:
    """What was not looked at, in sentences."""
    lines = [_lines(one) for one in whereabouts.unvisited_lines(subject, cases)]
    if not lines:
        return []
    return [f"{side} ({subject.file}): {', '.join(lines)} ran for no input: nothing is known of them"]


def _lines(lines: tuple[int, int]) -> str:
    first, last = lines
    return f"line {first}" if first == last else f"lines {first}-{last}"
