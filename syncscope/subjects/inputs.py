"""Who makes the inputs of a comparison."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from syncscope.subjects import UnusableInputs
from syncscope.subjects.cases import Case, Sweep, SweepValue
from syncscope.subjects.loader import Subject, load
from syncscope.subjects.made_inputs import Arguments, MadeInputs, failed
from syncscope.subjects.raised import told_as
from syncscope.subjects.workloads import CONTRACT, UnusableWorkload, VideoWorkload, has_pruning_contract


class Workload(Protocol):
    """Makes the inputs of a case."""

    def describe(self) -> str:
        """Who makes them, for a report."""

    def check(self, sweep: Sweep) -> None:
        """Refuse a sweep for which no inputs can be made, before any are."""

    def inputs(self, case: Case, seed: int, device: str) -> Arguments:
        """Fresh arguments for one call; equal for an equal case and seed."""

    def series(self, case: Case, seeds: Sequence[int], device: str) -> list[Arguments]:
        """Fresh arguments for as many calls as there are seeds, at least one."""


def chosen_workload(
    old: Subject, new: Subject, sweep: Sweep, *, inputs_option: str | None = None, kind: str | None = None
) -> Workload:
    """Who makes the inputs of both subjects, checked against the sweep.

    ``--inputs FILE::FUNCTION`` or ``--workload KIND`` where given (else None), then the baseline's
    ``make_inputs``, then new's, then the built-in video workload for functions with the pruning contract.

    Raises:
        UnusableInputs: nobody makes them, or not for this sweep.
        UnusableSubject: the file of ``--inputs`` can't be loaded.
    """
    workload = _chosen(old, new, inputs_option, kind)
    workload.check(sweep)
    return workload


def _chosen(old: Subject, new: Subject, inputs_option: str | None, kind: str | None) -> Workload:
    if inputs_option is not None and kind is not None:
        raise UnusableInputs("--inputs and --workload both say who makes the inputs: give one of them")
    if inputs_option is not None:
        maker = load(inputs_option, beside=[old, new], preferred="make_inputs")
        return MadeInputs(maker, maker.function, maker.function_name)
    return _videos(old, new, kind) if kind is not None else _made(old, new) or _videos(old, new)


def _made(old: Subject, new: Subject) -> MadeInputs | None:
    """The ``make_inputs`` of one file, the baseline's first: both have to be given equal inputs."""
    if old.make_inputs is not None:
        note = (
            f"; {new.file} has another, which is not used"
            if _differs(old.make_inputs, new.make_inputs)
            else ""
        )
        return MadeInputs(old, old.make_inputs, note=note)
    return None if new.make_inputs is None else MadeInputs(new, new.make_inputs)


def _differs(ours: Callable[..., object], theirs: Callable[..., object] | None) -> bool:
    return theirs is not None and _text(ours) != _text(theirs)


def _text(function: Callable[..., object]) -> object:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return function


def _videos(old: Subject, new: Subject, kind: str | None = None) -> VideoInputs:
    for subject in (old, new):
        if has_pruning_contract(subject.function):
            continue
        if kind is not None:
            raise UnusableInputs(
                f"--workload {kind} makes ({', '.join(CONTRACT)}), not what {subject.label} takes"
            )
        raise UnusableInputs(
            f"nobody makes inputs for {subject.label}: define make_inputs in the file "
            "or give --inputs FILE::FUNCTION"
        )
    return VideoInputs(kind or VideoWorkload.kind)


@dataclass(frozen=True)
class VideoInputs:
    """The built-in video workload: ``kind`` is ``scenes`` or ``noise``."""

    kind: str

    def describe(self) -> str:
        """Which videos."""
        return f"built-in video workload, {self.kind}"

    def check(self, sweep: Sweep) -> None:
        """Look at every case's video.

        Raises:
            UnusableInputs: a variable or a value that a video can't have, or an unknown kind.
        """
        try:
            for case in sweep.cases():
                VideoWorkload(self.kind).at(_without_seed(case))
        except UnusableWorkload as error:
            raise UnusableInputs(str(error)) from error

    def inputs(self, case: Case, seed: int, device: str) -> Arguments:
        """Features of the case's video and what else the pruning contract asks for.

        Raises:
            UnusableInputs: there is no room for them.
        """
        with told_as(lambda error: UnusableInputs(f"{failed(case)}: {error!r}")):
            return VideoWorkload(self.kind).inputs(_without_seed(case), int(case.get("seed", seed)), device)

    def series(self, case: Case, seeds: Sequence[int], device: str) -> list[Arguments]:
        """Features of the case's video for each seed."""
        return [self.inputs(case, seed, device) for seed in seeds]


def _without_seed(case: Case) -> dict[str, SweepValue]:
    return {name: value for name, value in case.items() if name != "seed"}
