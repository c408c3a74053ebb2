"""A run as a page of GitHub's Markdown: verdict, steps, the lines, and what does not follow."""

from __future__ import annotations

from syncscope.reports import github, lines, run_sentences, words
from syncscope.reports.github import code, prose
from syncscope.reports.markdown import LIMIT
from syncscope.runs.record import Run, RunSite

# The most rows a table, tried in this order until the page is short enough.
_ROWS = (400, 200, 100, 50, 20, 10, 5)


def render(run: Run) -> str:
    """The whole page, under 65,000 characters: long tables are cut, and say so."""
    pages = (_page(run, rows) for rows in _ROWS)
    return next((page for page in pages if len(page) < LIMIT), _page(run, 2))


def _page(run: Run, rows: int) -> str:
    blocks = [
        f"**{prose(run_sentences.verdict(run))}** {prose(run_sentences.totals(run))}",
        *map(prose, run_sentences.left_out(run)),
        *_list([f"⚠️ {warning}" for warning in run_sentences.warnings(run)], rows, "warning"),
        *_titled("### Steps", run_sentences.steps(run), rows),
        *(block for name, sites in run_sentences.parts(run) for block in _part(name, sites, rows)),
        *_titled("### Notes", run.notes, rows),
        *_titled("### Limitations", run_sentences.limitations(run), rows),
        _origin(run),
    ]
    return "\n\n".join(blocks) + "\n"


def _part(name: str, sites: list[RunSite], rows: int) -> list[str]:
    table = github.table(("line", "source", "times", "what it does", "why"), map(_row, sites[:rows]))
    return [f"### {name}", table, *_more(len(sites) - rows, "site")]


def _row(site: RunSite) -> list[str]:
    called = "".join(f"<br>from {prose(caller, 160)}" for caller in run_sentences.callers(site))
    return [
        f"{code(run_sentences.place(site))}{called}",
        code(site.text),
        run_sentences.how_often(site),
        lines.what(site, code),
        prose(site.reason, 300),
    ]


def _titled(heading: str, said: list[str], rows: int) -> list[str]:
    return [heading, *_list(said, rows, "sentence")] if said else []


def _list(said: list[str], rows: int, noun: str) -> list[str]:
    return [github.items(map(prose, said[:rows])), *_more(len(said) - rows, noun)] if said else []


def _more(hidden: int, noun: str) -> list[str]:
    return [f"… and {words.number(hidden, f'more {noun}')}, in the JSON record"] if hidden > 0 else []


def _origin(run: Run) -> str:
    facts = [[name, code(fact)] for name, fact in run_sentences.environment(run).items()]
    command = github.fenced(words.shortened(run.command, 2000))
    return github.details("How this was made", command, github.table(["", ""], facts))
