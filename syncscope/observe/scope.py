"""The scope: the context in which calls are observed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from typing_extensions import Self

from syncscope.events import Counts, Event
from syncscope.observe import ranges, starts, tally
from syncscope.observe.allowances import Allowance
from syncscope.observe.families import family_of
from syncscope.observe.ranges import Ranges
from syncscope.observe.stepping import StepWatch, step_watch
from syncscope.observe.steps import Named
from syncscope.observe.tally import Folded, Spot, Tally
from syncscope.observe.threads import HeardThread, UnheardThread
from syncscope.sites import Site
from syncscope.subjects import Unusable

if TYPE_CHECKING:
    from syncscope.simcuda.watch import Sink, Watch


@dataclass(frozen=True)
class SiteCount:
    """How often one line caused events of one kind through one spelling."""

    site: Site
    kind: str
    api: str
    events: int
    dtoh: int
    htod: int
    dtod: int
    waits: int


@dataclass(frozen=True)
class Steps:
    """Single calls of the ``functions`` that were found: how many, and the ranges over them.

    ``inside`` are the events of finished steps, ``figures`` and ``spots`` the ranges of a single step.
    """

    functions: list[str]
    number: int
    inside: Folded
    figures: Ranges[str]
    spots: Ranges[Spot]


class Scope:
    """Records what the code inside it makes the host and the device exchange.

        with Scope() as scope:
            mask = torch.rand(8, device="cuda") > 0.5
            int(mask.sum())
        scope.counts.scalar_reads  # 1

    With ``device="sim"``, ``cuda`` is the simulated device inside the scope; with ``device="cuda"`` a real
    GPU is watched, and its events are foretold by the same cost table: torch.profiler has the last word.
    ``count`` names ATen operators to count as launches beside top-k and scatter. ``stack`` is the number of
    the user's frames that are kept for each event.

    A scope hears the thread that entered it, and with ``threads=True`` all threads that are started in it.
    Threads that aren't heard, and processes, are ``unknown`` events at the line that starts them.
    ``per`` is the qualified name of a function, or a regular expression for it: each of its calls is a step.

    Raises:
        UnknownFamily: ``count`` names no operator that reaches a device.
        Unusable: ``per`` is no regular expression; ``device`` is neither "sim" nor the GPU of this machine.
    """

    def __init__(
        self,
        device: Literal["sim", "cuda"] = "sim",
        count: Collection[str] = (),
        stack: int = 1,
        threads: bool = False,
        per: str | None = None,
    ) -> None:
        """Prepare; nothing is changed before the scope is entered."""
        self.device = device
        self.per = per
        self.hears_threads = threads
        self.stack = stack
        self.step_watch: StepWatch | None = None
        self.entry: object = None
        self._families = family_of(count)
        self._named = None if per is None else Named(per)
        self._mine = HeardThread(self)
        self._threads = [self._mine]

    def __enter__(self) -> Self:
        """Watch this thread from now on."""
        with ExitStack() as entered:
            entered.enter_context(starts.noticed())
            if self._named is not None:
                self.step_watch = entered.enter_context(step_watch(self._named))
            self._mine.listen(entered)
            self.entry = object()
            self._entered = entered.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put everything back as it was; threads that go on are no longer heard."""
        self.entry = None
        self._entered.close()

    def followed(self) -> AbstractContextManager[None]:
        """What a thread runs in that is started in the scope."""
        if not self.hears_threads:
            return UnheardThread(self).listening()
        made = HeardThread(self, self.entry)
        self._threads.append(made)
        return made.listening()

    def made_device(self, sink: Sink) -> Watch:
        """A device of the scope's kind, whose events go to ``sink``."""
        return _kind(self.device)(sink, self._families, self.stack)

    @property
    def families(self) -> tuple[str, ...]:
        """The operator families whose launches are counted."""
        return tuple(dict.fromkeys(self._families.values()))

    @property
    def folded(self) -> Folded:
        """All events so far, equal ones once, with how often they came."""
        return tally.folded(part.heard for part in self._tallies())

    @property
    def events(self) -> list[Event]:
        """All events so far: equal ones stand together, in the order in which the first of them came."""
        return [heard.event for heard, times in self.folded.items() for _ in range(times)]

    @property
    def counts(self) -> Counts:
        """Totals of all events so far."""
        return tally.counts(self.folded, self.families)

    @property
    def allowed(self) -> dict[Allowance, Folded]:
        """Every allowance (``syncscope.allowed``) that the code came to, with the events that it took."""
        met = dict.fromkeys(one for part in self._tallies() for one in list(part.allowed))
        return {one: tally.folded(part.allowed.get(one, {}) for part in self._tallies()) for one in met}

    @property
    def steps(self) -> Steps | None:
        """What single steps did; None where no function was named."""
        if self._named is None:
            return None
        figures = ranges.merged(part.figures for part in self._tallies())
        spots = ranges.merged(part.spots for part in self._tallies())
        inside = tally.folded(part.inside for part in self._tallies())
        return Steps(sorted(set(self._named.found)), figures.steps, inside, figures, spots)

    @property
    def operators(self) -> Counter[str]:
        """The ATen calls that were heard, by name and on whichever device."""
        return sum((device.operators for device in self._devices()), Counter())

    @property
    def kernels(self) -> set[str]:
        """The operators of whose kernels' own calls nothing was heard; it is filled as calls run."""
        return self._mine.device.kernels

    @property
    def touched(self) -> bool:
        """Whether an operator ran on the device at all: else the counts say nothing."""
        return any(device.touched for device in self._devices())

    @property
    def notes(self) -> list[str]:
        """What was not done as on a GPU, in sentences."""
        return list(dict.fromkeys(note for device in self._devices() for note in device.notes))

    def note(self, text: str) -> None:
        """Keep ``text`` for the report."""
        self._mine.device.note(text)

    def _devices(self) -> list[Watch]:
        return [thread.device for thread in self._threads]

    def _tallies(self) -> list[Tally]:
        return [thread.tally for thread in self._threads]

    @property
    def sites(self) -> list[SiteCount]:
        """Every line that caused an event that isn't a mere launch, most frequent first."""
        groups: dict[Spot, list[tuple[Event, int]]] = {}
        for (event, _), times in self.folded.items():
            if event.kind != "launch":
                groups.setdefault(tally.spot(event), []).append((event, times))
        found = [_site_count(spot, events) for spot, events in groups.items()]
        return sorted(found, key=lambda one: (-one.events, one.site))

    def report(self) -> str:
        """What ``syncscope run`` would print of the events so far, as text without colours."""
        from syncscope.reports.run_terminal import render
        from syncscope.runs.recording import recorded

        return render(recorded(self))

    def reset(self) -> None:
        """Forget all events so far."""
        for part in self._tallies():
            part.clear()
        for device in self._devices():
            device.operators.clear()
            device.touched = False


def _site_count(spot: Spot, events: list[tuple[Event, int]]) -> SiteCount:
    return SiteCount(
        *spot,
        events=sum(times for _, times in events),
        dtoh=sum(event.dtoh * times for event, times in events),
        htod=sum(event.htod * times for event, times in events),
        dtod=sum(event.dtod * times for event, times in events),
        waits=sum(event.waits * times for event, times in events),
    )


def _kind(name: str) -> type[Watch]:
    if name == "sim":
        from syncscope.simcuda.simulation import SimulatedDevice

        return SimulatedDevice
    if name != "cuda":
        raise Unusable(f'device={name!r}: expected "sim", the simulated GPU, or "cuda", this machine\'s')
    import torch

    if not torch.cuda.is_available():
        raise Unusable('device="cuda": torch finds no GPU on this machine: give device="sim"')
    from syncscope.observe.gpu import WatchedGpu

    return WatchedGpu
