"""What was heard in one thread, folded: equal events are kept once, with how often they came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from syncscope.events import COUNT_NAMES, Counts, Event, count_names, figure
from syncscope.observe.allowances import Allowance
from syncscope.observe.ownership import in_library, own_line
from syncscope.observe.ranges import Ranges
from syncscope.sites import NOWHERE, Site


class Heard(NamedTuple):
    """An event, and for one in a library the line of the user's own code that called it."""

    event: Event
    caller: Site


class Spot(NamedTuple):
    """What reports have one entry for: one line that causes events of one kind through one spelling."""

    site: Site
    kind: str
    api: str


Folded = dict[Heard, int]


@dataclass
class _Times:
    """How often an event came."""

    number: int = 0


class Tally:
    """The events of one thread; other threads may read it at any time.

    ``allowed`` are those of the events that an allowance took; every allowance that the thread came to is in
    it. ``inside`` are the events of finished steps. While a step is open, ``step`` has its
    events so far. ``figures`` and ``spots`` are the ranges over single steps, of counts and of lines.
    """

    def __init__(self, families: Sequence[str] = ()) -> None:
        """Begin with nothing; the launches of ``families`` have a figure in every step."""
        self._names = count_names(families)
        self.step: Folded | None = None
        self.clear()

    def clear(self) -> None:
        """Forget everything so far; an open step begins anew."""
        self._times: dict[Heard, _Times] = {}
        self.allowed: dict[Allowance, Folded] = {}
        self.inside: Folded = {}
        self.figures: Ranges[str] = Ranges()
        self.spots: Ranges[Spot] = Ranges()
        self.step = None if self.step is None else {}

    def met(self, allowance: Allowance) -> None:
        """The thread came to ``allowance``."""
        self.allowed.setdefault(allowance, {})

    def add(self, event: Event, allowance: Allowance | None = None) -> None:
        """Count ``event``, which the running code causes, and which ``allowance`` takes, if any."""
        heard = Heard(event, own_line() if in_library(event.site.file) else NOWHERE)
        # An event's hash is dear: it is asked for once.
        times = self._times.get(heard)
        if times is None:
            times = self._times[heard] = _Times()
        times.number += 1
        if self.step is not None:
            _add(self.step, heard, 1)
        if allowance is not None:
            _add(self.allowed.setdefault(allowance, {}), heard, 1)

    @property
    def heard(self) -> Folded:
        """All events so far."""
        # A list is made at once, while a dictionary that another thread fills can't be walked through.
        return {heard: times.number for heard, times in list(self._times.items())}

    def finish(self) -> None:
        """End the open step: its figures enter the ranges."""
        step, self.step = self.step or {}, None
        for heard, times in step.items():
            _add(self.inside, heard, times)
        self.figures.add(totals(step, self._names))
        self.spots.add(by_spot(step))


def folded(parts: Iterable[Mapping[Heard, int]]) -> Folded:
    """The sum of several threads' events."""
    found: Folded = {}
    for part in parts:
        for heard, times in list(part.items()):
            _add(found, heard, times)
    return found


def without(events: Mapping[Heard, int], taken: Mapping[Heard, int]) -> Folded:
    """The events that are in ``events`` and not in ``taken``."""
    left = {heard: times - taken.get(heard, 0) for heard, times in events.items()}
    return {heard: times for heard, times in left.items() if times > 0}


def totals(events: Mapping[Heard, int], names: Iterable[str]) -> dict[str, int]:
    """The sum of each of the counts ``names`` (``COUNT_NAMES``, ``launches.topk``)."""
    return {name: sum(figure(heard.event, name) * times for heard, times in events.items()) for name in names}


def counts(events: Mapping[Heard, int], families: Sequence[str] = ()) -> Counts:
    """All counts; every family in ``families`` is in ``launches``, with 0 where nothing of it ran."""
    launched = dict.fromkeys((*families, *(heard.event.family for heard in events if heard.event.family)))
    launches = totals(events, (f"launches.{family}" for family in launched))
    return Counts(
        **totals(events, COUNT_NAMES),
        launches={name.removeprefix("launches."): times for name, times in launches.items()},
    )


def by_spot(events: Mapping[Heard, int]) -> dict[Spot, int]:
    """How many events each line caused; mere launches are left out."""
    found: dict[Spot, int] = {}
    for (event, _), times in events.items():
        if event.kind != "launch":
            found[spot(event)] = found.get(spot(event), 0) + times
    return found


def spot(event: Event) -> Spot:
    """Where a report has ``event``."""
    return Spot(event.site, event.kind, event.api)


def _add(events: Folded, heard: Heard, times: int) -> None:
    events[heard] = events.get(heard, 0) + times
