"""``syncscope report``: a saved result as a report, without torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from syncscope.cli import outputs as files
from syncscope.cli.exit_codes import FINE

if TYPE_CHECKING:
    from syncscope.comparison.results import Comparison
    from syncscope.runs.record import Run


@click.command("report")
@click.argument("result", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@files.option
def command(result: Path, outputs: tuple[Path, ...]) -> int:
    """Print the report of RESULT, a .json that `compare` or `run` wrote, or write it as another format."""
    from syncscope.reports import formats_for

    record = _decoded(result)
    files.check(outputs, formats=formats_for(record))
    if outputs:
        files.write(record, outputs)
    else:
        files.show(record)
    return FINE


def _decoded(path: Path) -> Comparison | Run:
    from syncscope.comparison import results
    from syncscope.runs import record

    text = path.read_bytes()
    try:
        return record.decode(text) if record.is_run(text) else results.decode(text)
    except results.UnusableResult as error:
        raise results.UnusableResult(f"{path}: {error}") from None
