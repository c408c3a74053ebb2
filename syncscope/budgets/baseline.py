"""The committed list of known waits, which may only shrink: ``syncscope-baseline.json``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from syncscope.comparison.results import UnusableResult, decoded, write_whole

SCHEMA_VERSION = 1

_ANEW = "; take it away, and make it anew with --syncscope-update"


class Key(NamedTuple):
    """What tells a known wait: lines move, a function and its text stay."""

    file: str
    function: str
    text: str


@dataclass(frozen=True)
class Known:
    """A line that is known to read or wait, at most ``count`` times in a test.

    ``line`` is where it was last, ``test`` the one in which it waited most: when that one runs and the line
    waits nowhere, it is gone.
    """

    file: str
    function: str
    text: str
    count: int
    line: int = 0
    test: str = ""
    owner: str = ""
    reason: str = ""

    @property
    def key(self) -> Key:
        """What tells it from the others."""
        return Key(self.file, self.function, self.text)


@dataclass(frozen=True)
class Baseline:
    """Every known wait."""

    sites: list[Known] = field(default_factory=list)
    schema_version: int = SCHEMA_VERSION

    def counts(self) -> dict[Key, int]:
        """How often each may happen in a test."""
        return {known.key: known.count for known in self.sites}


def gone(
    baseline: Baseline, met: Iterable[Key], ended: Collection[str], there: Collection[str] | None
) -> list[Known]:
    """The known waits that no longer happen, as far as the tests that ``ended`` by themselves can tell.

    After a run of all tests, those that are ``there``, also the waits whose test is no more.
    """
    seen = set(met)
    return [
        known
        for known in baseline.sites
        if known.key not in seen and (known.test in ended or (there is not None and known.test not in there))
    ]


def updated(baseline: Baseline, found: Mapping[Key, Known], struck: Collection[Known]) -> Baseline:
    """The baseline after a run: what was ``found``, with the owners and reasons that were written before."""
    written = {known.key: known for known in baseline.sites if known not in struck}
    made = {key: _carried(known, written.get(key)) for key, known in found.items()}
    return Baseline(sorted((written | made).values(), key=lambda known: known.key))


def _carried(found: Known, written: Known | None) -> Known:
    return found if written is None else replace(found, owner=written.owner, reason=written.reason)


def read(file: Path) -> Baseline | None:
    """The baseline in ``file``; None where there is none.

    Raises:
        UnusableResult: it is no baseline, or one of another ``schema_version``.
    """
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return decoded(text, Baseline, SCHEMA_VERSION, lambda why: f"no baseline ({why}){_ANEW}", _ANEW)
    except UnusableResult as error:
        raise UnusableResult(f"{file}: {error}") from error


def write(baseline: Baseline, file: Path) -> None:
    """Write ``file`` whole or not at all."""
    write_whole(file, msgspec.json.format(msgspec.json.encode(baseline), indent=2) + b"\n")
