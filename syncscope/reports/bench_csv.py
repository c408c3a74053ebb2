"""The rows as a table for other programs; times in microseconds.

The first columns are those of the published table: ``dtype,frames,tokens_per_frame,q,old_p20,old_p50,old_p80,
new_p20,new_p50,new_p80,p50_speedup``, the variables being those of the sweep.
"""

from __future__ import annotations

import csv
import io

from syncscope.bench.record import Bench, Row
from syncscope.latency.record import DeviceTimes, Interval, Latency, Quantiles
from syncscope.reports import bench_rows

_TIMES = ("old_p20", "old_p50", "old_p80", "new_p20", "new_p50", "new_p80")
_CONCLUSIONS = (
    "p50_speedup", "speedup_low", "speedup_high", "verdict",
    "uncorrected_verdict", "p", "corrected_p", "mann_whitney_p", "smallest_visible",
    "corrected_visible", "superiority", "recheck_speedup", "recheck_holds", "iterations",
    "device_old_p50", "device_new_p50", "device_speedup",
)  # fmt: skip
_OTHERS = ("outputs", "waits_old", "waits_new", "host", "machine")

Cell = str | int | float | None


def render(bench: Bench) -> str:
    """The rows as CSV; what isn't known is empty: a row that failed or differs has no speedup."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([*bench.swept, *_TIMES, *_CONCLUSIONS, *_OTHERS])
    rows.writerows(_row(bench, row) for row in bench.rows)
    return text.getvalue()


def _row(bench: Bench, row: Row) -> list[Cell]:
    point = [row.sweep[name] for name in bench.swept]
    timed = _timed(row.latency) if row.latency else [None] * len(_TIMES + _CONCLUSIONS)
    return [*point, *timed, *_others(row)]


def _timed(found: Latency) -> list[Cell]:
    again = found.recheck
    return [
        *_microseconds(found.old),
        *_microseconds(found.new),
        round(found.speedup, 4),
        *_ends(found.interval),
        found.corrected,
        found.verdict,
        _rounded(found.p),
        _rounded(found.corrected_p),
        _rounded(found.mann_whitney),
        *(
            None if seen is None else _rounded(seen)
            for seen in (found.smallest_visible, found.corrected_visible)
        ),
        _rounded(found.superiority),
        round(again.speedup, 4) if again else None,
        str(again.holds).lower() if again else None,
        found.iterations,
        *_of_device(found.device),
    ]


def _of_device(found: DeviceTimes | None) -> list[Cell]:
    """Of a GPU, beside the caller's times."""
    if found is None:
        return [None] * 3
    return [round(found.old / 1e3, 2), round(found.new / 1e3, 2), round(found.speedup, 4)]


def _ends(found: Interval | None) -> list[Cell]:
    return [round(found.low, 4), round(found.high, 4)] if found else [None, None]


def _microseconds(side: Quantiles) -> list[float]:
    return [round(ns / 1e3, 2) for ns in (side.p20, side.p50, side.p80)]


def _known(figure: float | None) -> Cell:
    return None if figure is None else _rounded(figure)


def _rounded(figure: float) -> float:
    """To three digits that count."""
    return float(f"{figure:.3g}")


def _others(row: Row) -> list[Cell]:
    waits = [row.counts[side].waits for side in ("old", "new")] if row.counts else [None, None]
    return [bench_rows.outputs(row), *map(_plain, waits), row.machine.host, row.machine.name]


def _plain(number: float | None) -> Cell:
    return int(number) if number is not None and number == int(number) else number
