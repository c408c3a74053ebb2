"""A budget for a part of a test."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

import pytest

from syncscope.budgets import budget
from syncscope.budgets.budget import Budget, Limit
from syncscope.budgets.capture import Capture
from syncscope.budgets.settled import settle
from syncscope.budgets.verdict import Verdict, message
from syncscope.budgets.watching import Terms
from syncscope.observe.scope import Scope


class Region:
    """Holds what is inside to ``budget``; what it captures can be looked at inside and afterwards.

    Raises:
        pytest.fail.Exception: it went over budget, or nothing in it ran on the device.
    """

    def __init__(self, budget: Budget, scope: Scope, terms: Terms) -> None:
        """Prepare; nothing is captured before the region is entered."""
        self._budget, self._scope, self._terms = budget, scope, terms

    def __enter__(self) -> Capture:
        """Capture from now on."""
        self._scope.__enter__()
        return Capture(self._scope)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Judge; an error of the code's own goes before."""
        __tracebackhide__ = True
        self._scope.__exit__(kind, error, trace)
        if error is None:
            settled = settle(self._scope.folded, self._scope.allowed)
            verdict = Verdict(self._budget, settled, self._scope.touched)
            if verdict.broken:
                pytest.fail(message(verdict, self._terms.folder, self._terms.stacks))


class Regions:
    """Makes regions, each with a scope of its own."""

    def __init__(self, scope: Callable[[], Scope], terms: Terms) -> None:
        """Take what makes a scope, and the session's terms."""
        self._scope, self._terms = scope, terms

    def exactly(
        self, n: int, *, kind: str | None = None, info: str | None = None, allow_idle: bool = False
    ) -> Region:
        """Inside, the host obtains exactly ``n`` values or sizes.

        Raises:
            WrongBudget: ``n`` is no count, or there is no such kind.
        """
        return self._region(budget.host_reads(Limit(n), kind, allow_idle, info or ""))

    def at_most(
        self, n: int, *, kind: str | None = None, info: str | None = None, allow_idle: bool = False
    ) -> Region:
        """Inside, the host obtains at most ``n`` values or sizes.

        Raises:
            WrongBudget: ``n`` is no count, or there is no such kind.
        """
        return self._region(budget.host_reads(Limit(n, exact=False), kind, allow_idle, info or ""))

    def no_host_reads(self, *, info: str | None = None, allow_idle: bool = False) -> Region:
        """Inside, the host obtains nothing."""
        return self._region(budget.no_host_reads(allow_idle, info or ""))

    def no_syncs(self, *, info: str | None = None, allow_idle: bool = False) -> Region:
        """Inside, the host never waits."""
        return self._region(budget.no_syncs(allow_idle, info or ""))

    def _region(self, limits: Budget) -> Region:
        return Region(limits, self._scope(), self._terms)
