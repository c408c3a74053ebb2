"""The counts as a table for other programs: totals over the calls, one row a case.

The columns are those of the published profiler counts:
``frames,calls,item_old,item_new,memcpy_old,memcpy_new,topk_old,topk_new,scatter_old,scatter_new``.
"""

from __future__ import annotations

import csv
import io

from syncscope.comparison.results import CaseResult, Comparison
from syncscope.reports import figures

_PUBLISHED = {
    "item": "scalar_reads",
    "memcpy": "memcpy",
    "topk": "launches.topk",
    "scatter": "launches.scatter",
}


def render(comparison: Comparison) -> str:
    """The counts as CSV; the swept variables stand first, further counted families last."""
    counts = _counts(comparison)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow([*figures.variables(comparison), "calls", *_heading(counts)])
    rows.writerows(_row(comparison, case, counts) for case in comparison.cases)
    return text.getvalue()


def _counts(comparison: Comparison) -> dict[str, str]:
    return _PUBLISHED | {family: f"launches.{family}" for family in comparison.families}


def _heading(counts: dict[str, str]) -> list[str]:
    return [f"{name}_{side}" for name in counts for side in ("old", "new")]


def _row(comparison: Comparison, case: CaseResult, counts: dict[str, str]) -> list[str | int | float]:
    point = [case.sweep.get(variable, "") for variable in figures.variables(comparison)]
    pairs = [figures.total(side, key) for key in counts.values() for side in (case.old, case.new)]
    return [*point, case.old.calls, *pairs]
