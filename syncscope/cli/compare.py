"""``syncscope compare``: old against new over the cases of a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syncscope.cli import options, progress
from syncscope.cli import outputs as files
from syncscope.cli.containment import contained
from syncscope.cli.exit_codes import FINDING, FINE
from syncscope.cli.options import OPERATOR, ListCommand, listed, number

if TYPE_CHECKING:
    from syncscope.comparison.results import Comparison
    from syncscope.comparison.run import Device


@click.command("compare", cls=ListCommand)
@click.argument("old")
@click.argument("new")
@options.cases
@options.device
@number("--calls", least=1, default=20, help="Complete calls a case.")
@listed("--count", OPERATOR, "sort cumsum", "ATen operators to count beside topk and scatter.")
@click.option(
    "--time", is_flag=True, help="Time the cases as well; without a GPU on the CPU, whose times are no GPU's."
)
@click.option(
    "--traces",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Keep the last case's two torch.profiler traces in DIR, as HTA's TraceDiff reads them.",
)
@files.option
@click.pass_obj
def command(command_line: str, /, old: str, new: str, outputs: tuple[Path, ...], **given: Any) -> int:
    """Compare the waits, copies and outputs of NEW with those of OLD, the baseline.

    Both are file.py, file.py::function, package.module:function, or REV:path/file.py of a git revision. Lists
    such as --frames 2 8 32 stand before or after them. [tool.syncscope] of pyproject.toml sets defaults.
    """
    files.check(outputs, given["traces"])
    with contained(), progress.shown() as step:
        comparison = _compared(command_line, old, new, step, **given)
    files.write(comparison, outputs)
    files.show(comparison)
    return FINDING if comparison.findings else FINE


def _compared(
    command_line: str,
    old: str,
    new: str,
    step: progress.Step,
    *,
    seed: int,
    seeds: int,
    inputs: str | None,
    workload: str | None,
    device: Device,
    calls: int,
    count: Sequence[str],
    traces: Path | None,
    time: bool,
    **variables: Sequence[Any],
) -> Comparison:
    from syncscope.comparison.run import Plan, compare, loading
    from syncscope.latency.record import Timing
    from syncscope.subjects.inputs import chosen_workload
    from syncscope.subjects.pair import load_pair

    # All that needs none of the subjects' code comes before it.
    sweep = options.sweep_of_cases(**variables)
    families = _families(count)
    with loading(device):
        subjects = load_pair(old, new)
        maker = chosen_workload(*subjects, sweep, inputs_option=inputs, kind=workload)
    plan = Plan(
        sweep=sweep,
        workload=maker,
        calls=calls,
        seeds=tuple(range(seed, seed + seeds)),
        device=device,
        families=families,
        traces=traces.absolute() if traces else None,
        time=Timing() if time else None,
        command=command_line,
    )
    click.echo("syncscope runs the code of OLD and NEW on this machine", err=True)
    return compare(*subjects, plan, step)


def _families(count: Sequence[str]) -> tuple[str, ...]:
    """The families that are always counted, then the others, each once."""
    from syncscope.observe.families import family_of

    return tuple(dict.fromkeys(family_of(count).values()))
