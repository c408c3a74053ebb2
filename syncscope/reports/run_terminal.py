"""The report of a run on a terminal, or as plain text."""

from __future__ import annotations

import io

from rich.console import Console
from rich.text import Text

from syncscope.reports import lines, run_sentences
from syncscope.reports.terminal import (
    print_facts,
    print_heading,
    print_list,
    print_wrapped,
    styled,
)
from syncscope.runs.record import Run, RunSite

_COLUMNS = 100


def render(run: Run) -> str:
    """The report as text of 100 columns, without colours."""
    text = io.StringIO()
    print_run(run, Console(file=text, width=_COLUMNS, no_color=True, force_terminal=False))
    return text.getvalue()


def print_run(run: Run, console: Console) -> None:
    """Print the whole report to ``console``; without any escape code where it has no colour."""
    with styled(console):
        _print_verdict(run, console)
        print_list("Steps", run_sentences.steps(run), console)
        for heading, sites in run_sentences.parts(run):
            print_heading(f"{heading}: {len(sites)}", console)
            for site in sites:
                _print_site(site, console)
        print_list("Notes", run.notes, console)
        print_list("Limitations", run_sentences.limitations(run), console)
        print_facts(run_sentences.environment(run), console)


def _print_verdict(run: Run, console: Console) -> None:
    print_wrapped(run_sentences.verdict(run), console, "report.heading")
    print_wrapped(run_sentences.totals(run), console)
    for sentence in run_sentences.left_out(run):
        print_wrapped(sentence, console)
    for warning in run_sentences.warnings(run):
        print_wrapped(f"! {warning}", console, "report.warning", hang="  ")


def _print_site(site: RunSite, console: Console) -> None:
    """Where, the source as it is (never folded), what it costs, and who called it."""
    console.print(Text(f"  {run_sentences.place(site)}", style="report.place"), soft_wrap=True)
    if site.text:
        console.print(Text(f"    {site.text}"), soft_wrap=True)
    print_wrapped(f"{run_sentences.how_often(site)}: {lines.what(site)}", console, indent="      ")
    if site.reason:
        print_wrapped(f"why: {site.reason}", console, indent="      ")
    for caller in run_sentences.callers(site):
        console.print(Text(f"      called from {caller}", style="report.aside"), soft_wrap=True)
