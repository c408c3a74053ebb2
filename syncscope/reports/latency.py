"""How reports write a timed row: its times, its speedup with its interval, and its verdict."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from syncscope.comparison.results import Comparison
from syncscope.latency import level
from syncscope.latency.clock import ClockFigures
from syncscope.latency.record import Interval, Latency, Recheck, Timing
from syncscope.reports import figures, words

CPU = "These are times of a CPU with tensors on it, never a GPU's: they say nothing about a GPU."

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))

HEADINGS = ("old p50", "new p50", "speedup", "95 % interval", "verdict", "sees from")


def cells(latency: Latency | None) -> tuple[str, ...]:
    """One text for each of ``HEADINGS``; of a row that wasn't timed, none."""
    if latency is None:
        return ("",) * len(HEADINGS)
    return (
        time(latency.old.p50),
        time(latency.new.p50),
        times(latency.speedup),
        _ends(latency.interval),
        verdict(latency),
        visible(latency),
    )


def _ends(found: Interval | None) -> str:
    return f"{found.low:.3f}-{found.high:.3f}" if found else "none"


def time(ns: float) -> str:
    """``784.2 µs``, in the unit that leaves it a few digits."""
    size, unit = next((pair for pair in _UNITS if abs(ns) >= pair[0]), (1.0, "ns"))
    return f"{ns / size:.4g} {unit}" if size > 1 else f"{ns:.0f} ns"


def times(ratio: float) -> str:
    """``1.181x``."""
    return f"{ratio:.3f}x"


def interval(found: Interval) -> str:
    """``1.154x to 1.208x``."""
    return f"{times(found.low)} to {times(found.high)}"


def with_interval(ratio: float, found: Interval | None) -> str:
    """``1.181x (1.154x to 1.208x)``."""
    return f"{times(ratio)} ({interval(found)})" if found else times(ratio)


def percent(fraction: float) -> str:
    """``3 %``, ``0.25 %``."""
    return f"{100 * fraction:.2g} %" if fraction < 1 else f"{100 * fraction:.0f} %"


def verdict(latency: Latency) -> str:
    """The corrected verdict, and what became of a row that was run again."""
    again = latency.recheck
    if again is None:
        return latency.corrected
    return (
        f"{latency.corrected}; again: {times(again.speedup)}, {'holds' if again.holds else 'does not hold'}"
    )


def visible(latency: Latency) -> str:
    """The smallest difference for which the row, one of so many, would have had a verdict."""
    return "none" if latency.corrected_visible is None else percent(latency.corrected_visible)


def caveats(timed: Sequence[Latency]) -> list[str]:
    """What some timed rows could not have seen, and where verdict and interval don't say the same."""
    return [*_resolution(timed), *_blind(timed), *_within_noise(timed)]


def _resolution(timed: Sequence[Latency]) -> list[str]:
    seen = [row.corrected_visible for row in timed if row.corrected_visible is not None]
    if not seen:
        return []
    middle, largest = percent(statistics.median(seen)), percent(max(seen))
    return [f"The smallest difference that a row could see: {middle} in the median row, {largest} at worst."]


def _blind(timed: Sequence[Latency]) -> list[str]:
    """The rows that have too few iterations for a verdict, by themselves or among so many."""
    blind = [row for row in timed if row.corrected_visible is None]
    if not blind:
        return []
    if any(row.smallest_visible is None for row in blind):
        return [
            f"Fewer than {level.fewest_iterations()} iterations can't tell anything from noise: "
            "no interval, no verdict."
        ]
    found = sum(row.corrected_p < level.LEVEL for row in timed)
    needed = level.fewest_iterations(level.of_one_more(len(timed), found))
    return [
        f"Among {len(timed)} rows one that differs has a verdict only with {needed} iterations or more: "
        f"{words.number(len(blind), 'row')} had fewer."
    ]


def _within_noise(timed: Sequence[Latency]) -> list[str]:
    rows = sum(row.is_within_noise for row in timed)
    if not rows:
        return []
    return [
        f"{words.number(rows, 'row')} faster or slower beside an interval that holds 1: the direction is "
        "beyond chance, the size is not."
    ]


def rechecked(label: str, latency: Latency) -> str:
    """Both results of a row that was run again; nothing of any other."""
    again = latency.recheck
    if again is None:
        return ""
    spread = f"{times(min(again.speedups))} to {times(max(again.speedups))}"
    outcome = "the regression holds" if again.holds else "no regression that holds"
    return (
        f"{label}: {times(latency.speedup)} at first; in {words.number(len(again.speedups), 'trial')} of "
        f"{_iterations(again)} iterations in alternating order {times(again.speedup)} ({spread}): {outcome}."
    )


def _iterations(again: Recheck) -> str:
    most = max((len(trial.host["old"]) for trial in again.trials), default=again.iterations)
    return f"{again.iterations} to {most}" if most > again.iterations else str(again.iterations)


def facts(how: Timing, clock: ClockFigures | None, timed: Sequence[Latency]) -> dict[str, str]:
    """How ``timed`` rows were timed, as names and values; nothing without a clock, where none was."""
    if clock is None:
        return {}
    return {
        "samples": f"up to {how.budget_s:g} s a row" if how.budget_s else _samples(how, timed),
        "warm-ups": str(how.warmups),
        "inputs": f"{how.rotate} in turn" if how.rotate else "fresh",
        "threads while timed": str(how.threads),
        "clock": f"granularity {clock.granularity_ns} ns, empty sample {clock.overhead_ns:.0f} ns",
    }


def _samples(how: Timing, timed: Sequence[Latency]) -> str:
    longer = [row.iterations for row in timed if row.iterations > how.iterations]
    if not longer:
        return f"{how.iterations} a side"
    return (
        f"{how.iterations} a side, up to {max(longer)} in {words.number(len(longer), 'row')} whose noise "
        f"could have hidden {percent(level.RESOLUTION)}"
    )


def table(comparison: Comparison) -> list[list[str]]:
    """The timed cases of a comparison under their headings; nothing where none was timed."""
    timed = comparison.timed
    if not timed:
        return []
    names = figures.variables(comparison)
    headings = [*map(words.symbol, names), *HEADINGS]
    rows = [[*(str(case.sweep.get(name, "")) for name in names), *cells(case.latency)] for case in timed]
    return [headings, *rows]


def notes(comparison: Comparison) -> list[str]:
    """What was run again, what couldn't be seen or timed, and whose times these are."""
    again = [
        rechecked(figures.case_label(comparison, case), case.latency)
        for case in comparison.cases
        if case.latency
    ]
    reasons = dict.fromkeys(case.untimed for case in comparison.cases if case.untimed)
    timed = [case.latency for case in comparison.cases if case.latency]
    cpu = [CPU] if any(latency.on == "cpu" for latency in timed) else []
    return [*filter(None, again), *caveats(timed), *(f"Not timed: {reason}" for reason in reasons), *cpu]
