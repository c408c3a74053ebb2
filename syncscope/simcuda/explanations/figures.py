"""The words in which a cost is stated: ``1 DtoH, 1 wait; nothing with output_size``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COUNT = r"\d+(?: to \d+| or more)?"
_ITEM = rf"{_COUNT} (?:DtoH|HtoD|DtoD|waits?|unknown)"
_CLAUSE = re.compile(rf"(?P<amount>nothing|{_ITEM}(?:, {_ITEM})*)(?P<condition>\b.*)?")
_WAITS = re.compile(r"(?:[1-9]\d*|\d+ to \d+|\d+ or more) waits?\b")


@dataclass(frozen=True)
class Clause:
    """One amount (``1 DtoH, 1 wait``), and the condition under which it comes; empty where it always does."""

    amount: str
    condition: str

    def __str__(self) -> str:
        """The clause as it was stated."""
        return self.amount + self.condition

    @property
    def waits(self) -> bool:
        """Whether the host waits."""
        return _WAITS.search(self.amount) is not None


def clauses(figures: str) -> tuple[Clause, ...]:
    """The clauses of ``figures``.

    Raises:
        ValueError: one of them has no amount in front.
    """
    return tuple(_clause(text) for text in figures.split("; "))


def _clause(text: str) -> Clause:
    found = _CLAUSE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} states no amount first; write for example '1 DtoH, 1 wait with a tensor'")
    return Clause(found["amount"], found["condition"] or "")


def waits(figures: str) -> bool:
    """Whether the host waits in any case that ``figures`` state."""
    return any(clause.waits for clause in clauses(figures))
