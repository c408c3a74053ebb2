"""A session of tests: what came of every test that was watched, and what is to be said at its end."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from syncscope import __version__
from syncscope.budgets import baseline, comments, record
from syncscope.budgets.baseline import Baseline, Key, Known
from syncscope.budgets.budget import Budget
from syncscope.budgets.record import Place, SessionRecord, TestLine, TestRecord
from syncscope.budgets.regions import Regions
from syncscope.budgets.watching import Terms, Watching
from syncscope.comparison.results import write_whole
from syncscope.observe.ownership import in_library, shown_path
from syncscope.observe.scope import Scope

_SHOWN = 10
_STACK = 8


@dataclass(frozen=True)
class Settings:
    """How a session is watched: where, on which ``device``, and what it is held against.

    ``everything``: every test is watched. ``json`` is the file that gets the record, if any; paths are shown
    relative to ``folder``; ``stacks``: failures show who called each line.
    """

    folder: Path
    device: Literal["sim", "cuda"]
    everything: bool
    baseline: Path
    updating: bool
    json: Path | None
    stacks: bool


class Session:
    """Watches tests, and gathers their records, those that other processes send too."""

    def __init__(self, settings: Settings) -> None:
        """Nothing has been watched.

        Raises:
            UnusableResult: there is a baseline, and it can't be read.
        """
        self._settings, self.folder = settings, str(settings.folder)
        self._written = baseline.read(settings.baseline)
        self.terms = Terms(
            self.folder,
            settings.everything,
            None if self._written is None else self._written.counts(),
            settings.baseline.name,
            settings.updating,
            settings.stacks,
        )
        self.regions = Regions(self.scope, self.terms)
        self.tests: list[TestRecord] = []
        self._comments: set[Place] = set()

    def scope(self) -> Scope:
        """A scope for a test, or for a part of one; threads that are started in it are heard."""
        stack = _STACK if self._settings.stacks else 1
        return Scope(self._settings.device, stack=stack, threads=True)

    def watching(self, test: str, budgets: Sequence[Budget]) -> Watching:
        """The watch of one test."""
        return Watching(test, self.scope(), budgets, self.terms)

    def add(self, sent: object) -> None:
        """Take a test's record as ``sent`` from where it ran."""
        self.tests.append(msgspec.convert(sent, TestRecord))

    def add_comments(self, sent: object) -> None:
        """Take the line comments that another process met."""
        self._comments.update(msgspec.convert(sent, list[Place]))

    def comments(self) -> object:
        """The comments that allow something, in the project's own files that this process has imported.

        As plain lists, which another process can be sent.
        """
        files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
        found = [
            Place(shown_path(one.file, self.folder), one.line, one.reason)
            for file in files
            if isinstance(file, str) and file.startswith(self.folder) and not in_library(file)
            for one in comments.within(file)
        ]
        return msgspec.to_builtins(found)

    def unused(self) -> list[Place]:
        """The allowances that were met in this session and took nothing in any test."""
        used = {(one.file, one.line) for test in self.tests for one in test.used}
        met = self._comments | {one for test in self.tests for one in test.unused}
        return sorted(one for one in met if one.reason and (one.file, one.line) not in used)

    def record(self) -> SessionRecord:
        """The whole session as data."""
        tests = sorted(self.tests, key=lambda test: test.test)
        lines = record.by_line(tests)
        return SessionRecord(tests, lines, self.unused(), self._settings.device, __version__)

    def write(self, there: Collection[str] | None) -> None:
        """Write the files that were asked for; ``there`` are all tests of the project, where all ran.

        Raises:
            OSError: one can't be written; it is then as it was.
        """
        if self._settings.updating:
            made = baseline.updated(
                self._written or Baseline(), record.most_known(self.tests), self._gone(there)
            )
            baseline.write(made, self._settings.baseline)
        if self._settings.json is not None:
            content = msgspec.json.format(msgspec.json.encode(self.record()), indent=2) + b"\n"
            write_whole(self._settings.json, content)

    def _gone(self, there: Collection[str] | None) -> list[Known]:
        ended = {test.test for test in self.tests if test.ended}
        met = {Key(line.file, line.function, line.text) for test in self.tests for line in test.lines}
        everything = there if self._settings.everything else None
        return baseline.gone(self._written or Baseline(), met, ended, everything)

    def lines(self, there: Collection[str] | None) -> list[str]:
        """What is to be said at the end."""
        waits = _waits(self.tests) if self._settings.everything else ()
        return [*waits, *self._remarks(there)]

    def _remarks(self, there: Collection[str] | None) -> Iterator[str]:
        """What should be mended: allowances never used, known waits that are gone or have no reason."""
        for one in self.unused():
            yield f"never used in this session: the allowance at {one.file}:{one.line} ({one.reason})"
        if self._written is None or self._settings.updating:
            return
        file = self._settings.baseline.name
        for known in self._gone(there):
            place = f"{known.file} in {known.function}: {known.text}"
            yield f"no longer waits, strike it from {file} (--syncscope-update does): {place}"
        wordless = sum(not known.reason for known in self._written.sites)
        if wordless:
            yield f"{file}: {_number(wordless, 'line')} without a reason, write why it may wait"


def _waits(tests: Sequence[TestRecord]) -> Iterator[str]:
    """The lines that wait most, and the tests that they waited in."""
    found = [one for one in record.by_line(tests) if one.line.waits or one.line.kind != "copy"]
    waits = sum(one.line.waits for one in found)
    over = sum(bool(test.over) for test in tests)
    yield f"{_number(len(tests), 'test')} watched, {over} over budget; {_number(waits, 'wait')}"
    for one in found[:_SHOWN]:
        yield from _line(one)
    if len(found) > _SHOWN:
        yield f"  and {_number(len(found) - _SHOWN, 'line')} more: --syncscope-json FILE has all"


def _line(one: TestLine) -> Iterator[str]:
    line = one.line
    kind = line.kind.replace("_", " ")
    yield f"  {line.events} {kind} by {line.api}: {line.file}:{line.line} in {line.function}: {line.text}"
    named = [f"{test} ({number})" for test, number in one.tests.items()]
    more = f" and {_number(len(named) - 3, 'test')} more" if len(named) > 3 else ""
    yield f"      in {', '.join(named[:3])}{more}"


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
