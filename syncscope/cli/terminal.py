"""Standard output and standard error, with rich's colours where they are a terminal that has them."""

from __future__ import annotations

import codecs
import io
import sys

from rich.console import Console

_SPELLED = {"→": "->", "─": "-", "━": "-", "…": "...", "⚠": "!", "×": "x"}


def _spelled(error: UnicodeError) -> tuple[str, int]:
    """What stands for characters that the terminal's encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_SPELLED.get(character, "?") for character in lacking), error.end


codecs.register_error("spelled", _spelled)


class StandardOutput(Console):
    """A console that leaves it to main.py what happens when nobody reads on."""

    def __init__(self) -> None:
        """Write to the current ``sys.stdout``; for an arrow that its encoding lacks stands ``->``."""
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="spelled")
        super().__init__()

    def on_broken_pipe(self) -> None:
        """Rich would end the process with 1, which is a finding here."""
        raise BrokenPipeError


class StandardError(Console):
    """A console on what is standard error now, whatever becomes of it later."""

    def __init__(self) -> None:
        """Write to the current ``sys.stderr``, whose encoding never fails."""
        super().__init__(file=sys.stderr)
