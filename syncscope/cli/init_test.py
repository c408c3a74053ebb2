"""``syncscope init-test``: a test file that holds a subject to what it does now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from syncscope.cli import options, progress
from syncscope.cli.containment import contained
from syncscope.cli.exit_codes import FINDING, FINE
from syncscope.cli.options import ListCommand, number
from syncscope.subjects import Unusable, UnusableSubject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from syncscope.comparison.results import Comparison
    from syncscope.subjects.loader import Subject


@click.command("init-test", cls=ListCommand)
@click.argument("subject")
@click.option("--baseline", metavar="OLD", help="Whose outputs SUBJECT has to give; its own of git's HEAD.")
@options.cases
@number("--calls", least=1, default=3, help="Complete calls a case in which the reads are counted.")
@click.option("--force", is_flag=True, help="Write over a file that is there already.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The test file; tests of SUBJECT's name in the current folder where it isn't given.",
)
@click.pass_obj
def command(
    command_line: str, /, subject: str, baseline: str | None, output: Path | None, force: bool, **given: Any
) -> int:
    """Write a pytest file for SUBJECT: its outputs equal the baseline's, its reads are those found now.

    The subject is run on the simulated device to find them. The file's budgets are exact: a read that comes
    in fails its test, and so does one that goes, which asks for the new number.
    """
    file = output or Path(f"test_{_name(subject)}.py")
    if file.exists() and not force:
        raise Unusable(f"{file}: is there already; name another with -o, or write over it with --force")
    with contained(), progress.shown() as step:
        comparison = _found(command_line, subject, baseline, step, **given)
    _write(file, comparison, given)
    click.echo(f"wrote {file}: run it with `pytest {file}`")
    return FINE if comparison.equal else FINDING


def _found(
    command_line: str,
    subject: str,
    baseline: str | None,
    step: progress.Step,
    *,
    seed: int,
    seeds: int,
    inputs: str | None,
    workload: str | None,
    calls: int,
    **variables: Sequence[Any],
) -> Comparison:
    from syncscope.comparison.run import Plan, compare, loading
    from syncscope.subjects.inputs import chosen_workload

    sweep = options.sweep_of_cases(**variables)
    with loading("sim"):
        pair = _pair(subject, baseline)
        maker = chosen_workload(*pair, sweep, inputs_option=inputs, kind=workload)
    plan = Plan(sweep, maker, calls, tuple(range(seed, seed + seeds)), device="sim", command=command_line)
    return compare(*pair, plan, step)


def _pair(subject: str, baseline: str | None) -> tuple[Subject, Subject]:
    """The baseline and the subject; without one, the subject as git's HEAD has it, else itself."""
    from syncscope.comparison.environment import commit
    from syncscope.subjects.pair import load_pair

    if baseline is not None:
        return load_pair(baseline, subject)
    try:
        return load_pair(f"{commit()}:{subject}", subject)
    except UnusableSubject:
        return load_pair(subject, subject)


def _write(file: Path, comparison: Comparison, given: dict[str, Any]) -> None:
    from syncscope.comparison.results import write_whole
    from syncscope.reports import test_file

    text = test_file.render(comparison, inputs=given["inputs"], workload=given["workload"])
    try:
        write_whole(file, text.encode())
    except OSError as error:
        raise Unusable(f"{file}: cannot be written ({error.strerror}); write elsewhere") from None


def _name(subject: str) -> str:
    """A module's name for the tests of ``HEAD:model/prune.py::mask``: ``prune``."""
    named = subject.partition("::")[0].rpartition("/")[2].removesuffix(".py")
    return named.partition(":")[0].rpartition(".")[2]
