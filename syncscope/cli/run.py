"""``syncscope run``: a script or module as it is, and every line of it that waits or copies."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from syncscope.cli import options
from syncscope.cli import outputs as files
from syncscope.cli.options import OPERATOR, Values, listed, spread, taken

if TYPE_CHECKING:
    from syncscope.observe.scope import Scope
    from syncscope.runs.record import Run


class ProgramCommand(click.Command):
    """A command whose own options stand before a program: what follows is the program's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the tool's part as click does, after every list in it became one option a value."""
        own = [option for option in self.params if isinstance(option, click.Option)]
        lists = {name: option for option in own if isinstance(option, Values) for name in option.opts}
        single = {name for option in own if not option.is_flag for name in option.opts} - lists.keys()
        at = program_at(args, single, lists)
        return super().parse_args(ctx, [*spread(args[:at], lists), *args[at:]])


def program_at(args: Sequence[str], single: Collection[str], lists: Mapping[str, Values]) -> int:
    """Where the program stands: at the first token that is neither an option nor an option's value."""
    at = 0
    while at < len(args) and args[at].startswith("-") and args[at] != "--":
        name = args[at]
        at += 1
        if name in lists:
            at += len(taken(args[at:], lists[name].form))
        elif name in single:
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

    The script's output, arguments and exit code are its own; the report goes to standard error when it has
    ended, or to the files of -o. Torch is imported before the script begins.
    """
    from syncscope.reports import RUN_FORMATS
    from syncscope.runs.paths import Paths
    from syncscope.runs.program import module, script, start

    files.check(outputs, formats=RUN_FORMATS)
    paths = Paths(only, skip)
    paths.check()
    interrupted = _ends_by_signal()
    scope, finish = _prepared(command_line, device, count, threads, per)

    scope.__enter__()
    try:
        loaded = module(program) if as_module else script(program)
    except BaseException:
        scope.__exit__(None, None, None)
        raise
    ...
