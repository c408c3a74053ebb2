"""The one serialisable record of a comparison. Reports read this and nothing else; imports no torch."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from syncscope.events import Counts, Provenance, Side, count_names
from syncscope.latency.clock import ClockFigures
from syncscope.latency.record import Latency, Timing
from syncscope.subjects.cases import SweepValue

SCHEMA_VERSION = 1

_T = TypeVar("_T")


class UnusableResult(Exception):
    """A result file cannot be read; the message says why and what to do."""


@dataclass(frozen=True)
class Range:
    """The smallest and the largest of some whole numbers; a plain number where both are equal."""

    low: int
    high: int

    @property
    def varies(self) -> bool:
        """Whether the input, not the code alone, decides the number."""
        return self.low != self.high

    def __str__(self) -> str:
        """``3``, or ``9 to 11`` where the number varies."""
        return f"{self.low} to {self.high}" if self.varies else str(self.low)


@dataclass(frozen=True)
class Law:
    """How a number grows over the cases, found exactly on integers.

    ``kind`` is ``constant`` (``base``), ``linear`` (``base + slope * variable``) or ``other`` (``values``,
    one a case); the variable may be a product of two (``n*m``). ``extras`` are additions that hold only
    where some lines ran.
    """

    kind: Literal["constant", "linear", "other"]
    base: int = 0
    slope: int = 0
    variable: str = ""
    values: list[int] = field(default_factory=list)
    extras: list[Extra] = field(default_factory=list)
    text: str = ""


@dataclass(frozen=True)
class Extra:
    """An addition to a law that holds only in the cases where ``lines`` (first, last) of the subject ran."""

    lines: tuple[int, int]
    law: Law


@dataclass(frozen=True)
class Difference:
    """How one output of new differs from old's.

    ``path`` names the place in nested outputs (``[0]['mask']``), or in what a function was given (``argument
    cache``); ``what`` is ``values``, ``shape``, ``dtype``, ``device``, ``requires_grad``, ``type`` (of a
    tensor its layout too), ``keys``, ``length``, ``count`` (of True values, against the number promised) or
    ``uncomparable`` (``new`` says why). For values: ``count`` of ``numel`` elements differ, first at
    ``first`` (up to five indices), by at most ``largest``.
    """

    path: str
    what: str
    old: str
    new: str
    count: int = 0
    numel: int = 0
    first: list[list[int]] = field(default_factory=list)
    largest: int | float | None = None


@dataclass(frozen=True)
class Parity:
    """Whether the outputs of old and new are equal bit for bit over all calls of a case.

    Where nothing was ``returned``, by neither of them in any call, there were only arguments to compare.
    """

    equal: bool
    compared: int
    differences: list[Difference] = field(default_factory=list)
    returned: bool = True


@dataclass(frozen=True)
class SideResult:
    """What one subject did in one case.

    ``calls`` complete calls; ``counts`` are totals over them; ``per_call`` has, for every count (launch
    families as ``launches.topk``), the range over single calls. ``aten`` are torch.profiler's totals of
    ATen calls over the same number of calls, on whichever device; ``visited`` are the subject's lines that
    ran in every input, ``sometimes`` those that ran in some inputs of this case only.
    """

    calls: int
    counts: Counts
    per_call: dict[str, Range] = field(default_factory=dict)
    aten: dict[str, int] = field(default_factory=dict)
    visited: list[int] = field(default_factory=list)
    sometimes: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class CaseResult:
    """One point of the sweep: the swept variables' values, parity, and both subjects' counts.

    ``latency`` is there where the case was timed; ``untimed`` says why it couldn't be.
    """

    sweep: dict[str, SweepValue]
    parity: Parity
    old: SideResult
    new: SideResult
    latency: Latency | None = None
    untimed: str = ""


@dataclass(frozen=True)
class SiteResult:
    """One line of one subject that caused events of one kind through one spelling.

    ``per_case`` is the range of events in a single call, one entry a case; ``dtoh`` ... ``waits`` are the
    copies and waits of ONE such event; ``reason`` says why it happens. ``may_wait``: the driver may wait
    where PyTorch doesn't.
    """

    subject: Side
    file: str
    line: int
    function: str
    text: str
    kind: str
    api: str
    per_case: list[Range]
    growth: Law
    op: str = ""
    shape: list[int] = field(default_factory=list)
    dtype: str = ""
    dtoh: int = 0
    htod: int = 0
    dtod: int = 0
    waits: int = 0
    reason: str = ""
    may_wait: bool = False


@dataclass(frozen=True)
class Branch:
    """Lines of a subject (first, last) that ran for ``ran`` of ``inputs`` inputs only."""

    subject: Side
    lines: tuple[int, int]
    ran: int
    inputs: int


@dataclass(frozen=True)
class SubjectRecord:
    """What was run: ``label`` as the user wrote it, where it came from, and a hash of its source text."""

    label: str
    file: str
    function: str
    revision: str = ""
    sha256: str = ""


@dataclass(frozen=True)
class Environment:
    """The machine and the versions that the figures were made with; empty texts where there is none."""

    python: str
    torch: str
    platform: str
    device: str
    gpu: str = ""
    driver: str = ""
    cuda: str = ""
    commit: str = ""
    dirty: bool = False
    threads: int = 0
    processor: str = ""


@dataclass(frozen=True)
class Comparison:
    """Old against new over all cases; ``growth`` has one law a side and count (``growth["old"]["memcpy"]``).

    ``disagreements`` are sentences: a figure of the scope that torch.profiler does not confirm.
    ``notes`` are further sentences for the reader. ``workload`` says who made the inputs. ``idle`` are the
    sides that never had a tensor on the device: their zeros say nothing. ``timing`` and ``clock`` say how
    cases were timed, where they were.
    """

    provenance: Provenance
    command: str
    old: SubjectRecord
    new: SubjectRecord
    swept: list[str]
    workload: str
    calls: int
    seeds: list[int]
    cases: list[CaseResult]
    sites: list[SiteResult]
    growth: dict[Side, dict[str, Law]]
    branches: list[Branch]
    environment: Environment
    families: list[str] = field(default_factory=list)
    disagreements: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    idle: list[Side] = field(default_factory=list)
    timing: Timing | None = None
    clock: ClockFigures | None = None
    schema_version: int = SCHEMA_VERSION
    tool: str = ""

    @property
    def equal(self) -> bool:
        """Whether every case's outputs are equal bit for bit."""
        return all(case.parity.equal for case in self.cases)

    @property
    def findings(self) -> bool:
        """Whether a reviewer has to look: outputs differ, something grew, or nothing ran."""
        return not self.equal or bool(self.grew) or bool(self.regressed) or len(self.idle) == 2

    @property
    def timed(self) -> list[CaseResult]:
        """The cases that were timed: none without ``timing``."""
        return [case for case in self.cases if case.latency]

    @property
    def regressed(self) -> list[CaseResult]:
        """The cases that are slower beyond the limit, and were so when they were run again."""
        return [case for case in self.cases if case.latency and case.latency.regressed]

    @property
    def grew(self) -> list[str]:
        """What is more in new than in old in some case: waits, copies across, unknown operators."""
        watched: dict[str, Callable[[Counts], int]] = {
            "waits": lambda counts: counts.waits,
            "copies between host and device": lambda counts: counts.dtoh + counts.htod,
            "unknown operators": lambda counts: counts.unknown_ops,
        }
        return [
            name
            for name, figure in watched.items()
            if any(figure(case.new.counts) > figure(case.old.counts) for case in self.cases)
        ]


def encode(comparison: Comparison) -> bytes:
    """The comparison as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(comparison), indent=2) + b"\n"


def decode(text: bytes) -> Comparison:
    """Read a comparison back.

    Raises:
        UnusableResult: it is no JSON, lacks a field, or is of another ``schema_version``.
    """
    found = decoded(text, Comparison, SCHEMA_VERSION, _not_a_result, ": make the result anew")
    lacking = _lacking(found)
    if lacking:
        raise UnusableResult(_not_a_result(f"it has no {lacking}"))
    return found


def _not_a_result(why: str) -> str:
    return f"not a syncscope result ({why}): make it anew with the command that wrote it"


def decoded(text: bytes, kind: type[_T], version: int, refused: Callable[[str], str], anew: str) -> _T:
    """A record of ``kind`` from its JSON; every saved record is read so.

    ``refused`` makes the message of why it is none, ``anew`` ends the one about another version.

    Raises:
        UnusableResult: it is no JSON, lacks a field, or is not of schema_version ``version``.
    """
    try:
        found = msgspec.json.decode(text, type=dict).get("schema_version")
        if found == version:
            return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise UnusableResult(refused(str(error))) from error
    raise UnusableResult(f"schema_version is {found}, this syncscope reads {version}{anew}")


def says_record(text: bytes, name: str) -> bool:
    """Whether ``text`` says that it is the record ``name``, which may be unusable for all that."""
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return isinstance(found, dict) and found.get("record") == name


def _lacking(comparison: Comparison) -> str:
    """The first figure that a report would look for in vain; nothing in a whole record."""
    names = count_names(comparison.families)
    for side in ("old", "new"):
        for name in names:
            if name not in comparison.growth.get(side, {}):
                return f"law of {side}'s {name}"
    if any(len(site.per_case) != len(comparison.cases) for site in comparison.sites):
        return "figure of each site for each case"
    return ""


def write_whole(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` whole or not at all: a temporary file beside it, then a rename.

    A link's target is written, not the link; what is no regular file (a pipe, a terminal) is written to as
    it is.

    Raises:
        OSError: the folder is missing or not writable, or the disk is full; ``path`` is then unchanged.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    try:
        descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        Path(temporary).chmod(target.stat().st_mode if target.exists() else 0o644)
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
