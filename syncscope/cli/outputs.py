"""Where a command's report goes: the terminal, and files that are checked before the work."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from syncscope.subjects import Unusable

if TYPE_CHECKING:
    from syncscope.bench.record import Bench
    from syncscope.comparison.results import Comparison
    from syncscope.runs.record import Run

option = click.option(
    "-o",
    "--output",
    "outputs",
    type=click.Path(path_type=Path),
    multiple=True,
    callback=lambda ctx, param, paths: tuple(dict.fromkeys(paths)),
    metavar="FILE",
    help="Write the report to FILE as well; its extension is the format. May be given several times.",
)


plots = click.option(
    "--plots",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Draw the plots of a benchmark in DIR, each for light and for dark pages.",
)


def check(
    outputs: Iterable[Path], folder: Path | None = None, formats: Mapping[str, str] | None = None
) -> None:
    """Find out before minutes of work whether every file can be written; leaves nothing behind.

    ``folder`` is a folder that is there or can be made. ``formats`` are those of the report, if not of a
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
    if folder is not None:
        _check_folder(folder if folder.exists() else folder.parent)


def _check_folder(folder: Path) -> None:
    """Make and remove a file: the only answer that holds on every file system."""
    if not folder.is_dir():
        raise Unusable(f"{folder}: no such folder; make it first, or write elsewhere")
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise Unusable(f"{folder}: cannot be written to ({error.strerror}); write elsewhere") from None


def write(record: Comparison | Run | Bench, outputs: Iterable[Path]) -> None:
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


def draw(bench: Bench, folder: Path | None) -> None:
    """Draw the plots in ``folder``, if it is given.

    Raises:
        Unusable: the disk is full, or the folder can't be made.
    """
    if folder is None:
        return
    from syncscope.reports import bench_plots

    try:
        drawn = bench_plots.draw(bench, folder)
        for path in drawn:
            click.echo(f"wrote {path}", err=True)
        if not drawn:
            click.echo("no row was timed: there is nothing to plot", err=True)
    except OSError as error:
        raise Unusable(f"{folder}: cannot be written ({error.strerror}); write elsewhere") from None


def show(record: Comparison | Run | Bench) -> None:
    """Print the terminal report to standard output."""
    from syncscope.bench.record import Bench
    from syncscope.cli.terminal import StandardOutput
    from syncscope.reports.bench_terminal import print_bench
    from syncscope.reports.run_terminal import print_run
    from syncscope.reports.terminal import print_comparison
    from syncscope.runs.record import Run

    if isinstance(record, Run):
        print_run(record, StandardOutput())
    elif isinstance(record, Bench):
        print_bench(record, StandardOutput())
    else:
        print_comparison(record, StandardOutput())
