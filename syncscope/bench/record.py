"""The one serialisable record of a benchmark. Reports read this and nothing else; imports no torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from syncscope.comparison.results import Environment, Parity, SubjectRecord, decoded, says_record
from syncscope.events import Counts, Side
from syncscope.latency.clock import ClockFigures
from syncscope.latency.record import Interval, Latency, Timing
from syncscope.latency.worth import Worth
from syncscope.subjects.cases import SweepValue, place

SCHEMA_VERSION = 1

Device = Literal["cpu", "cuda", "sim"]


@dataclass(frozen=True)
class Machine:
    """Where a row was made: rows of unlike ``name`` are never pooled. It is the GPU's name, or the CPU's."""

    host: str
    device: Device
    name: str
    torch: str


@dataclass(frozen=True)
class Counted:
    """What the simulated device counted in ``calls`` calls of one side, in a run of its own."""

    calls: Annotated[int, Meta(gt=0)]
    counts: Counts

    @property
    def waits(self) -> float:
        """Of a single call."""
        return self.counts.waits / self.calls


@dataclass(frozen=True)
class Row:
    """One case. Without ``latency``: the outputs differ, or the device is a simulated one.

    ``uncounted`` says why there are no ``counts``; ``failed`` what was raised where the case could not be run
    at all. ``imported`` are the files, each with a hash of its text, that the subjects had imported by calls
    when it was finished.
    """

    sweep: dict[str, SweepValue]
    parity: Parity
    machine: Machine
    counts: dict[Side, Counted] = field(default_factory=dict)
    uncounted: str = ""
    latency: Latency | None = None
    failed: str = ""
    imported: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what no run can have left.

        Raises:
            ValueError: only one side was counted.
        """
        if len(self.counts) == 1:
            raise ValueError("one side is counted, and not the other")

    @property
    def removed(self) -> float | None:
        """The waits that a call of new has less than one of old; nothing where they weren't counted."""
        return self.counts["old"].waits - self.counts["new"].waits if self.counts else None


@dataclass(frozen=True)
class Summary:
    """The rows of machines with one name. Intervals are over the rows; absent for a single row."""

    machine: str
    device: Device
    rows: int
    geometric_mean: float
    geometric_mean_interval: Interval | None
    median: float
    median_interval: Interval | None
    worth: Worth | None


@dataclass(frozen=True)
class Bench:
    """Old against new over the rows of a matrix; ``clock`` is absent where this host timed nothing."""

    command: str
    old: SubjectRecord
    new: SubjectRecord
    swept: list[str]
    workload: str
    seeds: list[int]
    device: Device
    timing: Timing
    rows: Annotated[list[Row], Meta(min_length=1)]
    summaries: list[Summary]
    environment: Environment
    clock: ClockFigures | None = None
    schema_version: int = SCHEMA_VERSION
    tool: str = ""
    record: Literal["bench"] = "bench"

    def __post_init__(self) -> None:
        """Refuse what no run can have left.

        Raises:
            ValueError: a row has no value of a variable, or stands there twice.
        """
        seen = set()
        for row in self.rows:
            missing = [name for name in self.swept if name not in row.sweep]
            if missing:
                raise ValueError(f"a row has no {', '.join(missing)}")
            point = tuple(row.sweep[name] for name in self.swept)
            if point in seen:
                raise ValueError(f"the row {place(row.sweep)} is there twice")
            seen.add(point)

    @property
    def has_unlike_machines(self) -> bool:
        """Whether rows were made on machines that are not to be pooled."""
        return len(self.summaries) > 1

    @property
    def differing(self) -> list[Row]:
        """The rows whose outputs aren't equal."""
        return [row for row in self.rows if not row.parity.equal and not row.failed]

    @property
    def failed(self) -> list[Row]:
        """The rows that could not be run."""
        return [row for row in self.rows if row.failed]

    @property
    def regressed(self) -> list[Row]:
        """The rows that are slower beyond the limit, and were so again."""
        return [row for row in self.rows if row.latency and row.latency.regressed]

    @property
    def findings(self) -> bool:
        """Whether a reviewer has to look: outputs differ, a row failed, or a regression holds."""
        return bool(self.differing or self.failed or self.regressed)


def encode(bench: Bench) -> bytes:
    """The benchmark as JSON, on one line: most of it are samples."""
    return msgspec.json.encode(bench) + b"\n"


def is_bench(text: bytes) -> bool:
    """Whether ``text`` says that it is the record of a benchmark, which may be unusable for all that."""
    return says_record(text, "bench")


def decode(text: bytes) -> Bench:
    """Read a benchmark back.

    Raises:
        UnusableResult: it is no JSON, lacks a field, or is of another ``schema_version``.
    """
    return decoded(text, Bench, SCHEMA_VERSION, _refused, ": make the record anew")


def _refused(why: str) -> str:
    return f"not the record of a benchmark ({why}): make it anew with `syncscope bench -o bench.json`"
