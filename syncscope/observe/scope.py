"""The scope: the context in which calls are observed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from typing_extensions import Self

from syncscope import sites
from syncscope.events import Counts, Event
from syncscope.observe import ranges, starts, tally
from syncscope.observe.families import family_of
from syncscope.observe.ownership import own_line
from syncscope.observe.ranges import Ranges
from syncscope.observe.stepping import StepWatch, step_watch
from syncscope.observe.steps import Named
from syncscope.observe.tally import Folded, Spot, Tally
from syncscope.sites import NOWHERE, Site

if TYPE_CHECKING:
    from syncscope.simcuda.watch import Sink
    from syncscope.simcuda.watch import Watch as Device

_UNWATCHED = {
    "threading.Thread.start": "what this thread reads, copies and waits for is missing: "
    "threads=True (run --threads) hears it",
}
_UNWATCHED_PROCESS = (
    "what this process reads, copies and waits for is missing: observe it in a scope of its own"
)


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
        Unusable: ``per`` is no regular expression.
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
        self.events: list[Event] = []
        self.hears_threads = threads
        self._families = family_of(count)
        self._stack = stack
        self._named = None if per is None else Named(per)
        self._watch: StepWatch | None = None
        self._devices: list[Device] = []
        self._tallies: list[Tally] = []
        self._mine = self._new_tally()
        self._device = self._new_device(self._sink(self._mine))
        self._entry: object = None

    def __enter__(self) -> Self:
        """Watch this thread from now on."""
        with ExitStack() as entered:
            entered.enter_context(starts.noticed())
            if self._named is not None:
                self._watch = step_watch(self._named)
                entered.enter_context(self._watch)
            self._listen(entered, self._device, self._mine)
            self._entry = object()
            self._entered = entered.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put everything back as it was; threads that go on are no longer heard."""
        self._entry = None
        self._entered.close()

    def _listen(self, entered: ExitStack, device: Device, heard: Tally) -> None:
        """Watch the current thread until ``entered`` is left; its events go to ``heard``."""
        entered.enter_context(device)
        entered.enter_context(starts.told(self))
        if self._watch is not None:
            entered.enter_context(self._watch.follow(heard))

    def followed(self, thread: Thread) -> AbstractContextManager[None] | None:
        """What a thread that is started here runs in."""
        return self._heard_thread(self._entry) if self.hears_threads else self.unheard_thread()

    @contextmanager
    def _heard_thread(self, entry: object) -> Iterator[None]:
        heard = self._new_tally()
        device = self._new_device(self._sink(heard, entry))
        self._devices.append(device)
        with ExitStack() as entered:
            self._listen(entered, device, heard)
            yield
        self._device.kernels.update(device.kernels)

    @contextmanager
    def unheard_thread(self) -> Iterator[None]:
        """A thread that isn't heard has the simulated device nevertheless: its calls would fail without."""
        if self.device != "sim":
            yield
            return
        with self._new_device(_ignored), starts.told(_Unheard(self)):
            yield

    def unwatched(self, api: str) -> None:
        """Record that something was started here which isn't heard."""
        stack = sites.stack(self._stack)
        site = own_line()
        if site is NOWHERE and stack:
            site = stack[0]
        why = _UNWATCHED.get(api, _UNWATCHED_PROCESS)
        self._sink(self._mine)(Event("unknown", api, reason=why, site=site, stack=stack))

    def _new_tally(self) -> Tally:
        made = Tally(self.families)
        self._tallies.append(made)
        return made

    def _new_device(self, sink: Sink) -> Device:
        return _kind(self.device)(sink, self._families, self._stack)

    def _sink(self, heard: Tally, entry: object = None) -> Sink:
        """Where a device's events go; those of a thread that outlives the scope's ``entry`` go nowhere."""

        def sink(event: Event) -> None:
            if entry is None or entry is self._entry:
                self.events.append(heard.add(event))

        return sink

    @property
    def families(self) -> tuple[str, ...]:
        """The operator families whose launches are counted."""
        return tuple(dict.fromkeys(self._families.values()))

    @property
    def folded(self) -> Folded:
        """All events so far, equal ones once, with how often they came."""
        return tally.folded(part.heard for part in self._tallies)

    @property
    def counts(self) -> Counts:
        """Totals of all events so far."""
        return tally.counts(self.folded, self.families)

    @property
    def steps(self) -> Steps | None:
        """What single steps did; None where no function was named."""
        if self._named is None:
            return None
        figures = ranges.merged(part.figures for part in self._tallies)
        spots = ranges.merged(part.spots for part in self._tallies)
        inside = tally.folded(part.inside for part in self._tallies)
        return Steps(sorted(set(self._named.found)), figures.steps, inside, figures, spots)

    @property
    def operators(self) -> Counter[str]:
        """The ATen calls that were heard, by name and on whichever device."""
        return sum((device.operators for device in self._heard_devices()), Counter())

    @property
    def kernels(self) -> set[str]:
        """The operators of whose kernels' own calls nothing was heard; it is filled as calls run."""
        return self._device.kernels

    @property
    def touched(self) -> bool:
        """Whether an operator ran on the device at all: else the counts say nothing."""
        return any(device.touched for device in self._heard_devices())

    @property
    def notes(self) -> list[str]:
        """What was not done as on a GPU, in sentences."""
        return list(dict.fromkeys(note for device in self._heard_devices() for note in device.notes))

    def _heard_devices(self) -> list[Device]:
        return [self._device, *self._devices]

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
        self.events.clear()
        for part in self._tallies:
            part.clear()
        for device in self._heard_devices():
            device.operators.clear()


class _Unheard:
    """Listens in a thread that isn't heard: what it starts isn't either, and one unknown event is enough."""

    hears_threads = True

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def followed(self, thread: Thread) -> AbstractContextManager[None]:
        return self._scope.unheard_thread()

    def unwatched(self, api: str) -> None:
        """It was said of this thread that nothing is known of it."""


def _ignored(event: Event) -> None:
    """Events of a thread that isn't heard."""


def _site_count(spot: Spot, events: list[tuple[Event, int]]) -> SiteCount:
    return SiteCount(
        *spot,
        events=sum(times for _, times in events),
        dtoh=sum(event.dtoh * times for event, times in events),
        htod=sum(event.htod * times for event, times in events),
        dtod=sum(event.dtod * times for event, times in events),
        waits=sum(event.waits * times for event, times in events),
    )


def _kind(name: str) -> type[Device]:
    if name == "sim":
        from syncscope.simcuda.simulation import SimulatedDevice

        return SimulatedDevice
    from syncscope.observe.gpu import WatchedGpu

    return WatchedGpu
