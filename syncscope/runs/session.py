"""A program's whole life under a scope: from before its first line until after its last exit handler."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from syncscope.runs.leftovers import unfinished
from syncscope.runs.program import Program, Raised, start

if TYPE_CHECKING:
    from syncscope.observe.scope import Scope

# What a shell reports of a program that SIGINT ended.
_INTERRUPTED = 130


class Ending:
    """Ends an interrupted process as Python does, by the signal, after all exit handlers.

    Make it first: exit handlers are called in the reverse order.
    """

    def __init__(self) -> None:
        """Be the last exit handler."""
        self.interrupted = False
        atexit.register(self._end)

    def _end(self) -> None:
        if self.interrupted and os.name == "posix":
            sys.stdout.flush()
            sys.stderr.flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)


class Session:
    """One program under ``scope``; ``finish`` is told how it ended (nothing, if by itself), and reports."""

    def __init__(self, scope: Scope, ending: Ending, finish: Callable[[str], None]) -> None:
        """Prepare; nothing runs before ``run``."""
        self._scope, self._ending, self._finish = scope, ending, finish
        self._process = os.getpid()
        self._ended = ""

    def run(self, load: Callable[[], Program], args: tuple[str, ...]) -> None:
        """Run what ``load`` gives to its end; the scope stays until the program's own exit handlers are done.

        Raises:
            UnusableProgram: there is none; nothing has run then.
            SystemExit: always otherwise, with what Python would exit with.
        """
        self._scope.__enter__()
        try:
            program = load()
        except BaseException:
            self._scope.__exit__(None, None, None)
            raise
        # The program's exit handlers are registered later, so that they are called before this one.
        atexit.register(self._exit)
        try:
            start(program, args)
        except SystemExit as end:
            self._ended = _said(end)
            raise
        except KeyboardInterrupt:
            self._ended, self._ending.interrupted = "was interrupted", True
            raise SystemExit(_INTERRUPTED) from None

    def _exit(self) -> None:
        # A forked child that ends as programs do has this handler too, but not the report.
        if os.getpid() == self._process:
            for sentence in unfinished():
                self._scope.note(sentence)
            self._scope.__exit__(None, None, None)
            self._finish(self._ended)


def _said(end: SystemExit) -> str:
    """``raised ValueError``, ``ended with exit code 3``; nothing for 0."""
    if isinstance(end, Raised):
        return f"raised {end.error}"
    if end.code is None or end.code == 0:
        return ""
    return f"ended with exit code {end.code if isinstance(end.code, int) else 1}"
