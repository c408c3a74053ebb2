"""A benchmark on a terminal, or piped from one."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from syncscope.bench.record import Bench
from syncscope.reports import bench_rows, bench_sentences
from syncscope.reports.terminal import (
    print_columns,
    print_facts,
    print_heading,
    print_list,
    print_wrapped,
    styled,
)

_ROWS = 40


def print_bench(bench: Bench, console: Console) -> None:
    """Print the report to ``console``; without any escape code where it has no colour."""
    with styled(console):
        _print_verdict(bench, console)
        _print_rows(bench, console)
        print_list("Rows that failed", bench_sentences.failures(bench), console)
        print_list("Outputs that differ", bench_sentences.differences(bench), console)
        print_list("Run again", bench_sentences.rechecked(bench), console)
        print_list("Notes", bench_sentences.notes(bench), console)
        print_list("Limitations", bench_sentences.limitations(bench), console)
        print_facts(bench_sentences.facts(bench), console)


def _print_verdict(bench: Bench, console: Console) -> None:
    style = "report.bad" if bench.differing or bench.failed else "report.good"
    print_wrapped(bench_sentences.outputs(bench), console, style)
    for sentence in (*bench_sentences.speed(bench), *bench_sentences.worth(bench)):
        print_wrapped(sentence, console)
    for side, subject in (("old", bench.old), ("new", bench.new)):
        console.print(Text(f"{side}: {subject.label}", style="report.place"), soft_wrap=True)


def _print_rows(bench: Bench, console: Console) -> None:
    shown = bench_rows.notable(bench, _ROWS)
    few = f", {len(shown)} of {len(bench.rows)}: -o FILE.csv has all" if len(shown) < len(bench.rows) else ""
    print_heading(f"Rows{few}", console)
    print_columns([bench_rows.headings(bench), *(bench_rows.cells(bench, row) for row in shown)], console)
