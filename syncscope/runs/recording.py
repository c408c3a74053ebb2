"""From what a scope heard to the record of a run."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from syncscope import __version__
from syncscope.comparison.results import Range
from syncscope.events import count_names
from syncscope.observe import tally
from syncscope.observe.ownership import in_library, shown_path
from syncscope.observe.tally import Folded, Spot
from syncscope.runs.paths import Paths
from syncscope.runs.record import Caller, LeftOut, Run, RunSite, StepsRecord
from syncscope.sites import NOWHERE, Site

if TYPE_CHECKING:
    from syncscope.observe.scope import Scope, Steps


def recorded(scope: Scope, paths: Paths | None = None) -> Run:
    """The record of what ``scope`` heard so far; the lines of ``paths`` are shown, those of every file else.

    Who ran the program adds its command, its end and the environment.
    """
    paths = paths or Paths()
    events, families, steps = scope.folded, scope.families, scope.steps
    shown = {heard: times for heard, times in events.items() if paths.show(heard.event.site.file)}
    return Run(
        provenance="simulated",
        command="",
        counts=tally.counts(events, families),
        sites=_sites(shown, steps, paths.folder),
        device=scope.device,
        threads=scope.hears_threads,
        steps=_steps(scope.per, steps, events, families),
        left_out=_left_out(tally.without(events, shown), paths, families, paths.unmatched(_files(events))),
        families=list(families),
        notes=scope.notes,
        tool=__version__,
    )


def _sites(events: Folded, steps: Steps | None, folder: str) -> list[RunSite]:
    groups: dict[Spot, Folded] = {}
    for heard, times in events.items():
        if heard.event.kind != "launch":
            groups.setdefault(tally.spot(heard.event), {})[heard] = times
    found = [_site(spot, group, steps, folder) for spot, group in groups.items()]
    return sorted(found, key=_rank)


def _rank(site: RunSite) -> tuple[int, int, str, int, str, str]:
    """What waits most comes first, then what only copies."""
    return -site.waits, -site.events, site.file, site.line, site.kind, site.api


def _site(spot: Spot, events: Folded, steps: Steps | None, folder: str) -> RunSite:
    first = next(iter(events)).event
    dtypes = {event.dtype for event, _ in events}
    return RunSite(
        file=shown_path(spot.site.file, folder),
        line=spot.site.line,
        function=spot.site.function,
        text=spot.site.text,
        library=spot.site == NOWHERE or in_library(spot.site.file),
        kind=spot.kind,
        api=spot.api,
        events=sum(events.values()),
        **tally.totals(events, ("dtoh", "htod", "dtod", "waits")),
        op=first.op,
        dtype=first.dtype if len(dtypes) == 1 else "",
        reason="; ".join(dict.fromkeys(event.reason for event, _ in events if event.reason)),
        may_wait=any(event.may_wait for event, _ in events),
        callers=_callers(events, folder),
        per_step=None if steps is None else Range(*steps.spots.of(spot)),
    )


def _callers(events: Folded, folder: str) -> list[Caller]:
    """The user's own lines that led to a library's, most frequent first."""
    found: Counter[Site] = Counter()
    for (_, caller), times in events.items():
        found[caller] += times
    del found[NOWHERE]
    return [
        Caller(shown_path(site.file, folder), site.line, site.function, site.text, times)
        for site, times in sorted(found.items(), key=lambda one: (-one[1], one[0]))
    ]


def _steps(
    per: str | None, steps: Steps | None, events: Folded, families: Sequence[str]
) -> StepsRecord | None:
    if per is None or steps is None:
        return None
    return StepsRecord(
        per=per,
        functions=steps.functions,
        steps=steps.number,
        per_step={name: Range(*steps.figures.of(name)) for name in count_names(families)},
        inside=tally.counts(steps.inside, families),
        outside=tally.counts(tally.without(events, steps.inside), families),
    )


def _files(events: Folded) -> set[str]:
    """The files whose lines were heard, and those of all modules that the program imported."""
    imported = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    return {file for file in imported if isinstance(file, str)} | {heard.event.site.file for heard in events}


def _left_out(events: Folded, paths: Paths, families: Sequence[str], unmatched: list[str]) -> LeftOut | None:
    if not (paths.only or paths.skip):
        return None
    return LeftOut(
        only=list(paths.only),
        skip=list(paths.skip),
        sites=len(tally.by_spot(events)),
        counts=tally.counts(events, families),
        unmatched=unmatched,
    )
