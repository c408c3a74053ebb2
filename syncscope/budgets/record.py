"""What a session of tests did, as data that crosses processes and is written to a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from syncscope.budgets.baseline import Key, Known
from syncscope.budgets.settled import matters
from syncscope.events import Counts
from syncscope.observe import tally
from syncscope.observe.ownership import shown_path
from syncscope.observe.tally import Folded

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Line:
    """A line that caused events of one kind through one spelling: how many, and with how many waits."""

    file: str
    line: int
    function: str
    text: str
    kind: str
    api: str
    events: int
    waits: int


@dataclass(frozen=True, order=True)
class Place:
    """An allowance: its line and its reason."""

    file: str
    line: int
    reason: str


@dataclass(frozen=True)
class TestRecord:
    """What one test did while it was watched.

    ``ended``: it came to its own end, without an error. ``over`` are the first lines of the failures of its
    budgets. ``used`` and ``unused`` are the allowances that took something, or nothing. ``known`` are the
    lines that the baseline excused, and how often.
    """

    test: str
    counts: Counts
    lines: list[Line]
    ended: bool = True
    over: list[str] = field(default_factory=list)
    used: list[Place] = field(default_factory=list)
    unused: list[Place] = field(default_factory=list)
    known: list[Known] = field(default_factory=list)

    __test__ = False  # not one of pytest's


@dataclass(frozen=True)
class TestLine:
    """A line with its totals over all tests, and the totals of each test's."""

    line: Line
    tests: dict[str, int]

    __test__ = False


@dataclass(frozen=True)
class SessionRecord:
    """A whole session: every test that was watched, the lines that wait most, the allowances never used."""

    tests: list[TestRecord]
    lines: list[TestLine]
    unused: list[Place]
    device: str
    tool: str = ""
    schema_version: int = SCHEMA_VERSION
    record: str = "tests"


def lines(events: Folded, folder: str) -> list[Line]:
    """The lines in ``events``, launches left out."""
    found: dict[tally.Spot, list[int]] = {}
    for heard, times in events.items():
        if heard.event.kind != "launch":
            numbers = found.setdefault(tally.spot(heard.event), [0, 0])
            numbers[0] += times
            numbers[1] += times * heard.event.waits
    return [
        Line(
            shown_path(spot.site.file, folder),
            spot.site.line,
            spot.site.function,
            spot.site.text,
            spot.kind,
            spot.api,
            *numbers,
        )
        for spot, numbers in found.items()
    ]


def known(events: Folded, folder: str) -> list[Known]:
    """The lines in ``events`` that read or wait, as a baseline has them."""
    found: dict[Key, Known] = {}
    for heard, times in events.items():
        if not matters(heard.event):
            continue
        site = heard.event.site
        key = Key(shown_path(site.file, folder), site.function, site.text)
        count = times + (found[key].count if key in found else 0)
        found[key] = Known(*key, count=count, line=site.line)
    return list(found.values())


def most_known(tests: Iterable[TestRecord]) -> dict[Key, Known]:
    """Each known line with the highest count that it has in any test."""
    found: dict[Key, Known] = {}
    for test in tests:
        for one in test.known:
            if one.key not in found or found[one.key].count < one.count:
                found[one.key] = replace(one, test=test.test)
    return found


def by_line(tests: Iterable[TestRecord]) -> list[TestLine]:
    """The lines of all tests, those that wait most first."""
    found: dict[Line, tuple[list[int], dict[str, int]]] = {}
    for test in tests:
        for line in test.lines:
            place = Line(line.file, line.line, line.function, line.text, line.kind, line.api, 0, 0)
            numbers, of_tests = found.setdefault(place, ([0, 0], {}))
            numbers[0] += line.events
            numbers[1] += line.waits
            of_tests[test.test] = of_tests.get(test.test, 0) + line.events
    merged = [
        TestLine(
            Line(one.file, one.line, one.function, one.text, one.kind, one.api, *numbers),
            dict(sorted(of_tests.items(), key=lambda item: (-item[1], item[0]))),
        )
        for one, (numbers, of_tests) in found.items()
    ]
    return sorted(merged, key=lambda one: (-one.line.waits, -one.line.events, one.line.file, one.line.line))
