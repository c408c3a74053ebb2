"""One file a format: a report reads a ``Comparison``, a ``Run`` or a ``Bench``, nothing else. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from syncscope.bench.record import Bench
from syncscope.comparison import results
from syncscope.comparison.results import Comparison
from syncscope.runs.record import Run

# Extension to module, imported when it is asked for: an unused format costs nothing.
FORMATS = {
    ".csv": "syncscope.reports.counts_csv",
    ".json": "syncscope.reports.result_json",
    ".md": "syncscope.reports.markdown",
    ".svg": "syncscope.reports.svg",
}

RUN_FORMATS = {
    ".json": "syncscope.reports.run_json",
    ".md": "syncscope.reports.run_markdown",
}


BENCH_FORMATS = {
    ".csv": "syncscope.reports.bench_csv",
    ".json": "syncscope.reports.bench_json",
    ".md": "syncscope.reports.bench_markdown",
}

Record = Comparison | Run | Bench


class UnknownFormat(Exception):
    """No report is made for a file's extension; the message lists those that are known."""


def format_of(path: Path, formats: Mapping[str, str] = FORMATS) -> str:
    """The module of ``formats`` that makes the report for ``path``'s extension, upper or lower case.

    Raises:
        UnknownFormat: there is none. Ask before a long run, not after it.
    """
    try:
        return formats[path.suffix.lower()]
    except KeyError:
        given = f"the extension {path.suffix!r}" if path.suffix else "a name without an extension"
        known = " ".join(sorted(formats))
        raise UnknownFormat(f"{path}: no report has {given}; use one of {known}") from None


def formats_for(record: Record) -> Mapping[str, str]:
    """The formats that there are for a comparison, a run or a benchmark."""
    if isinstance(record, Bench):
        return BENCH_FORMATS
    return RUN_FORMATS if isinstance(record, Run) else FORMATS


def write(record: Record, path: Path) -> None:
    """Write the report that ``path``'s extension asks for, whole or not at all.

    Raises:
        UnknownFormat: no report has this extension.
        OSError: the folder is missing or not writable; ``path`` is then unchanged.
    """
    text: str = import_module(format_of(path, formats_for(record))).render(record)
    results.write_whole(path, text.encode())
