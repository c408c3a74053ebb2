"""Whether a region kept to its budget, and how that is said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from syncscope.budgets.budget import Budget, Limit
from syncscope.budgets.measures import Measure
from syncscope.budgets.settled import Settled, amounts
from syncscope.events import Event
from syncscope.observe import tally
from syncscope.observe.ownership import shown_path
from syncscope.observe.tally import Folded, Heard
from syncscope.sites import NOWHERE, Site


@dataclass(frozen=True)
class Verdict:
    """What a region did, held against its ``budget``; ``touched``: whether anything ran on the device."""

    budget: Budget
    settled: Settled
    touched: bool

    @property
    def idle(self) -> bool:
        """Whether nothing was looked at, so that the figures say nothing."""
        heard = self.settled.charged or self.settled.excused
        return not (self.touched or self.budget.allow_idle or heard)

    @property
    def found(self) -> dict[str, int]:
        """The numbers that count, by part."""
        return amounts(self.settled.charged, self.budget.measure)

    @property
    def unknown(self) -> Folded:
        """Operators and threads of which nothing is known: each may hide what the budget forbids."""
        return {
            one: times
            for one, times in self.settled.charged.items()
            if one.event.kind == "unknown" and not is_process(one.event)
        }

    @property
    def broken(self) -> bool:
        """Whether the test has to fail."""
        return bool(
            self.idle or self.unknown or self.settled.without_reason or self.budget.broken(self.found)
        )


def is_process(event: Event) -> bool:
    """Whether a process was started: it has tensors of its own, and this one waits for none of them."""
    return event.kind == "unknown" and not event.op and event.api in _PROCESSES


_PROCESSES = frozenset(
    {
        "subprocess.Popen",
        "multiprocessing.Process.start",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.posix_spawnp",
        "os.system",
    }
)


def message(verdict: Verdict, folder: str, stacks: bool = False) -> str:
    """The failure: what was expected and found, then the lines; paths are relative to ``folder``.

    With ``stacks``, the frames that led to each line are there too.
    """
    return "\n".join(_lines(verdict, folder, stacks))


def _lines(verdict: Verdict, folder: str, stacks: bool) -> Iterator[str]:
    yield headline(verdict)
    charged = verdict.settled.charged
    yield from lines(
        {one: n for one, n in charged.items() if _counts(one.event, verdict.budget)}, folder, stacks
    )
    yield from lines(verdict.unknown, folder, stacks)
    for excuse, events in verdict.settled.excused.items():
        where = f"{shown_path(excuse.file, folder)}:{excuse.line}" if excuse.line else excuse.file
        yield f"  allowed: {_sum(events)} ({where}: {excuse.reason})"
    for one in verdict.settled.unused:
        yield f"  never used: allowed({one.reason!r}) at {shown_path(one.file, folder)}:{one.line}"
    for comment in verdict.settled.without_reason:
        where = f"{shown_path(comment.file, folder)}:{comment.line}"
        yield f"  no reason: `# syncscope: allow` at {where} allows nothing before it says why"


def headline(verdict: Verdict) -> str:
    """``host reads: expected exactly 1, found 5 (4 scalar, 1 vector)``."""
    budget = verdict.budget
    info = f" [{budget.info}]" if budget.info else ""
    if verdict.idle:
        return (
            f"{budget.measure.name}{info}: nothing ran on the device, so nothing was checked; "
            "make the tensors on syncscope_device, or say allow_idle=True"
        )
    found = said(budget, verdict.found)
    return f"{budget.measure.name}{info}: expected {expected(budget)}, found {found}{_and_unknown(verdict)}"


def _and_unknown(verdict: Verdict) -> str:
    number = sum(verdict.unknown.values())
    if not number:
        return ""
    return f", and {number} unknown operator{'s' * (number > 1)} that may {verdict.budget.measure.verb}"


def expected(budget: Budget) -> str:
    """``exactly 1``, ``at most 3 (no scalar)``, ``exactly 2 scalar``."""
    parts = ", ".join(_expected_part(budget.measure, part, limit) for part, limit in budget.parts.items())
    if budget.total is None:
        return parts
    return f"{budget.total} ({parts})" if parts else str(budget.total)


def _expected_part(measure: Measure, part: str, limit: Limit) -> str:
    """``exactly 1 vector``, ``no scalar``."""
    word = measure.parts[part][limit.number != 1]
    return f"{limit} {word}" if limit.number else f"no {word}"


def said(budget: Budget, found: Mapping[str, int]) -> str:
    """``5 (4 scalar, 1 vector)``, ``0``."""
    parts = [
        f"{found[part]} {words[found[part] != 1]}"
        for part, words in budget.measure.parts.items()
        if found.get(part) and _concerns(part, budget)
    ]
    total = budget.measure.total(found)
    return f"{total} ({', '.join(parts)})" if parts else str(total)


def _counts(event: Event, budget: Budget) -> bool:
    return any(_concerns(part, budget) for part in budget.measure.amounts(event))


def _concerns(part: str, budget: Budget) -> bool:
    """Whether the budget says anything of ``part``: what stands beside the total has to be named."""
    return part in budget.parts or part not in budget.measure.beside


def lines(events: Folded, folder: str, stacks: bool = False) -> Iterator[str]:
    """One line for each place in the code, most frequent first: how often, what, where, and its text."""
    spots: dict[tally.Spot, Folded] = {}
    for heard, times in events.items():
        spots.setdefault(tally.spot(heard.event), {})[heard] = times
    for spot, group in sorted(spots.items(), key=lambda one: (-sum(one[1].values()), one[0])):
        kind = spot.kind.replace("_", " ")
        yield f"  {sum(group.values())} {kind} by {spot.api}: {place(spot.site, folder)}"
        yield from _below(next(iter(group)), folder, stacks)


def _below(heard: Heard, folder: str, stacks: bool) -> Iterator[str]:
    """Who called the line: the user's own line where a library's waits, or the whole stack."""
    if heard.event.kind == "unknown" and heard.event.reason:
        yield f"      {heard.event.reason}"
    callers = heard.event.stack[1:] if stacks else () if heard.caller == NOWHERE else (heard.caller,)
    for site in callers:
        yield f"      called from {place(site, folder)}"


def place(site: Site, folder: str) -> str:
    """``prune.py:60 in mask: ks[i].item()``."""
    where = f"{shown_path(site.file, folder)}:{site.line} in {site.function}"
    return f"{where}: {site.text}" if site.text else where


def _sum(events: Folded) -> str:
    """``2 scalar reads, 1 upload``."""
    numbers: dict[str, int] = {}
    for heard, times in events.items():
        kind = heard.event.kind.replace("_", " ")
        numbers[kind] = numbers.get(kind, 0) + times
    return ", ".join(f"{number} {kind}{'s' * (number > 1)}" for kind, number in numbers.items())
