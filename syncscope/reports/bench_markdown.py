"""A benchmark as a page of GitHub's Markdown: verdict, what was run again, rows, and what doesn't follow."""

from __future__ import annotations

from collections.abc import Sequence

from syncscope.bench.record import Bench
from syncscope.reports import bench_rows, bench_sentences, github
from syncscope.reports.github import code, prose
from syncscope.reports.markdown import LIMIT

# The most rows in the table, tried in this order until the page is short enough.
_ROWS = (2_000, 1_000, 500, 200, 100, 50, 20)
_OPEN = 20


def render(bench: Bench) -> str:
    """The whole page, under 65,000 characters: a long table is cut, and says so."""
    pages = (_page(bench, rows) for rows in _ROWS)
    return next((page for page in pages if len(page) < LIMIT), _page(bench, 5))


def _page(bench: Bench, rows: int) -> str:
    verdict = " ".join(map(prose, bench_sentences.speed(bench)))
    blocks = [
        f"**{prose(bench_sentences.outputs(bench))}** {verdict}",
        f"old: {code(bench.old.label)}, new: {code(bench.new.label)}",
        *map(prose, bench_sentences.worth(bench)),
        *_titled("### Rows that failed", bench_sentences.failures(bench)[:rows]),
        *_titled("### Outputs that differ", bench_sentences.differences(bench)[:rows]),
        *_titled("### Run again", bench_sentences.rechecked(bench)[:rows]),
        *_table(bench, rows),
        *_titled("### Notes", bench_sentences.notes(bench)),
        *_titled("### Limitations", bench_sentences.limitations(bench)),
        _origin(bench),
    ]
    return "\n\n".join(blocks) + "\n"


def _titled(title: str, sentences: Sequence[str]) -> list[str]:
    return [title, github.items(map(prose, sentences))] if sentences else []


def _table(bench: Bench, most: int) -> list[str]:
    shown = bench_rows.notable(bench, most)
    rows = ([prose(cell, 100) for cell in bench_rows.cells(bench, row)] for row in shown)
    table = github.table(list(map(prose, bench_rows.headings(bench))), rows)
    hidden = len(bench.rows) - len(shown)
    more = [f"{hidden} more rows are in the .csv and .json reports."] if hidden else []
    if len(shown) <= _OPEN:
        return ["### Rows", table, *more]
    return [github.details(f"{len(shown)} rows", table, *more)]


def _origin(bench: Bench) -> str:
    facts = ", ".join(f"{name} {prose(fact)}" for name, fact in bench_sentences.facts(bench).items())
    return "\n\n".join((f"Made by {code(bench.command, 600)}", facts))
