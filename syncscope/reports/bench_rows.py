"""The table of a benchmark: a row a case."""

from __future__ import annotations

from syncscope.bench.record import Bench, Row
from syncscope.reports import latency, words


def variables(bench: Bench) -> list[str]:
    """The variables that tell the rows apart; all where there is one row."""
    varying = [name for name in bench.swept if len({row.sweep[name] for row in bench.rows}) > 1]
    return varying or bench.swept


def label(bench: Bench, row: Row) -> str:
    """``dtype = bfloat16, T = 8``: how sentences name a row."""
    values = (f"{words.symbol(name)} = {row.sweep[name]}" for name in variables(bench))
    return ", ".join(values) or "the only case"


def headings(bench: Bench) -> list[str]:
    """Of the variables, of the times where there are any, and of what was counted."""
    timed = latency.headings(bench.device == "cuda") if bench.device != "sim" else ()
    machine = ["machine"] if bench.has_unlike_machines else []
    return [*map(words.symbol, variables(bench)), *machine, *timed, "waits", "outputs"]


def cells(bench: Bench, row: Row) -> list[str]:
    """One text for each of ``headings``."""
    timed = latency.cells(row.latency, bench.device == "cuda") if bench.device != "sim" else ()
    point = [str(row.sweep[name]) for name in variables(bench)]
    machine = [row.machine.name] if bench.has_unlike_machines else []
    found = outputs(row)
    return [*point, *machine, *timed, waits(row), found if found == "equal" else found.upper()]


def outputs(row: Row) -> str:
    """``equal`` or ``differ``, of a row that could not be run ``failed``."""
    if row.failed:
        return "failed"
    return "equal" if row.parity.equal else "differ"


def waits(row: Row) -> str:
    """``9 → 1``: in a call of old and in one of new."""
    if not row.counts:
        return "" if row.failed else "not counted"
    return f"{row.counts['old'].waits:g} → {row.counts['new'].waits:g}"


def notable(bench: Bench, most: int) -> list[Row]:
    """All rows, or where there are more than ``most`` those that a reader has to see, then the extremes."""
    if len(bench.rows) <= most:
        return bench.rows
    timed = [row for row in bench.rows if row.latency]
    by_speedup = sorted(timed, key=lambda row: row.latency.speedup if row.latency else 0)
    rechecked = [row for row in by_speedup if _was_rechecked(row)]
    first = [*bench.failed, *bench.differing, *bench.regressed, *rechecked]
    slower = [row for row in by_speedup if row.latency and row.latency.corrected == "slower"]
    few = max(1, most // 4)
    chosen = [*first, *slower, *by_speedup[:few], *by_speedup[-few:], *bench.rows[:most]]
    found: list[Row] = []
    for row in chosen:
        if len(found) < most and not any(row is other for other in found):
            found.append(row)
    return [row for row in bench.rows if any(row is other for other in found)]


def _was_rechecked(row: Row) -> bool:
    return row.latency is not None and row.latency.recheck is not None
