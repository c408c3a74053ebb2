"""Where a command's report goes: the terminal, and files that are checked before the work."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from syncscope.subjects import Unusable

if TYPE_CHECKING:
    from syncscope.comparison.results import Comparison
    from syncscope.runs.record import Run

option = click.option(
    "-o",
    "--output",
    "outputs",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Write the report to FILE as well; its extension is the format. May be given several times.",
)


def check(
    outputs: Iterable[Path], traces: Path | None = None, formats: Mapping[str, str] | None = None
) -> None:
    """Find out before minutes of work whether every file can be written; leaves nothing behind.

    ``traces`` is a folder that is there or can be made. ``formats`` are those of the report, if not of a
    comparison's.

    Raises:
        UnknownFormat: a report with this extension is not made.
        Unusable: the folder is missing or not writable, or the path is a folder.
    """
    from syncscope.reports import FORMATS, format_of

    for path in outputs:
        format_of(path, formats or FORMATS)
        if path.is_dir():
            raise Unusable(f"{path}: is a folder; name a file in it")
        _check_folder(path.parent)
    if traces is not None:
        _check_folder(traces if traces.exists() else traces.parent)


def _check_folder(folder: Path) -> None:
    """Make and remove a file: the only answer that holds on every file system."""
    if not folder.is_dir():
        raise Unusable(f"{folder}: no such folder; make it first, or write elsewhere")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise Unusable(f"{folder}: cannot be written to ({error.strerror}); write elsewhere") from None


def write(record: Comparison | Run, outputs: Iterable[Path]) -> None:
    """Write one report a file, each whole or not at all.

    Raises:
        Unusable: the disk is full, or the folder has gone since.
    """
    from syncscope import reports

    for path in outputs:
        try:
            reports.write(record, path)
        except OSError as error:
            raise Unusable(f"{path}: cannot be written ({error.strerror}); write elsewhere") from None
        click.echo(f"wrote {path}", err=True)


def show(record: Comparison | Run) -> None:
    """Print the terminal report to standard output."""
    from syncscope.cli.terminal import StandardOutput
    from syncscope.reports.run_terminal import print_run
    from syncscope.reports.terminal import print_comparison
    from syncscope.runs.record import Run

    if isinstance(record, Run):
        print_run(record, StandardOutput())
    else:
        print_comparison(record, StandardOutput())
