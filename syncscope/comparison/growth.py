"""How counts grow over the cases: laws found exactly, on integers, never by regression."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from math import prod

from syncscope.comparison.results import Extra, Law, Range
from syncscope.subjects.cases import Case, SweepValue

# Papers write T for the number of frames; every other variable keeps its own name.
_SYMBOLS = {"frames": "T"}
# So many distinct values of its variable a line needs, for any two numbers lie on one.
_FOR_A_LINE = 3
# So many cases' numbers are told one by one.
_TOLD = 4


@dataclass(frozen=True)
class Observation:
    """What one call did, seen through one count.

    ``point`` is its case's sweep values; ``total`` the call's events; ``by_line`` how many of them each line
    of the subject's file caused; ``visited`` the lines of that file that ran in it.
    """

    point: Case
    total: int
    by_line: Mapping[int, int] = field(default_factory=dict)
    visited: frozenset[int] = frozenset()


def law(points: Sequence[Case], values: Sequence[int], swept: Sequence[str]) -> Law:
    """The law of one value a case: constant, linear in one of ``swept`` or in a product of two, or other.

    Linear means ``base + slope * variable`` for every case, with whole ``base`` and ``slope``, over three
    distinct values of the variable at least, for a line goes through any two. Where several variables fit,
    the first of ``swept`` is named; products (variable ``n*m``) are tried after them.

    Raises:
        ValueError: there is no case, or not one value a case.
    """
    if not values or len(points) != len(values):
        raise ValueError(f"a law needs one value for each case: got {len(values)} for {len(points)} cases")
    if len(set(values)) == 1:
        return Law("constant", base=values[0], text=str(values[0]))
    for names in [*combinations(swept, 1), *combinations(swept, 2)]:
        line = _line(_products(points, names), values)
        if line:
            base, slope = line
            return Law("linear", base, slope, "*".join(names), text=_linear_text(base, slope, names))
    return _other(points, [Range(value, value) for value in values], swept)


def total_law(
    observations: Sequence[Observation], branches: Sequence[tuple[int, int]], swept: Sequence[str]
) -> Law:
    """The law of a call's total, apart from what lines added that run for some inputs only.

    ``branches`` are the disjoint groups of such lines (first, last). Where one law holds for every call
    alike, that is the law. Otherwise the base is the law of the events outside the branches, and every
    branch that caused events is an ``Extra``, whose law is found over the calls that ran it. A number that
    still varies between the calls of a case makes its law ``other``: ``values`` are the largest, ``text``
    gives the ranges.

    Raises:
        ValueError: there is no observation.
    """
    whole = _law_over_cases([(seen.point, seen.total) for seen in observations], swept)
    if whole.kind != "other":
        return whole
    causing = [lines for lines in branches if any(_events(seen, lines) for seen in observations)]
    outside = [(seen.point, seen.total - sum(_events(seen, b) for b in causing)) for seen in observations]
    extras = [Extra(lines, _law_where_run(observations, lines, swept)) for lines in causing]
    base = _law_over_cases(outside, swept)
    return replace(base, extras=extras, text=_text_with_extras(base.text, extras))


def _law_where_run(observations: Sequence[Observation], lines: tuple[int, int], swept: Sequence[str]) -> Law:
    return _law_over_cases(
        [(seen.point, _events(seen, lines)) for seen in observations if _ran(seen, lines)], swept
    )


def _events(seen: Observation, lines: tuple[int, int]) -> int:
    return sum(events for line, events in seen.by_line.items() if _within(line, lines))


def _ran(seen: Observation, lines: tuple[int, int]) -> bool:
    return any(_within(line, lines) for line in (*seen.visited, *seen.by_line))


def _within(line: int, lines: tuple[int, int]) -> bool:
    return lines[0] <= line <= lines[1]


def _law_over_cases(numbers: Iterable[tuple[Case, int]], swept: Sequence[str]) -> Law:
    """The law of numbers that come several a case."""
    cases: dict[tuple[tuple[str, SweepValue], ...], list[int]] = {}
    for point, number in numbers:
        cases.setdefault(tuple(sorted(point.items())), []).append(number)
    points = [dict(key) for key in cases]
    ranges = [Range(min(case), max(case)) for case in cases.values()]
    if any(each.varies for each in ranges):
        return _other(points, ranges, swept)
    return law(points, [each.high for each in ranges], swept)


def _other(points: Sequence[Case], ranges: Sequence[Range], swept: Sequence[str]) -> Law:
    """The numbers of a few cases, each with its case; the smallest and the largest of many."""
    if len(ranges) > _TOLD:
        text = str(Range(min(each.low for each in ranges), max(each.high for each in ranges)))
    else:
        varied = [name for name in swept if len({point[name] for point in points}) > 1]
        text = ", ".join(_told(each, point, varied) for each, point in zip(ranges, points, strict=True))
    return Law("other", values=[each.high for each in ranges], text=text)


def _told(number: Range, point: Case, varied: Sequence[str]) -> str:
    """``8``, ``8 at n=4`` or ``8 (n=4, m=2)``: a number, and which case it belongs to."""
    case = ", ".join(f"{_symbol(name)}={point[name]}" for name in varied)
    if not case:
        return str(number)
    return f"{number} at {case}" if len(varied) == 1 else f"{number} ({case})"


def _products(points: Sequence[Case], names: Sequence[str]) -> list[Fraction | None]:
    """The product of some variables in each case; nothing where one of them is no number or never changes."""
    factors = [[_exact(point[name]) for point in points] for name in names]
    if any(len(set(values)) == 1 for values in factors):
        return [None] * len(points)
    return [_product(case) for case in zip(*factors, strict=True)]


def _product(factors: Sequence[Fraction | None]) -> Fraction | None:
    known = [factor for factor in factors if factor is not None]
    return prod(known, start=Fraction(1)) if len(known) == len(factors) else None


def _line(xs: Sequence[Fraction | None], values: Sequence[int]) -> tuple[int, int] | None:
    """The whole base and slope of the line through all points, or nothing where there is none."""
    known = [(x, y) for x, y in zip(xs, values, strict=True) if x is not None]
    if len(known) < len(values) or len(set(xs)) < _FOR_A_LINE:
        return None
    x0, y0 = known[0]
    x1, y1 = next((x, y) for x, y in known if x != x0)
    slope = (y1 - y0) / (x1 - x0)
    base = y0 - slope * x0
    whole = slope.denominator == base.denominator == 1
    if not whole or any(base + slope * x != y for x, y in known):
        return None
    return int(base), int(slope)


def _exact(x: SweepValue) -> Fraction | None:
    """A swept number as it was written (0.1 is a tenth); nothing for a text, NaN or an infinity."""
    try:
        return None if isinstance(x, str) else Fraction(str(x))
    except ValueError:
        return None


def _linear_text(base: int, slope: int, names: Sequence[str]) -> str:
    term = _term(abs(slope), [_symbol(name) for name in names])
    if slope < 0 < base:
        return f"{base} - {term}"
    sign = "-" if slope < 0 else ""
    constant = f" {'+' if base > 0 else '-'} {abs(base)}" if base else ""
    return f"{sign}{term}{constant}"


def _term(factor: int, symbols: Sequence[str]) -> str:
    """``T``, ``2T``, ``2n*m``, ``3 hidden``."""
    space = "" if all(len(symbol) == 1 for symbol in symbols) else " "
    return f"{'' if factor == 1 else f'{factor}{space}'}{'*'.join(symbols)}"


def _symbol(variable: str) -> str:
    return _SYMBOLS.get(variable, variable)


def _text_with_extras(base: str, extras: Sequence[Extra]) -> str:
    additions = ", ".join(f"+{_grouped(extra.law.text)} where {_run(extra.lines)}" for extra in extras)
    return f"{base} ({additions})" if additions else base


def _grouped(text: str) -> str:
    return f"({text})" if " " in text else text


def _run(lines: tuple[int, int]) -> str:
    first, last = lines
    return f"line {first} runs" if first == last else f"lines {first}-{last} run"
