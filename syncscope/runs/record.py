"""The one serialisable record of a run. Reports read this and nothing else; imports no torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import msgspec

from syncscope.comparison.results import Environment, Range, decoded, says_record
from syncscope.events import Counts, Provenance

SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Caller:
    """A line of the user's own code that called a library's line, and how many of its events it caused."""

    file: str
    line: int
    function: str
    text: str
    events: int


@dataclass(frozen=True)
class RunSite:
    """One line that caused events of one kind through one spelling.

    ``events`` is how many; ``dtoh`` ... ``waits`` are their copies and waits together. ``library``: the line
    is in site-packages or the standard library, and ``callers`` are the user's own lines that led there,
    most frequent first. ``per_step`` is the range of events in a single step. ``dtype`` is empty where
    the events had several. ``may_wait``: the driver may wait where PyTorch doesn't. Paths are relative to
    where the run was started, those of libraries to where libraries are.
    """

    file: str
    line: int
    function: str
    text: str
    library: bool
    kind: str
    api: str
    events: int
    dtoh: int = 0
    htod: int = 0
    dtod: int = 0
    waits: int = 0
    op: str = ""
    dtype: str = ""
    reason: str = ""
    may_wait: bool = False
    callers: list[Caller] = field(default_factory=list)
    per_step: Range | None = None


@dataclass(frozen=True)
class StepsRecord:
    """Figures per step: a step is one call of a function named ``per``; ``functions`` are those found.

    ``per_step`` has the range of every count over the ``steps`` finished steps, ``inside`` their totals,
    ``outside`` what happened in no step.
    """

    per: str
    functions: list[str]
    steps: int
    per_step: dict[str, Range]
    inside: Counts
    outside: Counts


@dataclass(frozen=True)
class LeftOut:
    """The sites that ``only`` and ``skip`` left out, and their figures, which are in the run's totals.

    ``unmatched`` are those of ``only`` that no file matches.
    """

    only: list[str]
    skip: list[str]
    sites: int
    counts: Counts
    unmatched: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Run:
    """What a program did under a scope, from its start to its end.

    ``counts`` are totals over everything; ``sites`` are the lines that are shown: those
    that wait most first, then those that copy most.
    ``threads``: whether threads that the program started were heard. ``ended`` says how the program ended,
    and is empty where it ran to its end. ``notes`` are further sentences for the reader.
    """

    provenance: Provenance
    command: str
    counts: Counts
    sites: list[RunSite]
    device: str
    threads: bool = False
    steps: StepsRecord | None = None
    left_out: LeftOut | None = None
    ended: str = ""
    environment: Environment | None = None
    families: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    schema_version: int = SCHEMA_VERSION
    tool: str = ""
    record: Literal["run"] = "run"


def encode(run: Run) -> bytes:
    """The run as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(run), indent=2) + b"\n"


def is_run(text: bytes) -> bool:
    """Whether ``text`` says that it is the record of a run, which may be unusable for all that."""
    return says_record(text, "run")


def decode(text: bytes) -> Run:
    """Read a run back.

    Raises:
        UnusableResult: it is no JSON, lacks a field, or is of another ``schema_version``.
    """
    return decoded(text, Run, SCHEMA_VERSION, _refused, ": make the record anew")


def _refused(why: str) -> str:
    return f"not the record of a run ({why}): make it anew with `syncscope run -o run.json`"
