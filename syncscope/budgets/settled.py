"""What of the events in a region counts against its budget, and what is excused, with the reasons."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from syncscope.budgets import comments
from syncscope.budgets.comments import Comment
from syncscope.budgets.measures import READ_KINDS, Measure
from syncscope.events import Event
from syncscope.observe import tally
from syncscope.observe.allowances import Allowance
from syncscope.observe.tally import Folded, Heard

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True)
class Excuse:
    """Why something isn't counted: the ``reason`` that was given, and the line or file that gives it."""

    reason: str
    file: str
    line: int = 0


@dataclass(frozen=True)
class Settled:
    """The events of a region: those that are ``charged`` to it, and those that are ``excused``.

    ``unused`` are allowances that were come to and allowed nothing, ``without_reason`` comments that
    allow nothing since they don't say why.
    """

    charged: Folded
    excused: dict[Excuse, Folded] = field(default_factory=dict)
    unused: list[Allowance] = field(default_factory=list)
    without_reason: list[Comment] = field(default_factory=list)


def matters(event: Event) -> bool:
    """Whether the host reads or waits, or whether that isn't known."""
    return event.kind in READ_KINDS or event.waits > 0 or event.kind == "unknown"


def settle(heard: Folded, allowed: Mapping[Allowance, Folded]) -> Settled:
    """Excuse what happened where code, or a comment at its line, allows it."""
    excused = {
        Excuse(one.reason, one.file, one.line): dict(events) for one, events in allowed.items() if events
    }
    charged = heard
    for events in excused.values():
        charged = tally.without(charged, events)
    without_reason: list[Comment] = []
    for one, times in list(charged.items()):
        comment = _comment(one)
        if comment is None or one.event.kind == "launch":
            continue
        if not comment.reason:
            without_reason.append(comment)
            continue
        del charged[one]
        excused.setdefault(Excuse(comment.reason, comment.file, comment.line), {})[one] = times
    unused = [one for one, events in allowed.items() if not events]
    return Settled(charged, excused, unused, list(dict.fromkeys(without_reason)))


def _comment(heard: Heard) -> Comment | None:
    """The comment at the line itself, or at the user's own line that called a library's."""
    found = comments.at(heard.event.site.file, heard.event.site.line)
    return found or comments.at(heard.caller.file, heard.caller.line)


def known_excused(settled: Settled, known: Mapping[K, int], key: Callable[[Event], K], where: str) -> Settled:
    """Excuse as well what a committed list of ``known`` events, told apart by ``key``, has room for."""
    left = dict(known)
    charged: Folded = {}
    excused: Folded = {}
    for one, times in settled.charged.items():
        taken = min(times, left.get(key(one.event), 0)) if matters(one.event) else 0
        if taken:
            left[key(one.event)] -= taken
            excused[one] = taken
        if times > taken:
            charged[one] = times - taken
    if not excused:
        return settled
    return replace(settled, charged=charged, excused={**settled.excused, Excuse("known", where): excused})


def amounts(heard: Folded, measure: Measure) -> dict[str, int]:
    """What the events add to each part of ``measure``."""
    found: dict[str, int] = {}
    for one, times in heard.items():
        for part, number in measure.amounts(one.event).items():
            found[part] = found.get(part, 0) + number * times
    return found
