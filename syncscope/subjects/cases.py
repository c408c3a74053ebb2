"""The sweep: which variables take which values, and the cases that come of it."""

from __future__ import annotations

import itertools
import keyword
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from syncscope.subjects import UnusableSweep

SweepValue = int | float | str
"""A swept value; a word that is no number stays a text (``bfloat16``)."""

Case: TypeAlias = Mapping[str, SweepValue]
"""One point of a sweep: a value for each variable."""


@dataclass(frozen=True)
class Sweep:
    """Variables in order, each with its values; several variables multiply.

    Raises:
        UnusableSweep: a variable has no value or one it can't have, or comes twice.
    """

    variables: tuple[tuple[str, tuple[SweepValue, ...]], ...] = ()

    def __post_init__(self) -> None:
        """Check every variable."""
        for place, (name, values) in enumerate(self.variables):
            if name in self.names[:place]:
                raise UnusableSweep(f"{name} is swept twice: give all its values at once, {name}=4,8,12")
            _check_name(name)
            _check_values(name, values)

    @property
    def names(self) -> tuple[str, ...]:
        """All variables, those with a single value too."""
        return tuple(name for name, _ in self.variables)

    @property
    def swept(self) -> list[str]:
        """The variables that vary: those with more than one value."""
        return [name for name, values in self.variables if len(values) > 1]

    def cases(self) -> list[dict[str, SweepValue]]:
        """Every combination of the values, the first variable outermost; one empty case without variables."""
        combinations = itertools.product(*(values for _, values in self.variables))
        return [dict(zip(self.names, combination, strict=True)) for combination in combinations]


def sweep_of(variables: Iterable[tuple[str, Sequence[SweepValue]]]) -> Sweep:
    """The sweep of some variables; texts become numbers where they are some.

    Raises:
        UnusableSweep: a variable has no value or one it can't have, or comes twice.
    """
    return Sweep(tuple((name, tuple(parse_value(value) for value in values)) for name, values in variables))


def place(case: Case) -> str:
    """``frames=8, q=0.5``: how messages name a case."""
    return ", ".join(f"{name}={value}" for name, value in case.items()) or "the only case"


def parse_sweep(text: str) -> tuple[str, tuple[SweepValue, ...]]:
    """Take ``n=4,8,12`` apart.

    Raises:
        UnusableSweep: there is no name, no value, or one that the variable can't have.
    """
    name, equals, values = (part.strip() for part in text.partition("="))
    if not equals or not values:
        raise UnusableSweep(f"`{text}` is no sweep: write a name and its values, {name or 'n'}=4,8,12")
    parsed = tuple(parse_value(value.strip()) for value in values.split(","))
    _check_name(name)
    _check_values(name, parsed)
    return name, parsed


def parse_value(value: SweepValue) -> SweepValue:
    """A text as a whole number or a finite float where it is one, else as it is."""
    for number in (int, float):
        try:
            if isinstance(value, str) and math.isfinite(number(value)):
                return number(value)
        except (ValueError, OverflowError):
            continue
    return value


def _is_count(value: SweepValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_seed(value: SweepValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**32


def _is_rate(value: SweepValue) -> bool:
    return not isinstance(value, (str, bool)) and 0 <= value < 1


_MEANING: dict[str, tuple[Callable[[SweepValue], bool], str]] = {
    "frames": (_is_count, "a whole number >= 1"),
    "tokens_per_frame": (_is_count, "a whole number >= 1"),
    "hidden": (_is_count, "a whole number >= 1"),
    "q": (_is_rate, "a number in [0, 1), the fraction pruned"),
    "seed": (_is_seed, "a whole number from 0 to 4294967295"),
}


def _check_name(name: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UnusableSweep(f"`{name}` is no name of a variable: write n=4,8,12")
    if name == "device":
        raise UnusableSweep("device is not swept: one run has one device, --device")


def _check_values(name: str, values: tuple[SweepValue, ...]) -> None:
    if not values:
        raise UnusableSweep(f"{name} has no values: give at least one, {name}=4,8,12")
    if "" in values:
        raise UnusableSweep(f"{name} has an empty value: write {name}=4,8,12")
    if len(set(values)) < len(values):
        raise UnusableSweep(f"{name} has a value twice in {', '.join(map(str, values))}: give each once")
    allows, meaning = _MEANING.get(name, (lambda value: True, ""))
    for value in itertools.filterfalse(allows, values):
        raise UnusableSweep(f"{name} must be {meaning}, not `{value}`")
