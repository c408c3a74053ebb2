"""``syncscope bench``: the latency of old and new over a matrix of cases."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from syncscope.cli import options, progress, timing_options
from syncscope.cli import outputs as files
from syncscope.cli.exit_codes import FINDING, FINE
from syncscope.cli.options import ListCommand

if TYPE_CHECKING:
    from syncscope.bench.journal import Journal
    from syncscope.bench.matrix import Engine
    from syncscope.bench.plan import Loaded, Plan
    from syncscope.bench.record import Bench, Device, Machine

# The published matrix has the dtype outermost.
_FIRST = ("dtype", "frames", "tokens_per_frame", "q")


@click.command("bench", cls=ListCommand)
@click.argument("old")
@click.argument("new")
@options.cases
@click.option(
    "--device",
    type=click.Choice(["auto", "cuda", "cpu", "sim"]),
    default="auto",
    show_default=True,
    help="auto takes a GPU where torch has one, else the CPU, whose times are no GPU's; sim only counts.",
)
@timing_options.timing
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    show_default=True,
    help="ray spreads the rows over GPUs and hosts (install syncscope[ray]).",
)
@click.option("--ray-address", default="", metavar="ADDRESS", help="An existing cluster; else a local one.")
@files.option
@files.plots
@click.pass_obj
def command(
    command_line: str,
    /,
    old: str,
    new: str,
    outputs: tuple[Path, ...],
    plots: Path | None,
    engine: Literal["local", "ray"],
    ray_address: str,
    **given: Any,
) -> int:
    """Time NEW against OLD, the baseline, over a matrix of cases; several lists multiply.

    Each finished row is kept in FILE.rows, FILE being the first of -o, until the reports are written: after a
    stop at any moment the same command goes on where it was.
    """
    from syncscope.reports import BENCH_FORMATS

    files.check(outputs, plots, BENCH_FORMATS)
    with redirect_stdout(sys.stderr), progress.shown() as step:
        plan = _plan(command_line, old, new, **given)
        loaded, machine = _loaded(plan)
        journal = _journal(outputs, plan, loaded, machine)
        bench = _benched(plan, loaded, machine, journal, _engine(engine, ray_address), step)
    files.write(bench, outputs)
    files.draw(bench, plots)
    if journal:
        journal.finish()
    files.show(bench)
    return FINDING if bench.findings else FINE


def _plan(
    command_line: str,
    old: str,
    new: str,
    *,
    seed: int,
    seeds: int,
    inputs: str | None,
    workload: str | None,
    device: Literal["auto", "cuda", "cpu", "sim"],
    sweep: Sequence[str],
    **given: Any,
) -> Plan:
    from syncscope.bench.plan import Plan

    how = timing_options.timing_of(given)
    variables = {name: given.pop(name) for name in (*_FIRST, *given) if name in given}
    return Plan(
        old=old,
        new=new,
        sweep=options.sweep_of_cases(sweep, **variables),
        device=_resolved(device),
        timing=how,
        seeds=tuple(range(seed, seed + seeds)),
        inputs=inputs,
        workload=workload,
        command=command_line,
    )


def _resolved(device: Literal["auto", "cuda", "cpu", "sim"]) -> Device:
    """``auto`` is a GPU where torch has one, else the CPU."""
    from syncscope.comparison.run import resolved

    if device == "cpu" or device == "sim":
        return device
    return "cuda" if resolved(device) == "cuda" else "cpu"


def _loaded(plan: Plan) -> tuple[Loaded, Machine]:
    from syncscope.bench.machine import this_machine
    from syncscope.bench.plan import load

    click.echo("syncscope runs the code of OLD and NEW on this machine", err=True)
    return load(plan), this_machine(plan.device)


def _journal(outputs: Sequence[Path], plan: Plan, loaded: Loaded, machine: Machine) -> Journal | None:
    """Beside the first report; without one there is no place for it."""
    from syncscope.bench.journal import Journal
    from syncscope.bench.plan import identity

    if not outputs:
        return None
    journal = Journal(outputs[0].with_name(f"{outputs[0].name}.rows"), identity(plan, loaded, machine))
    if journal.rows:
        click.echo(f"{journal.path} has {len(journal.rows)} finished rows: they are not run again", err=True)
    return journal


def _engine(engine: Literal["local", "ray"], address: str) -> Engine:
    from syncscope.bench.matrix import here

    if engine == "local":
        return here
    from syncscope.bench.ray_engine import OnRay

    return OnRay(address)


def _benched(
    plan: Plan,
    loaded: Loaded,
    machine: Machine,
    journal: Journal | None,
    engine: Engine,
    step: progress.Step,
) -> Bench:
    from syncscope.bench.matrix import bench

    return bench(plan, loaded, machine, journal, engine, step)
