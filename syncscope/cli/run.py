"""``syncscope run``: a script or module as it is, and every line of it that waits or copies."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from syncscope.cli import options
from syncscope.cli import outputs as files
from syncscope.cli.options import OPERATOR, Values, listed, spread, taken
from syncscope.subjects import Unusable

if TYPE_CHECKING:
    from syncscope.observe.scope import Scope
    from syncscope.runs.paths import Paths
    from syncscope.runs.record import Run


class ProgramCommand(click.Command):
    """A command whose own options stand before a program: what follows it is the program's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the tool's part as click does, after every list in it became one option a value."""
        own = [option for option in self.params if isinstance(option, click.Option)]
        lists = {name: option for option in own if isinstance(option, Values) for name in option.opts}
        single = {name for option in own if not option.is_flag for name in option.opts} - lists.keys()
        at = program_at(args, single, lists)
        return super().parse_args(ctx, [*spread(args[:at], lists), *args[at:]])


def program_at(args: Sequence[str], single: Collection[str], lists: Mapping[str, Values]) -> int:
    """Where the program stands: at the first token that is neither an option nor an option's value.

    ``single`` are the options with one value, ``lists`` those with a free number.
    """
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] != "--":
        name, _, value = args[at].partition("=")
        at += 1
        if name in lists:
            at += len(taken(deque(args[at:]), lists[name].form))
        elif name in single and not value:
            at += 1
    return at


@click.command("run", cls=ProgramCommand, context_settings={"allow_interspersed_args": False})
@options.device
@click.option(
    "--only", multiple=True, metavar="PATH", help="Show the lines of PATH: a file, a folder or a glob."
)
@click.option("--skip", multiple=True, metavar="PATH", help="Leave out the lines of PATH.")
@click.option("--per", metavar="REGEX|FUNCTION", help="Figures per step: a step is a call of that function.")
@click.option("--threads", is_flag=True, help="Hear the threads that the program starts as well.")
@listed("--count", OPERATOR, "sort cumsum", "ATen operators to count beside topk and scatter.")
@files.option
@click.option("-m", "as_module", is_flag=True, help="SCRIPT is a module's name, as in python -m.")
@click.argument("program", metavar="SCRIPT")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def command(
    command_line: str,
    /,
    device: Literal["auto", "cuda", "sim"],
    only: tuple[str, ...],
    skip: tuple[str, ...],
    per: str | None,
    threads: bool,
    count: Sequence[str],
    outputs: tuple[Path, ...],
    as_module: bool,
    program: str,
    args: tuple[str, ...],
) -> None:
    """Run SCRIPT with its ARGS, and report every line that waits or copies.

    The script's output, arguments and exit code are its own. The report goes to standard error when it has
    ended, or to the files of -o (.json, .md); after os._exit and os.exec there is none. Torch is
    imported before the script begins.
    """
    from syncscope.runs import program as programs
    from syncscope.runs.session import Ending, Session

    ending = Ending()
    paths = _checked(outputs, only, skip)
    scope = _scope(device, count, threads, per)
    finish = _finisher(scope, paths, command_line, outputs)
    load = programs.module if as_module else programs.script
    try:
        Session(scope, ending, finish).run(partial(load, program), args)
    except programs.UnusableProgram as error:
        click.echo(f"syncscope: {error}", err=True)
        raise SystemExit(error.exit_code) from None


def _checked(outputs: Sequence[Path], only: tuple[str, ...], skip: tuple[str, ...]) -> Paths:
    """All that can be wrong without a look at the program."""
    from syncscope.reports import RUN_FORMATS
    from syncscope.runs.paths import Paths

    files.check(outputs, formats=RUN_FORMATS)
    paths = Paths(only, skip)
    paths.check()
    return paths


def _scope(
    device: Literal["auto", "cuda", "sim"], count: Sequence[str], threads: bool, per: str | None
) -> Scope:
    from syncscope.comparison.run import resolved
    from syncscope.observe.scope import Scope

    return Scope("cuda" if resolved(device) == "cuda" else "sim", count, threads=threads, per=per)


def _finisher(
    scope: Scope, paths: Paths, command_line: str, outputs: Sequence[Path]
) -> Callable[[str], None]:
    """What reports when the program has ended; it is told how that came.

    All that it needs is imported now: once the program runs, its own folder is looked into first.
    """
    from syncscope.cli.terminal import StandardError
    from syncscope.comparison.environment import environment
    from syncscope.reports import RUN_FORMATS, format_of
    from syncscope.reports.run_terminal import print_run
    from syncscope.runs.recording import recorded

    made_with, console = environment(scope.device), StandardError()
    written = [path.absolute() for path in outputs]
    for path in outputs:
        import_module(format_of(path, RUN_FORMATS))

    def finish(ended: str) -> None:
        run = replace(recorded(scope, paths), command=command_line, ended=ended, environment=made_with)
        if written:
            _write(run, written)
        elif not sys.stderr.closed:
            print_run(run, console)

    return finish


def _write(run: Run, outputs: Sequence[Path]) -> None:
    """Write the reports; the exit code is the program's even where that fails."""
    try:
        files.write(run, outputs)
    except Unusable as error:
        click.echo(f"syncscope: {error}", err=True)
