"""``syncscope bench``: the latency of old and new over a matrix of cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from syncscope.cli import options, progress, timing_options
from syncscope.cli import outputs as files
from syncscope.cli.containment import contained
from syncscope.cli.exit_codes import FINDING, FINE
from syncscope.cli.options import ListCommand
from syncscope.subjects import Unusable

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
    with contained():
        runner = _engine(engine, ray_address)
        plan = _plan(command_line, old, new, runner, **given)
        _check_plots(plots, plan)
        loaded, machine = _loaded(plan)
        journal = _journal(outputs, plan, loaded, machine)
    with _kept(journal):
        with contained(), progress.shown() as step:
            bench = _benched(plan, loaded, machine, journal, runner, step)
        files.write(bench, outputs)
        files.draw(bench, plots)
        if journal and not bench.failed:
            journal.finish()
    files.show(bench)
    if journal and bench.failed:
        click.echo(f"some rows failed; {_left(journal)}", err=True)
    return FINDING if bench.findings else FINE


def _plan(
    command_line: str,
    old: str,
    new: str,
    engine: Engine,
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

    how = timing_options.timing_of(given, seeds)
    variables = {name: given.pop(name) for name in (*_FIRST, *given) if name in given}
    return Plan(
        old=old,
        new=new,
        sweep=options.sweep_of_cases(sweep, **variables),
        device=_resolved(device, engine),
        timing=how,
        seeds=tuple(range(seed, seed + seeds)),
        inputs=inputs,
        workload=workload,
        command=command_line,
    )


def _resolved(device: Literal["auto", "cuda", "cpu", "sim"], engine: Engine) -> Device:
    """``auto`` is a GPU where torch, or a host of the cluster, has one, else the CPU."""
    from syncscope.bench.ray_engine import OnRay
    from syncscope.comparison.run import resolved

    if device == "cpu" or device == "sim":
        return device
    if isinstance(engine, OnRay):
        return engine.device(device)
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
    number = len(journal.rows)
    if number:
        them = "it is" if number == 1 else "they are"
        click.echo(f"{journal.path} has {_finished_rows(number)}: {them} not run again", err=True)
    return journal


def _check_plots(plots: Path | None, plan: Plan) -> None:
    if plots and plan.device == "sim":
        raise Unusable("plots: on a simulated device no time is taken that could be drawn: leave --plots out")


@contextmanager
def _kept(journal: Journal | None) -> Iterator[None]:
    """Whatever ends a run early, the user is told what is left of it."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"syncscope: interrupted; {_left(journal)}", err=True)
        raise
    except Unusable as error:
        if not (journal and journal.rows):
            raise
        raise Unusable(f"{error}; {_left(journal)}") from None
    finally:
        if journal:
            journal.close()


def _left(journal: Journal | None) -> str:
    if journal is None:
        return "finished rows are kept with -o FILE only"
    number = len(journal.rows)
    kept = f"{_finished_rows(number)} {'is' if number == 1 else 'are'} kept in {journal.path}"
    return f"{kept}: the same command goes on from there" if number else "no row was finished"


def _finished_rows(number: int) -> str:
    from syncscope.reports import words

    return words.number(number, "finished row")


def _engine(engine: Literal["local", "ray"], address: str) -> Engine:
    from syncscope.bench.matrix import here

    if engine == "local":
        if address:
            raise Unusable("ray-address: is for --engine ray: add that, or leave --ray-address out")
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
