"""A progress bar on standard error, where that is a terminal; else nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Step = Callable[[str, int, int], None]


@contextmanager
def shown() -> Iterator[Step]:
    """Yield what is to be told which case begins, and how many of how many are done."""
    if not sys.stderr.isatty():
        yield lambda what, done, of: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar_and_number = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    columns = (*bar_and_number, TimeElapsedColumn(), TimeRemainingColumn())
    # Drawn at each step only: a drawing thread would run beside what is being watched.
    with Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False) as bar:
        task = bar.add_task("", total=None)

        def step(what: str, done: int, of: int) -> None:
            bar.update(task, description=what, completed=done, total=of, refresh=True)

        yield step
