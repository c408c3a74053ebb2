"""One test being watched: its scope, its budgets, and what came of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from syncscope.budgets import record, verdict
from syncscope.budgets.baseline import Key
from syncscope.budgets.budget import Budget, Limit
from syncscope.budgets.measures import SYNCS
from syncscope.budgets.record import Place, TestRecord
from syncscope.budgets.settled import Settled, known_excused, settle
from syncscope.budgets.verdict import Verdict
from syncscope.events import COUNT_NAMES, Event
from syncscope.observe.ownership import shown_path

if TYPE_CHECKING:
    from syncscope.observe.scope import Scope


@dataclass(frozen=True)
class Terms:
    """What holds for every test of a session.

    ``everything``: all tests are watched, and those without a budget have the baseline's. ``known`` is the
    baseline, None where there is none; while it is ``updating`` it has room for everything.
    Paths are shown relative to ``folder``; ``stacks``: failures show who called each line.
    """

    folder: str
    everything: bool = False
    known: Mapping[Key, int] | None = None
    baseline: str = ""
    updating: bool = False
    stacks: bool = False

    def key(self, event: Event) -> Key:
        """What the baseline tells the event's line by."""
        return Key(shown_path(event.site.file, self.folder), event.site.function, event.site.text)


@dataclass
class Watching:
    """A test's watch: ``begin`` and ``stop`` enclose its own code, without its fixtures'."""

    test: str
    scope: Scope
    budgets: Sequence[Budget]
    terms: Terms
    began: bool = False
    record: TestRecord | None = None

    def begin(self) -> None:
        """The test's own code begins: what its fixtures did doesn't count."""
        self.began = True
        self.scope.reset()

    def stop(self, ended: bool = True) -> list[str]:
        """The test's own code has ended: record what it did, and return the failures of its budgets."""
        settled = settle(self.scope.folded, self.scope.allowed)
        verdicts = [self._verdict(budget, settled) for budget in self.budgets or self._of_the_baseline()]
        idle = [one for one in verdicts if one.idle]
        broken = idle[:1] or [one for one in verdicts if one.broken]
        over = [verdict.headline(one) for one in broken]
        self.record = self._recorded(settled, verdicts, over, ended)
        return [verdict.message(one, self.terms.folder, self.terms.stacks) for one in broken]

    def held(self) -> Generator[None, object, object]:
        """Hold to the budgets what a hook runs at the ``yield``, whose value is passed on.

        Raises:
            pytest.fail.Exception: some budget was broken; an error of the test's own goes before.
        """
        self.begin()
        try:
            result = yield
        except BaseException:
            self.stop(ended=False)
            raise
        failures = self.stop()
        if failures:
            pytest.fail("\n\n".join(failures), pytrace=False)
        return result

    @contextmanager
    def unittest_method(self, case: Any) -> Iterator[None]:
        """Hold to the budgets what a ``unittest.TestCase`` runs between its setUp and its tearDown."""
        own = case._callTestMethod

        def held_method(method: Callable[[], object]) -> object:
            return _finish(self.held(), lambda: own(method))

        case._callTestMethod = held_method
        try:
            yield
        finally:
            del case._callTestMethod

    def sent(self) -> object:
        """The record as plain lists and dictionaries, for another process; None before the end."""
        return None if self.record is None else msgspec.to_builtins(self.record)

    def properties(self) -> list[tuple[str, object]]:
        """The figures by name, as JUnit's properties have them."""
        counts = None if self.record is None else self.record.counts
        return (
            [] if counts is None else [(f"syncscope.{name}", getattr(counts, name)) for name in COUNT_NAMES]
        )

    def _of_the_baseline(self) -> list[Budget]:
        """A test without a budget has that of the baseline, where there is one: nothing new may wait."""
        if not self.terms.everything or (self.terms.known is None and not self.terms.updating):
            return []
        return [Budget(SYNCS, Limit(0), allow_idle=True, info=f"not in {self.terms.baseline}")]

    def _verdict(self, budget: Budget, settled: Settled) -> Verdict:
        return Verdict(budget, self._with_known(budget, settled), self.scope.touched)

    def _with_known(self, budget: Budget, settled: Settled) -> Settled:
        """An exact number is a ratchet of its own: the baseline excuses nothing from it."""
        known = self.terms.known or {}
        if self.terms.updating:
            known = {self.terms.key(heard.event): _ROOM for heard in settled.charged}
        if budget.is_exact or not known:
            return settled
        return known_excused(settled, known, self.terms.key, self.terms.baseline)

    def _recorded(
        self, settled: Settled, verdicts: list[Verdict], over: list[str], ended: bool
    ) -> TestRecord:
        folder = self.terms.folder
        excused = [one for each in verdicts for one in each.settled.excused.items() if not one[0].line]
        return TestRecord(
            self.test,
            self.scope.counts,
            record.lines(self.scope.folded, folder),
            ended,
            over,
            [Place(shown_path(one.file, folder), one.line, one.reason) for one in settled.excused],
            [Place(shown_path(one.file, folder), one.line, one.reason) for one in settled.unused],
            record.known({heard: times for _, events in excused for heard, times in events.items()}, folder),
        )


def _finish(held: Generator[None, object, object], call: Callable[[], object]) -> object:
    """Run ``call`` at the ``yield`` of ``held``."""
    next(held)
    try:
        result = call()
    except BaseException as error:
        return held.throw(error)
    try:
        held.send(result)
    except StopIteration as end:
        return end.value
    raise RuntimeError("the budget was asked for a second call")


_ROOM = 1 << 62
