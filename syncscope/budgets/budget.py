"""A budget: how many host reads or waits a test, or a part of one, may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from syncscope.budgets.measures import HOST_READS, SYNCS, Measure


class WrongBudget(Exception):
    """A budget that says nothing, or contradicts itself; the message says what to write instead."""


@dataclass(frozen=True)
class Limit:
    """A number that has to be met exactly, or that may not be exceeded."""

    number: int
    exact: bool = True

    def __post_init__(self) -> None:
        """Refuse what is no count."""
        if isinstance(self.number, bool) or not isinstance(self.number, int) or self.number < 0:
            raise WrongBudget(f"a budget is a whole number from 0 on, not {self.number!r}")

    def holds(self, found: int) -> bool:
        """Whether ``found`` keeps to it."""
        return found == self.number if self.exact else found <= self.number

    def __str__(self) -> str:
        """``exactly 1``, ``at most 3``, ``none``."""
        if self.number == 0:
            return "none"
        return f"{'exactly' if self.exact else 'at most'} {self.number}"


@dataclass(frozen=True)
class Budget:
    """The limits of one measure: of its ``total``, and of some of its ``parts``.

    ``allow_idle``: whether code that never touched a tensor on the device passes. ``info`` is the author's
    own word for the region, shown when it fails.
    """

    measure: Measure
    total: Limit | None = None
    parts: Mapping[str, Limit] = field(default_factory=dict)
    allow_idle: bool = False
    info: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether some number has to be met, not only kept under."""
        limits = [*self.parts.values(), *([] if self.total is None else [self.total])]
        return any(limit.exact and limit.number for limit in limits)

    def broken(self, found: Mapping[str, int]) -> bool:
        """Whether ``found``, a number for each part, goes against any limit."""
        whole = self.total is None or self.total.holds(self.measure.total(found))
        return not (whole and all(limit.holds(found.get(part, 0)) for part, limit in self.parts.items()))


def limited(
    measure: Measure,
    exactly: int | None = None,
    at_most: int | None = None,
    parts: Mapping[str, int | None] | None = None,
    allow_idle: bool = False,
    info: str = "",
) -> Budget:
    """A budget of the numbers that are given; those of the parts are exact, or maxima beside ``at_most``.

    Raises:
        WrongBudget: no number is given, or both ``exactly`` and ``at_most`` are, or one is no count.
    """
    given = {part: number for part, number in (parts or {}).items() if number is not None}
    if exactly is not None and at_most is not None:
        raise WrongBudget("exactly and max were both given: keep one of them")
    if exactly is None and at_most is None and not given:
        raise WrongBudget(f"no number was given: say exactly=N, max=N, or {_parts(measure)}=N")
    exact = at_most is None
    number = exactly if exact else at_most
    return Budget(
        measure,
        None if number is None else Limit(number, exact),
        {part: Limit(number, exact) for part, number in given.items()},
        allow_idle,
        info,
    )


def host_reads(limit: Limit, kind: str | None = None, allow_idle: bool = False, info: str = "") -> Budget:
    """A limit for all host reads, or for those of one ``kind``: scalar, vector or size.

    Raises:
        WrongBudget: there is no such kind.
    """
    if kind is None:
        return Budget(HOST_READS, limit, {}, allow_idle, info)
    if kind not in HOST_READS.parts:
        raise WrongBudget(f"kind is one of {', '.join(HOST_READS.parts)}, not {kind!r}")
    return Budget(HOST_READS, None, {kind: limit}, allow_idle, info)


def _parts(measure: Measure) -> str:
    return "=N, ".join(part for part in measure.parts if part != "inside")


def no_host_reads(allow_idle: bool = False, info: str = "") -> Budget:
    """The host obtains nothing from the device: no element, no values, no size."""
    return Budget(HOST_READS, Limit(0), allow_idle=allow_idle, info=info)


def no_syncs(allow_idle: bool = False, info: str = "") -> Budget:
    """The host never waits."""
    return Budget(SYNCS, Limit(0), allow_idle=allow_idle, info=info)
