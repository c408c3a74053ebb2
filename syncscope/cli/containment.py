"""What the code of subjects may do to this process, and what becomes of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from syncscope.cli.exit_codes import WRONG_USE


@contextmanager
def contained() -> Iterator[None]:
    """While subjects run: what they print goes to stderr, standard output is the report's.

    The folder that they change to is left again, so that reports lie where they were asked for. Where one
    ends the process by ``os._exit``, that isn't taken for a run without findings.
    """
    folder, leave = os.getcwd(), os._exit
    process = os.getpid()

    def told(status: int) -> None:
        if os.getpid() == process:  # not in a process that was forked
            print(
                f"syncscope: a subject ended the process by os._exit({status}): there is no report; let it "
                "return, or raise",
                file=sys.__stderr__,
                flush=True,
            )
            status = WRONG_USE
        leave(status)

    os._exit = told  # type: ignore[assignment]
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os._exit = leave
        os.chdir(folder)
