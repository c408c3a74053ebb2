"""GitHub's Markdown: the few constructs that reports use, with whatever the user wrote made harmless."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from syncscope.reports import words

# What a code span holds is literal already; outside of one these would become markup.
_MARKUP = re.compile(r"(`[^`]+`)|([&<>])|([*|~\[\]`\\]|^[#+=-]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def prose(text: str, limit: int = 600) -> str:
    """A sentence on one line in which only code spans are markup."""
    return _MARKUP.sub(_harmless, words.shortened(text, limit))


def code(text: str, limit: int = 120) -> str:
    """A code span, for a table's cell as well; empty text stays empty."""
    line = words.shortened(text, limit)
    if not line:
        return ""
    fence = "`" * (_longest_run(line) + 1)
    space = " " if "`" in line else ""
    # A table ends its cell at a pipe even inside a code span.
    return f"{fence}{space}{line}{space}{fence}".replace("|", r"\|")


def fenced(text: str) -> str:
    """A block of code."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}\n{text}\n{fence}"


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are Markdown already."""
    return "\n".join(_row(cells) for cells in (heading, ["---"] * len(heading), *rows))


def items(sentences: Iterable[str]) -> str:
    """A list."""
    return "\n".join(f"- {sentence}" for sentence in sentences)


def details(summary: str, *blocks: str) -> str:
    """A part that is folded until it is clicked; ``summary`` is plain text."""
    head = f"<details>\n<summary>{_entities(summary)}</summary>"
    return "\n\n".join((head, *blocks, "</details>"))


def _harmless(found: re.Match[str]) -> str:
    span, entity, mark = found.groups()
    if span:
        return str(span).replace("|", r"\|")
    return _ENTITIES[entity] if entity else f"\\{mark}"


def _entities(text: str) -> str:
    return re.sub("[&<>]", lambda found: _ENTITIES[found[0]], text)


def _longest_run(text: str) -> int:
    """The length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
