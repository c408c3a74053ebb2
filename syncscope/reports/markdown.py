"""A page that pastes into a pull request: verdict, counts, lines, what remains, and what does not follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from syncscope.comparison.results import CaseResult, Comparison, Difference, SubjectRecord
from syncscope.reports import figures, github, latency, laws, lines, sentences, words
from syncscope.reports.github import code, prose

# GitHub refuses a comment of more than 65,536 characters.
LIMIT = 65_000

# The most rows a table, tried in this order until the page is short enough.
_ROWS = (400, 200, 100, 50, 20, 10, 5, 2)

Found = TypeVar("Found")

_LINE = ("line", "source", "what it does", "a call")


def render(comparison: Comparison) -> str:
    """The whole page, under 65,000 characters: long tables and lists are cut, and say so."""
    pages = (_Page(comparison, rows).text() for rows in _ROWS)
    return next(page for page in pages if len(page) < LIMIT)


class _Page:
    """One page with at most ``rows`` rows a table; a part is a list of blocks, perhaps none."""

    def __init__(self, comparison: Comparison, rows: int) -> None:
        self.comparison = comparison
        self.rows = rows

    def text(self) -> str:
        parts = (
            self.verdict, self.warnings, self.counts, self.growth, self.latency, self.differences,
            self.remaining, self.old_lines, self.profiler, self.notes, self.limitations, self.origin,
        )  # fmt: skip
        return "\n\n".join(block for part in parts for block in part()) + "\n"

    def verdict(self) -> list[str]:
        old, new = self.comparison.old, self.comparison.new
        return [
            f"**{prose(sentences.outputs(self.comparison))}** {prose(sentences.counts(self.comparison))}",
            f"old: {code(old.label)}, new: {code(new.label)}",
        ]

    def warnings(self) -> list[str]:
        return self._items([f"⚠️ {warning}" for warning in sentences.warnings(self.comparison)], "warning")

    def counts(self) -> list[str]:
        columns = [*figures.key_columns(self.comparison), *figures.figure_columns(self.comparison)]
        shown = columns[: self.rows]

        def row(case: CaseResult) -> list[str]:
            return [prose(column.cell(case), 100) for column in shown]

        table = self._table(
            [prose(column.heading, 60) for column in shown], self.comparison.cases, row, "case"
        )
        caption = f"{prose(sentences.caption(self.comparison))}."
        return ["### Counts", caption, *table, *self._more(columns, "column")]

    def growth(self) -> list[str]:
        old, new = self.comparison.growth["old"], self.comparison.growth["new"]
        keys = [
            key for key in figures.count_keys(self.comparison) if not figures.absent(self.comparison, key)
        ]

        def row(key: str) -> list[str]:
            return [prose(words.count_name(key), 60), _law(laws.text(old[key])), _law(laws.text(new[key]))]

        caption = f"Per call, {words.PROVENANCE[self.comparison.provenance]}:"
        return [caption, *self._table(["count", "old", "new"], keys, row, "count")] if keys else []

    def latency(self) -> list[str]:
        headings, *rows = latency.table(self.comparison) or [[]]
        table = self._table(headings, rows, lambda cells: [prose(cell, 100) for cell in cells], "case")
        notes = self._items(latency.notes(self.comparison), "note")
        return ["### Latency", *(table if rows else []), *notes] if rows or notes else []

    def differences(self) -> list[str]:
        found = [(case, each) for case in self.comparison.cases for each in case.parity.differences]

        def row(case_and_difference: tuple[CaseResult, Difference]) -> list[str]:
            case, each = case_and_difference
            return [
                self._case(case),
                code(each.path or "output"),
                each.what,
                prose(sentences.extent(each), 200),
            ]

        table = self._table(["case", "where", "differs in", "how much"], found, row, "difference")
        return ["### Outputs", *table] if found else []

    def remaining(self) -> list[str]:
        left = lines.of_new(self.comparison)

        def row(line: lines.Line) -> list[str]:
            return [*self._line(line), prose(line.origin, 100), prose(line.site.reason, 300)]

        table = self._table([*_LINE, "against old", "why"], left, row, "site") if left else []
        heading = f"### What remains in new ({self.comparison.provenance})"
        return [heading, prose(sentences.remaining(self.comparison)), *table]

    def old_lines(self) -> list[str]:
        found = lines.of_old(self.comparison)

        def row(line: lines.Line) -> list[str]:
            return [*self._line(line), prose(line.fate, 100)]

        summary = f"Lines of old that read, copy or wait ({self.comparison.provenance}): {len(found)}"
        return (
            [github.details(summary, *self._table([*_LINE, "in new"], found, row, "site"))] if found else []
        )

    def profiler(self) -> list[str]:
        cases = self.comparison.cases
        found = [(case, op) for case in cases for op in figures.profiled_operators(self.comparison, case)]

        def row(case_and_op: tuple[CaseResult, str]) -> list[str]:
            case, op = case_and_op
            return [self._case(case), code(op), f"{case.old.aten.get(op, 0)} → {case.new.aten.get(op, 0)}"]

        table = self._table(["case", "ATen call", "old → new"], found, row, "row")
        return [github.details(sentences.profiled(self.comparison), *table)] if found else []

    def notes(self) -> list[str]:
        return ["### Notes", *self._items(self.comparison.notes, "note")] if self.comparison.notes else []

    def limitations(self) -> list[str]:
        limits = [prose(limit) for limit in sentences.limitations(self.comparison)]
        return ["### Limitations", github.items(limits)]

    def origin(self) -> list[str]:
        subjects = {"old": _subject(self.comparison.old), "new": _subject(self.comparison.new)}
        facts = {**subjects, **sentences.environment(self.comparison)}
        table = github.table(["", ""], [[name, code(fact)] for name, fact in facts.items()])
        command = github.fenced(words.shortened(self.comparison.command, 2000))
        return [github.details("How this was made", command, table)]

    def _case(self, case: CaseResult) -> str:
        return prose(figures.case_label(self.comparison, case), 100)

    def _line(self, line: lines.Line) -> list[str]:
        place = code(lines.place(self.comparison, line.site))
        return [place, code(line.site.text), lines.what(line.site, code), _law(lines.a_call(line.site))]

    def _table(
        self, heading: Sequence[str], found: Sequence[Found], row: Callable[[Found], list[str]], noun: str
    ) -> list[str]:
        return [github.table(heading, map(row, found[: self.rows])), *self._more(found, noun)]

    def _items(self, said: Sequence[str], noun: str) -> list[str]:
        return [github.items(map(prose, said[: self.rows])), *self._more(said, noun)] if said else []

    def _more(self, found: Sequence[object], noun: str) -> list[str]:
        hidden = len(found) - self.rows
        return [f"… and {words.number(hidden, f'more {noun}')}, in result.json"] if hidden > 0 else []


def _law(text: str) -> str:
    return prose(text, 120)


def _subject(subject: SubjectRecord) -> str:
    revision = f" at {subject.revision}" if subject.revision else ""
    digest = f", sha256 {subject.sha256[:12]}" if subject.sha256 else ""
    return f"{subject.label} ({subject.function}){revision}{digest}"
