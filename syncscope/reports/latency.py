"""How reports write a timed row: its times, its speedup with its interval, and its verdict."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from syncscope.comparison.results import Comparison
from syncscope.latency import level
from syncscope.latency.clock import ClockFigures
from syncscope.latency.record import DeviceTimes, Interval, Latency, Recheck, Timing
from syncscope.reports import figures, words

CPU = "These are times of a CPU with tensors on it, never a GPU's: they say nothing about a GPU."

_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))

_HEADINGS = ("old p50", "new p50", "speedup", "95 % interval", "verdict", "sees from")
_OF_DEVICE = ("device p50",)


def headings(on_gpu: bool) -> tuple[str, ...]:
    """Of the cells of a timed row."""
    return (*_HEADINGS, *(_OF_DEVICE if on_gpu else ()))


def cells(latency: Latency | None, on_gpu: bool) -> tuple[str, ...]:
    """One text for each of ``headings``; of a row that wasn't timed, none."""
    if latency is None:
        return ("",) * len(headings(on_gpu))
    host = (
        time(latency.old.p50),
        time(latency.new.p50),
        times(latency.speedup),
        _ends(latency.interval),
        verdict(latency),
        visible(latency),
    )
    return (*host, *((_device(latency.device),) if on_gpu else ()))


def _device(found: DeviceTimes | None) -> str:
    return f"{time(found.old)} → {time(found.new)}" if found else ""


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
    return [
        *_refuted(timed),
        *_resolution(timed),
        *_blind(timed),
        *_within_noise(timed),
        *_beyond_chance(timed),
    ]


def _refuted(timed: Sequence[Latency]) -> list[str]:
    """The rows whose first result a second look didn't confirm."""
    return _rows(
        sum(row.recheck is not None and not row.recheck.holds for row in timed),
        "slower at first and not when run again: verdicts, speedups and means have the first result.",
    )


def _rows(number: int, said: str) -> list[str]:
    return [f"{words.number(number, 'row')} {said}"] if number else []


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
    return _rows(
        sum(row.is_within_noise for row in timed),
        "faster or slower beside an interval that holds 1: the direction is beyond chance, the size is not.",
    )


def _beyond_chance(timed: Sequence[Latency]) -> list[str]:
    return _rows(
        sum(row.is_by_chance for row in timed),
        f"without a difference beside an interval that leaves out 1: among {len(timed)} rows that may be "
        "chance.",
    )


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
    """How ``timed`` rows were timed, as names and values; nothing where none was."""
    if not timed:
        return {}
    looked = clock and f"granularity {clock.granularity_ns} ns, a sample of nothing {time(clock.overhead_ns)}"
    return {
        "samples": f"up to {how.budget_s:g} s a row" if how.budget_s else _samples(how, timed),
        "warm-ups": str(how.warmups),
        "inputs": f"{how.rotate} in turn" if how.rotate else "fresh",
        "threads while timed": str(how.threads),
        **({"clock": looked} if looked else {}),
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
    on_gpu = any(case.latency and case.latency.device for case in timed)
    rows = [
        [*(str(case.sweep.get(name, "")) for name in names), *cells(case.latency, on_gpu)] for case in timed
    ]
    return [[*map(words.symbol, names), *headings(on_gpu)], *rows]


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
