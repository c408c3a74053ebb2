"""The report on a terminal, or piped from one: 80 columns are enough and no figure is cut."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from syncscope.comparison.results import Comparison
from syncscope.reports import figures, latency, lines, sentences
from syncscope.reports.figures import Column

_GAP = 2

_STYLES = {
    "report.good": "bold green",
    "report.bad": "bold red",
    "report.warning": "yellow",
    "report.heading": "bold",
    "report.place": "cyan",
    "report.aside": "dim",
}


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print the whole report to ``console``; without any escape code where it has no colour."""
    with styled(console):
        _print_verdict(comparison, console)
        _print_counts(comparison, console)
        _print_latency(comparison, console)
        _print_differences(comparison, console)
        _print_old_lines(comparison, console)
        _print_remaining(comparison, console)
        print_list("Notes", comparison.notes, console)
        print_list("Limitations", sentences.limitations(comparison), console)
        print_facts(sentences.environment(comparison), console)


def styled(console: Console) -> AbstractContextManager[object]:
    """The styles of reports, which are none where there is no colour."""
    return console.use_theme(Theme(dict.fromkeys(_STYLES, "none") if console.no_color else _STYLES))


def _print_verdict(comparison: Comparison, console: Console) -> None:
    good = comparison.equal and not comparison.grew
    print_wrapped(sentences.outputs(comparison), console, "report.good" if good else "report.bad")
    print_wrapped(sentences.counts(comparison), console)
    for side, subject in (("old", comparison.old), ("new", comparison.new)):
        console.print(Text(f"{side}: {subject.label}", style="report.place"), soft_wrap=True)
    for warning in sentences.warnings(comparison):
        print_wrapped(f"! {warning}", console, "report.warning", hang="  ")


def _print_counts(comparison: Comparison, console: Console) -> None:
    item, memcpy, *families = figures.figure_columns(comparison)
    columns = [item, memcpy, figures.waits_column(), *families, figures.outputs_column()]
    print_heading(sentences.caption(comparison), console)
    for at, group in enumerate(_groups(comparison, columns, console.width)):
        console.print(*([""] if at else []), _table(comparison, group), sep="\n")


def _print_latency(comparison: Comparison, console: Console) -> None:
    rows, notes = latency.table(comparison), latency.notes(comparison)
    if rows or notes:
        print_heading("Latency", console)
    print_columns(rows, console)
    for note in notes:
        print_wrapped(f"- {note}", console, indent="  ", hang="  ")


def _print_differences(comparison: Comparison, console: Console) -> None:
    found = [
        sentences.difference(comparison, case, each)
        for case in comparison.cases
        for each in case.parity.differences
    ]
    print_list("Outputs that differ", found, console)


def _print_old_lines(comparison: Comparison, console: Console) -> None:
    found = lines.of_old(comparison)
    if found:
        print_heading(f"Lines of old that read, copy or wait ({comparison.provenance})", console)
    for line in found:
        _print_line(comparison, line, f"→ {line.fate}", console)


def _print_remaining(comparison: Comparison, console: Console) -> None:
    print_heading(f"What remains in new ({comparison.provenance})", console)
    print_wrapped(sentences.remaining(comparison), console, indent="  ")
    for line in lines.of_new(comparison):
        _print_line(comparison, line, f"({line.origin})", console)
        if line.site.reason:
            print_wrapped(f"why: {line.site.reason}", console, indent="      ")


def _print_line(comparison: Comparison, line: lines.Line, other: str, console: Console) -> None:
    """Where, the source as it is (never folded), and what it costs."""
    console.print(Text(f"  {lines.place(comparison, line.site)}", style="report.place"), soft_wrap=True)
    if line.site.text:
        console.print(Text(f"    {line.site.text}"), soft_wrap=True)
    cost = f"{lines.what(line.site)}; a call: {lines.a_call(line.site)} {other}"
    print_wrapped(cost, console, indent="      ")


def print_list(heading: str, sentences_: Sequence[str], console: Console) -> None:
    """A list under its heading; nothing where it is empty."""
    if sentences_:
        print_heading(heading, console)
    for sentence in sentences_:
        print_wrapped(f"- {sentence}", console, indent="  ", hang="  ")


def print_facts(facts: Mapping[str, str], console: Console) -> None:
    """Names and values in one paragraph; nothing where there are none."""
    if facts:
        console.print()
        print_wrapped(", ".join(f"{name} {fact}" for name, fact in facts.items()), console, "report.aside")


def print_columns(rows: Sequence[Sequence[str]], console: Console) -> None:
    """A table, its headings first. A terminal that is too narrow wraps the lines itself: no figure is cut."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    for at, cells in enumerate(rows):
        line = "  ".join(set_cell_size(cell, width) for cell, width in zip(cells, widths, strict=True))
        console.print(Text(line.rstrip(), style="none" if at else "report.heading"), soft_wrap=True)


def print_heading(text: str, console: Console) -> None:
    """A heading after an empty line."""
    console.print()
    console.print(Text(text, style="report.heading"))


def print_wrapped(text: str, console: Console, style: str = "none", indent: str = "", hang: str = "") -> None:
    """Words wrapped at the console's width behind ``indent``, after the first line behind ``hang`` too."""
    room = max(20, console.width - cell_len(indent + hang))
    for at, line in enumerate(Text(text, style=style).wrap(console, room)):
        line.rstrip()
        console.print(Text(indent + (hang if at else "")).append_text(line), soft_wrap=True)


def _groups(comparison: Comparison, columns: Sequence[Column], width: int) -> list[list[Column]]:
    """The columns in as many tables as it takes to cut no figure; each begins with the case's variables."""
    keys = figures.key_columns(comparison)
    groups = [list(keys)]
    for column in columns:
        fits = sum(_width(comparison, each) for each in [*groups[-1], column]) <= width
        if not fits and len(groups[-1]) > len(keys):
            groups.append(list(keys))
        groups[-1].append(column)
    return groups


def _width(comparison: Comparison, column: Column) -> int:
    return max(cell_len(line) for text in _texts(comparison, column) for line in text.split("\n")) + _GAP


def _texts(comparison: Comparison, column: Column) -> list[str]:
    """A column's heading and its cells, each on as few columns of the screen as it needs."""
    name = "\n".join(textwrap.wrap(column.name, 12, break_long_words=False))
    cells = [column.cell(case).replace(" (", "\n(") for case in comparison.cases]
    return [f"{name}\n{column.direction}", *cells]


def _table(comparison: Comparison, columns: Sequence[Column]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, padding=(0, _GAP, 0, 0), header_style="report.heading"
    )
    texts = [_texts(comparison, column) for column in columns]
    for heading, *_ in texts:
        table.add_column(Text(heading.strip()), overflow="fold")
    for row in zip(*(cells for _, *cells in texts), strict=True):
        table.add_row(*map(Text, row))
    return table
