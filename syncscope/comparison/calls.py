"""Complete calls of one subject: observed, and profiled. Effects are here; what is made of them is not."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syncscope import sites
from syncscope.comparison.consuming import consumed
from syncscope.comparison.defaults import defaults_kept
from syncscope.events import Event, Side
from syncscope.observe.profile import Profile, profile_calls
from syncscope.observe.scope import Scope
from syncscope.observe.visits import visited_lines
from syncscope.subjects import Unusable
from syncscope.subjects.cases import Case, place
from syncscope.subjects.raised import told_as
from syncscope.subjects.seeds import seeded

if TYPE_CHECKING:
    from syncscope.subjects.inputs import Workload
    from syncscope.subjects.loader import Subject
    from syncscope.subjects.made_inputs import Arguments


class CallFailed(Unusable):
    """A subject raised on a call. One line says which, for which case, and why; the user's frames follow."""

    def __init__(self, subject: Subject, side: Side, case: Case, error: BaseException) -> None:
        """Tell what ``error`` was."""
        super().__init__(f"{side} ({subject.label}) failed for {place(case)}: {subject.describe(error)}")
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
    """What one call did: its events, the ATen calls that were heard, and the lines that ran for its inputs.

    ``notes`` say what was not done as on a GPU; ``touched`` whether a tensor was on the device at all.
    """

    case: Case
    seed: int
    events: tuple[Event, ...]
    heard: Mapping[str, int]
    notes: tuple[str, ...] = ()
    touched: bool = False
    visited: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Ended:
    """What one call left: its output, and its arguments by name, which it may have written into."""

    output: Any
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Runner:
    """Calls one subject for one case, each time with fresh inputs and equal random numbers."""

    subject: Subject
    side: Side
    case: Case
    workload: Workload
    device: str
    families: tuple[str, ...] = ()

    def first(self, seed: int) -> Observed:
        """A call that isn't counted: what is kept between calls is made in it. Its lines are looked at."""
        visited: dict[str, frozenset[int]] = {}

        def watched(call: Callable[[], object]) -> None:
            visited.update(visited_lines(call, [self.subject.path]))

        observed, _ = self._observe(seed, number=0, run=watched)
        return replace(observed, visited=visited[self.subject.path])

    def observe(self, seed: int, number: int) -> tuple[Observed, Ended]:
        """The ``number``-th counted call with the inputs of ``seed``."""
        return self._observe(seed, number, run=lambda call: call())

    def plain(self, seed: int) -> Ended:
        """A call that nobody observes, with tensors that really are on ``device``."""
        inputs = self.workload.inputs(self.case, seed, self.device)
        with seeded(seed), defaults_kept():
            return Ended(self._called(inputs), self._named(inputs))

    def failed(self, error: BaseException) -> CallFailed:
        """What to raise where the subject raised ``error``."""
        return CallFailed(self.subject, self.side, self.case, error)

    def _observe(
        self, seed: int, number: int, run: Callable[[Callable[[], object]], object]
    ) -> tuple[Observed, Ended]:
        scope = self._scope()
        inputs = self._inputs(scope, seed)
        output: list[Any] = []
        with seeded(seed + number), defaults_kept(), scope:
            run(lambda: output.append(self._called(inputs)))
        observed = Observed(
            self.case,
            seed,
            tuple(scope.events),
            dict(scope.operators),
            tuple(scope.notes),
            scope.touched or bool(scope.events) or _has_device_tensor(output),
        )
        return observed, Ended(output[0], self._named(inputs))

    def profile(self, seeds: tuple[int, ...], calls: int, trace: Path | None) -> Profile:
        """torch.profiler's figures of ``calls`` calls for each of ``seeds``."""
        scope = self._scope()

        def prepare(step: int) -> tuple[int, Arguments]:
            return step, self._inputs(scope, seeds[step // calls])

        def call(prepared: tuple[int, Arguments]) -> None:
            step, inputs = prepared
            with seeded(seeds[step // calls] + step % calls), defaults_kept(), scope:
                self._called(inputs)

        on_gpu = self.device == "cuda"
        number = calls * len(seeds)
        return profile_calls(prepare, call, number, cuda=on_gpu, trace=trace, kernels=scope.kernels)

    def _scope(self) -> Scope:
        return Scope("cuda" if self.device == "cuda" else "sim", self.families)

    def _inputs(self, scope: Scope, seed: int) -> Arguments:
        """Fresh inputs; the events of their making are forgotten."""
        with scope:
            inputs = self.workload.inputs(self.case, seed, "cuda")
        scope.reset()
        return inputs

    def _called(self, inputs: Arguments) -> Any:
        """Call the subject, and run what it returns to its end."""
        args, kwargs = inputs
        with told_as(self.failed):
            return consumed(self.subject.function(*args, **kwargs))

    def _named(self, inputs: Arguments) -> Mapping[str, Any]:
        """The arguments by the names of the subject's parameters."""
        args, kwargs = inputs
        try:
            return inspect.signature(self.subject.function).bind(*args, **kwargs).arguments
        except (TypeError, ValueError):  # a built-in function without a signature
            return {**{str(place): value for place, value in enumerate(args)}, **kwargs}


def _has_device_tensor(values: Any) -> bool:
    """Whether a tensor on the device is among some values."""
    from torch.utils._pytree import tree_leaves

    from syncscope.simcuda.costs.table import is_on

    return any(map(is_on, tree_leaves(values)))
