"""``syncscope report``: a saved result as a report, without torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from syncscope.cli import outputs as files
from syncscope.cli.exit_codes import FINE

if TYPE_CHECKING:
    from syncscope.comparison.results import Comparison


@click.command("report")
@click.argument("result", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@files.option
def command(result: Path, outputs: tuple[Path, ...]) -> int:
    """Print the report of RESULT, a result.json that `compare -o` wrote, or write it as another format."""
    files.check(outputs)
    comparison = _decoded(result)
    if outputs:
        files.write(comparison, outputs)
    else:
        files.show(comparison)
    return FINE


def _decoded(path: Path) -> Comparison:
    from syncscope.comparison import results

    try:
        return results.decode(path.read_bytes())
    except results.UnusableResult as error:
        raise results.UnusableResult(f"{path}: {error}") from None
