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
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Column

    # Where the line is short, what is run is cut first.
    rest, whole = Column(no_wrap=True, overflow="ellipsis", ratio=1), Column(no_wrap=True, min_width=7)
    columns = (
        BarColumn(bar_width=20),
        MofNCompleteColumn(table_column=whole),
        TimeRemainingColumn(table_column=whole),
        TextColumn("left"),
        TextColumn("{task.description}", table_column=rest),
    )
    # Drawn at each step only: a drawing thread would run beside what is being watched.
    with Progress(
        *columns, console=Console(stderr=True), transient=True, auto_refresh=False, expand=True
    ) as bar:
        task = bar.add_task("", total=None)

        def step(what: str, done: int, of: int) -> None:
            bar.update(task, description=what, completed=done, total=of, refresh=True)

        yield step
