"""Reads that are known and wanted: code says so, with a reason, where they happen.

It is cheap where nothing is observed, and imports no torch: allowances may stand in a product's own code.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from typing_extensions import Self

from syncscope.events import Event

_READS = ("scalar_read", "vector_read", "size_read")


@dataclass(frozen=True, order=True)
class Allowance:
    """Why something is allowed, and the line that says so."""

    reason: str
    file: str
    line: int


class Heeding(Protocol):
    """Who has to be told of the allowances that are met in a thread."""

    def met(self, allowance: Allowance) -> None:
        """The thread came to ``allowance``, used or not."""


class _Here(threading.local):
    """The allowances that this thread is inside of, outermost first, and who heeds them."""

    def __init__(self) -> None:
        self.open: tuple[allowed, ...] = ()
        self.heeding: tuple[Heeding, ...] = ()


_here = _Here()


class allowed(ContextDecorator):
    """Allow the host reads and waits inside, which budgets then don't count.

        with syncscope.allowed("the prefix cache's key", reads=1):
            key = hash(tuple(tokens.tolist()))

    ``reads``, ``uploads`` and ``explicit`` (waits that are neither) say how many at most, in each use; where
    none is given there is no limit, where some are the others are 0.

    Raises:
        ValueError: ``reason`` is empty, or a number is below 0.
    """

    def __init__(
        self,
        reason: str,
        *,
        reads: int | None = None,
        uploads: int | None = None,
        explicit: int | None = None,
    ) -> None:
        """Prepare; nothing is allowed before the context is entered."""
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError(
                f"allowed takes a reason in words, not {reason!r}: say why the host may read here"
            )
        limits = {"reads": reads, "uploads": uploads, "explicit": explicit}
        wrong = {name: number for name, number in limits.items() if number is not None and number < 0}
        if wrong:
            raise ValueError(f"allowed takes numbers from 0 on, not {wrong}")
        self._reason = reason.strip()
        unlimited = all(number is None for number in limits.values())
        self._limits = None if unlimited else {name: number or 0 for name, number in limits.items()}

    def __enter__(self) -> Self:
        """Allow from now on, in this thread."""
        code = sys._getframe(1)
        self._allowance = Allowance(self._reason, code.f_code.co_filename, code.f_lineno)
        self._left: dict[int, dict[str, int]] = {}
        for scope in _here.heeding:
            scope.met(self._allowance)
        _here.open = (*_here.open, self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Allow no more."""
        _here.open = tuple(one for one in _here.open if one is not self)

    def _recreate_cm(self) -> Self:
        """A function that is decorated is allowed anew in every call."""
        return type(self)(self._reason, **(self._limits or {}))

    def takes(self, event: Event, scope: Heeding) -> Allowance | None:
        """The allowance for ``event`` in ``scope``, if there is room for it."""
        if self._limits is None:
            return self._allowance
        left = self._left.setdefault(id(scope), dict(self._limits))
        part = _part(event)
        if left.get(part, 0) < 1:
            return None
        left[part] -= 1
        return self._allowance


def _part(event: Event) -> str:
    if event.kind in _READS:
        return "reads"
    if event.kind == "upload":
        return "uploads"
    return "explicit" if event.waits else event.kind


def allowance(event: Event, scope: Heeding) -> Allowance | None:
    """What allows ``event``, which happens in this thread: the innermost allowance that has room for it."""
    if not _here.open or event.kind == "launch":
        return None
    return next((found for one in reversed(_here.open) if (found := one.takes(event, scope))), None)


@contextmanager
def heeded(scope: Heeding) -> Iterator[None]:
    """Tell ``scope`` of every allowance that this thread comes to."""
    outer = _here.heeding
    _here.heeding = (*outer, scope)
    try:
        yield
    finally:
        _here.heeding = outer
