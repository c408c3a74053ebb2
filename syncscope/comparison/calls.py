"""Complete calls of one subject: observed, and profiled. Effects are here; what is made of them is not."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syncscope import sites
from syncscope.comparison.results import Side, SweepValue
from syncscope.events import Event
from syncscope.observe.profile import Profile, profile_calls
from syncscope.observe.scope import Scope
from syncscope.observe.visits import visited_lines
from syncscope.subjects import Unusable

if TYPE_CHECKING:
    from syncscope.subjects.inputs import Workload
    from syncscope.subjects.loader import Subject


class CallFailed(Unusable):
    """A subject raised on a call. One line says which, for which case, and why; the user's frames follow."""

    def __init__(
        self, subject: Subject, side: Side, case: Mapping[str, SweepValue], error: BaseException
    ) -> None:
        """Tell what ``error`` was."""
        place = ", ".join(f"{name}={value}" for name, value in case.items()) or "its only case"
        super().__init__(f"{side} ({subject.label}) failed for {place}: {subject.describe(error)}")
        self.frames = tuple(_users_frames(subject, error))

    def __str__(self) -> str:
        """The line, and under it the frames, the outermost first."""
        return "\n".join((super().__str__(), *self.frames))


def _users_frames(subject: Subject, error: BaseException) -> list[str]:
    found = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        if sites.is_users(frame.f_code):
            site = sites.of_frame(frame, line)
            found.append(f"  {subject.name_of(site.file)}:{site.line} in {site.function}: {site.text}")
    return found


@dataclass(frozen=True)
class Observed:
    """What one call did: its events, and the subject's lines that ran for its inputs."""

    case: Mapping[str, SweepValue]
    seed: int
    events: tuple[Event, ...]
    heard: Mapping[str, int]
    visited: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Runner:
    """Calls one subject for one case, each time with fresh inputs."""

    subject: Subject
    side: Side
    case: Mapping[str, SweepValue]
    workload: Workload
    device: str
    families: tuple[str, ...] = ()

    def observe(self, seed: int, visits: bool) -> tuple[Observed, Any]:
        """One observed call, and its output. ``visits``: also find out which of the subject's lines run."""
        scope = self._scope()
        inputs = self._inputs(scope, seed)
        output: list[Any] = []

        def call() -> None:
            output.append(self._called(inputs))

        lines: frozenset[int] = frozenset()
        with scope:
            if visits:
                lines = visited_lines(call, [self.subject.path])[self.subject.path]
            else:
                call()
        observed = Observed(self.case, seed, tuple(scope.events), dict(scope.operators), lines)
        return observed, output[0]

    def profile(self, seeds: tuple[int, ...], calls: int, trace: Path | None) -> Profile:
        """torch.profiler's figures of ``calls`` calls for each of ``seeds``."""
        scope = self._scope()

        def prepare(step: int) -> Any:
            return self._inputs(scope, seeds[step // calls])

        def call(inputs: Any) -> None:
            with scope:
                self._called(inputs)

        on_gpu = self.device == "cuda"
        kernels = () if on_gpu else scope.kernels
        return profile_calls(prepare, call, calls * len(seeds), cuda=on_gpu, trace=trace, kernels=kernels)

    def _scope(self) -> Scope:
        return Scope("cuda" if self.device == "cuda" else "sim", self.families)

    def _inputs(self, scope: Scope, seed: int) -> Any:
        """Fresh inputs; the events of their making are forgotten."""
        with scope:
            inputs = self.workload.inputs(self.case, seed, "cuda")
        scope.reset()
        return inputs

    def _called(self, inputs: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        """Call the subject; a generator is run to its end, since a call that never ran costs nothing."""
        args, kwargs = inputs
        try:
            output = self.subject.function(*args, **kwargs)
            return list(output) if inspect.isgenerator(output) else output
        except (Exception, SystemExit) as error:
            raise CallFailed(self.subject, self.side, self.case, error) from error
