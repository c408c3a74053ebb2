"""The command ``syncscope``: finds the command's file, and turns errors into one line and an exit code."""

from __future__ import annotations

import errno
import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TextIO

import click
from click.core import ParameterSource

from syncscope import __version__
from syncscope.cli import exit_codes, settings

COMMANDS = ("compare", "bench", "run", "report", "explain", "doctor", "init-test")


class Commands(click.Group):
    """Imports a command's file only when the command is named or the help is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The object ``command`` of the file that is named after it."""
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"syncscope.cli.{cmd_name.replace('-', '_')}").command
        return found


@click.group(
    cls=Commands,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="syncscope %(version)s")
@click.pass_context
def syncscope(ctx: click.Context) -> None:
    """Find, count and compare the places where Python waits for a GPU, with or without a GPU.

    Exit codes: 0 fine, 1 a finding, 2 wrong use or unusable input, 3 a fault of syncscope.
    """
    commands = {name: command for name in COMMANDS if (command := syncscope.get_command(ctx, name))}
    ctx.default_map = settings.defaults(settings.nearest(Path.cwd()), commands)


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; never a traceback, unless the fault is syncscope's own."""
    _open_closed_streams()
    try:
        return _run(sys.argv[1:] if args is None else list(args))
    except click.ClickException as error:
        return _say(_one_line(error))
    except _unusable() as error:
        return _say(str(error))
    except KeyboardInterrupt:
        return exit_codes.INTERRUPTED
    except OSError as error:
        return _of_standard_output(error)
    except Exception:
        return _own_failure()


def _run(args: list[str]) -> int:
    """Run the command that ``args`` name; its context has the whole line as ``obj``."""
    written = shlex.join(["syncscope", *args])
    try:
        with syncscope.make_context("syncscope", args, obj=written) as ctx:
            code: int = syncscope.invoke(ctx)
    except click.exceptions.Exit as end:
        code = end.exit_code
    sys.stdout.flush()
    return code


def _open_closed_streams() -> None:
    """Who closed a standard stream (``>&-``) wants to read nothing of it."""
    for name in ("stdout", "stderr"):
        if _is_closed(getattr(sys, name)):
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))


def _is_closed(stream: TextIO | None) -> bool:
    """Python has None in its place; bash, where a script has closed it, may have a file to read."""
    if stream is None:
        return True
    try:
        import fcntl

        return fcntl.fcntl(stream.fileno(), fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
    except (ImportError, OSError, ValueError):  # Windows; a stream that is no file
        return False


def _unusable() -> tuple[type[Exception], ...]:
    """The errors that are about the input; imported only when something was raised."""
    from syncscope.comparison.results import UnusableResult
    from syncscope.observe.families import UnknownFamily
    from syncscope.reports import UnknownFormat
    from syncscope.subjects import Unusable

    return (Unusable, UnusableResult, UnknownFamily, UnknownFormat)


def _say(line: str) -> int:
    with suppress(OSError):  # its disk may be full
        print(f"syncscope: {line}", file=sys.stderr)
    return exit_codes.WRONG_USE


def _own_failure() -> int:
    traceback.print_exc()
    print(
        f"this is a fault of syncscope {__version__}: please report it with the lines above", file=sys.stderr
    )
    return exit_codes.OWN_FAILURE


def _of_standard_output(error: OSError) -> int:
    """Nobody reads it any more, or its disk is full; files have said so themselves."""
    unread = isinstance(error, BrokenPipeError)
    if not unread and error.errno != errno.ENOSPC:
        return _own_failure()
    # Python flushes standard output once more at its exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exit_codes.NOBODY_READS if unread else _say("no space is left for the output: write it elsewhere")


def _one_line(error: click.ClickException) -> str:
    """Click's message without its lines of usage, beginning with the option as the other messages do."""
    context = getattr(error, "ctx", None)
    hint = f"see `{context.command_path if context else 'syncscope'} --help`"
    if type(error) is click.BadParameter and error.param is not None and error.param.name is not None:
        where = _where(context, error.param.name)
        return f"{where}{error.param.name.replace('_', '-')}: {error.message.rstrip('.')}; {hint}"
    return f"{error.format_message().rstrip('.')}; {hint}"


def _where(context: click.Context | None, name: str) -> str:
    """The file that a value comes from, if not from the command line."""
    if context is None or context.get_parameter_source(name) is not ParameterSource.DEFAULT_MAP:
        return ""
    return f"{settings.nearest(Path.cwd()).file}: "
