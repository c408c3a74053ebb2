"""All rows of a matrix: those that are on disk already, those that are left, and what they say together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

from syncscope import __version__
from syncscope.bench import texts
from syncscope.bench.journal import Journal
from syncscope.bench.plan import Loaded, Plan
from syncscope.bench.record import Bench, Device, Machine, Row
from syncscope.bench.rows import measured
from syncscope.bench.summary import summaries
from syncscope.comparison.environment import environment
from syncscope.comparison.run import subject_record
from syncscope.latency import verdicts
from syncscope.latency.clock import ClockFigures, PerfCounter
from syncscope.latency.samplers import examined
from syncscope.subjects import Unusable
from syncscope.subjects.cases import Case, place

Progress = Callable[[str, int, int], None]


class Engine(Protocol):
    """Runs rows somewhere, and yields each when it is finished, in any order."""

    def __call__(self, plan: Plan, loaded: Loaded, machine: Machine, cases: Sequence[Case]) -> Iterator[Row]:
        """Run ``cases``."""


def here(plan: Plan, loaded: Loaded, machine: Machine, cases: Sequence[Case]) -> Iterator[Row]:
    """The engine that runs one row after another in this process."""
    return (measured(plan, loaded, machine, case) for case in cases)


def bench(
    plan: Plan,
    loaded: Loaded,
    machine: Machine,
    journal: Journal | None = None,
    engine: Engine = here,
    progress: Progress = lambda what, done, of: None,
) -> Bench:
    """Run the rows that ``journal`` lacks, and put all together; every finished row is in it at once.

    A row that failed stands among the others, and is not kept in the journal: it is run again.

    Raises:
        Unusable: no row could be run, the inputs can't be rotated, a file that the subjects import has
            changed between rows, or the journal can't be written.
        UnusableResult: the journal has a row of another matrix.
    """
    cases = plan.sweep.cases()
    rows = journal.rows_of(cases) if journal else []
    left = [case for case in cases if case not in [row.sweep for row in rows]]
    tell = partial(_tell, progress, cases, rows)
    tell()
    for row in engine(plan, loaded, machine, left):
        _check_text(row, rows)
        if journal and not row.failed:
            journal.add(row)
        rows.append(row)
        tell()
    if all(row.failed for row in rows):
        of = f"none of {len(rows)} rows could be run: " if len(rows) > 1 else ""
        raise Unusable(f"{of}{rows[0].failed}")
    return assembled(plan, loaded, [_of(rows, case) for case in cases])


def _tell(progress: Progress, cases: Sequence[Case], rows: Sequence[Row]) -> None:
    """Name the first case that isn't finished: the one that runs, where they run in turn."""
    finished = [row.sweep for row in rows]
    progress(next((place(case) for case in cases if case not in finished), ""), len(rows), len(cases))


def _check_text(row: Row, others: Sequence[Row]) -> None:
    """Nobody sees what is imported by a call before it is: it may have changed since, or on another host."""
    before = texts.of_rows(others)
    for file, text in row.imported.items():
        if before.get(file, text) != text:
            raise Unusable(
                f"{file}: its text was {before[file]} in the rows so far and is {text} in "
                f"{place(row.sweep)}: put it back, or begin anew with another -o"
            )


def assembled(plan: Plan, loaded: Loaded, rows: Sequence[Row]) -> Bench:
    """The record of a benchmark from its rows, whose verdicts are corrected for their number."""
    device = plan.device
    final = verdicts.with_corrected(rows)
    return Bench(
        command=plan.command,
        old=subject_record(loaded.old),
        new=subject_record(loaded.new),
        swept=list(plan.sweep.names),
        workload=loaded.workload.describe(),
        seeds=list(plan.seeds),
        device=device,
        timing=plan.timing,
        rows=final,
        summaries=summaries(final),
        environment=environment(device),
        clock=_clock(device),
        tool=__version__,
    )


def _clock(device: Device) -> ClockFigures | None:
    """This host's, unless it only began what others ran."""
    import torch

    if device == "sim" or (device == "cuda" and not torch.cuda.is_available()):
        return None
    return examined(device, PerfCounter())


def _of(rows: Sequence[Row], case: Case) -> Row:
    return next(row for row in rows if row.sweep == case)
