"""What the code of subjects raises, and what becomes of processes that it forks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from syncscope.subjects import Unusable


@contextmanager
def told_as(told: Callable[[BaseException], Unusable]) -> Iterator[None]:
    """Run a subject's code: whatever it raises is raised as ``told`` of it, but for Ctrl-C.

    A process that was forked in it ends here, as it would have without syncscope: the report is its
    parent's.

    Raises:
        Unusable: what ``told`` makes, or what is one already.
        KeyboardInterrupt: as it is.
    """
    process = os.getpid()
    try:
        yield
    except BaseException as error:
        if os.getpid() != process:
            _leave(error)
        if isinstance(error, (KeyboardInterrupt, Unusable)):
            raise
        raise told(error) from error
    if os.getpid() != process:
        _leave(None)


def _leave(error: BaseException | None) -> NoReturn:
    """End the process with the exit code that Python gives to ``error``."""
    code = error.code if isinstance(error, SystemExit) else int(error is not None)
    if error is not None and not isinstance(error, SystemExit):
        sys.excepthook(type(error), error, error.__traceback__)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))
