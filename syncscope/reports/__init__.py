"""One file a format: a report reads a ``Comparison`` and nothing else. Imports no torch."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from syncscope.comparison import results
from syncscope.comparison.results import Comparison

# Extension to module, imported when it is asked for: an unused format costs nothing.
FORMATS = {
    ".csv": "syncscope.reports.counts_csv",
    ".json": "syncscope.reports.result_json",
    ".md": "syncscope.reports.markdown",
    ".svg": "syncscope.reports.svg",
}


class UnknownFormat(Exception):
    """No report is made for a file's extension; the message lists those that are known."""


def format_of(path: Path) -> str:
    """The module that makes the report for ``path``'s extension, upper or lower case.

    Raises:
        UnknownFormat: there is none. Ask before a long run, not after it.
    """
    try:
        return FORMATS[path.suffix.lower()]
    except KeyError:
        given = f"the extension {path.suffix!r}" if path.suffix else "a name without an extension"
        known = " ".join(sorted(FORMATS))
        raise UnknownFormat(f"{path}: no report has {given}; use one of {known}") from None


def write(comparison: Comparison, path: Path) -> None:
    """Write the report that ``path``'s extension asks for, whole or not at all.

    Raises:
        UnknownFormat: no report has this extension.
        OSError: the folder is missing or not writable; ``path`` is then unchanged.
    """
    text: str = import_module(format_of(path)).render(comparison)
    results.write_whole(path, text.encode())
