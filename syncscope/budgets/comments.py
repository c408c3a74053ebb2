"""Line comments that allow what happens at their statement: ``# syncscope: allow <reason>``."""

from __future__ import annotations

import functools
import io
import linecache
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

_COMMENT = re.compile(r"(?:^|\s)#\s*syncscope:\s*allow(?![\w-])[\s:]*(?P<reason>.*)")
_NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


@dataclass(frozen=True, order=True)
class Comment:
    """An allowance in a comment; ``reason`` is empty where none is said, and then nothing is allowed."""

    file: str
    line: int
    reason: str


def at(file: str, line: int) -> Comment | None:
    """The comment of the statement that ``line`` is part of."""
    return _by_line(file).get(line)


def within(file: str) -> list[Comment]:
    """Every such comment in ``file``."""
    return list(dict.fromkeys(_by_line(file).values()))


@functools.cache
def _by_line(file: str) -> dict[int, Comment]:
    source = "".join(linecache.getlines(file))
    if "syncscope:" not in source:
        return {}
    try:
        return dict(_commented(file, source))
    except (tokenize.TokenError, SyntaxError):
        return {}  # it is no Python: a template, a notebook's cell


def _commented(file: str, source: str) -> Iterator[tuple[int, Comment]]:
    """Each line of a statement with the comment beside it, or alone on the lines above it."""
    found: Comment | None = None
    first = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and (match := _COMMENT.search(token.string)):
            found = Comment(file, token.start[0], match["reason"].strip())
        elif token.type == tokenize.NEWLINE:
            if found is not None:
                yield from ((line, found) for line in range(first or token.start[0], token.end[0] + 1))
            found, first = None, 0
        if token.type not in _NO_CODE and token.type != tokenize.NEWLINE:
            first = first or token.start[0]
