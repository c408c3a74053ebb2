"""``syncscope report``: a saved result as a report, without torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from syncscope.cli import outputs as files
from syncscope.cli.exit_codes import FINE
from syncscope.subjects import Unusable

if TYPE_CHECKING:
    from syncscope.reports import Record


@click.command("report")
@click.argument("result", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@files.option
@files.plots
def command(result: Path, outputs: tuple[Path, ...], plots: Path | None) -> int:
    """Print the report of RESULT, a .json of `compare`, `run` or `bench`, or write it as another format."""
    from syncscope.bench.record import Bench
    from syncscope.reports import formats_for

    record = _decoded(result)
    files.check(outputs, plots, formats_for(record))
    if plots and not isinstance(record, Bench):
        raise Unusable(f"plots: {result} is no benchmark, of which alone there are plots: leave --plots out")
    files.write(record, outputs)
    if isinstance(record, Bench):
        files.draw(record, plots)
    if not outputs and not plots:
        files.show(record)
    return FINE


def _decoded(path: Path) -> Record:
    from syncscope.bench import record as benchmarks
    from syncscope.comparison import results
    from syncscope.runs import record

    text = path.read_bytes()
    try:
        if benchmarks.is_bench(text):
            return benchmarks.decode(text)
        return record.decode(text) if record.is_run(text) else results.decode(text)
    except results.UnusableResult as error:
        raise results.UnusableResult(f"{path}: {error}") from None
