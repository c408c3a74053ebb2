"""Finished rows on disk: each is a line, there as soon as it is finished, whatever happens next."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from syncscope.bench.record import SCHEMA_VERSION, Row
from syncscope.comparison.results import UnusableResult
from syncscope.subjects import Unusable

_MENDING = "write elsewhere with another -o, or delete the file"


class OtherRun(Unusable):
    """The rows on disk were made in another way than those that are to be added."""


class Journal:
    """The rows of one benchmark in the file ``path``: a first line that says how they are made, then rows.

    A line is on disk before the next row begins. A last line that was cut short is dropped.
    """

    def __init__(self, path: Path, made_with: dict[str, str]) -> None:
        """Read what is there, or begin.

        Raises:
            UnusableResult: it is no such file, damaged, or of another version.
            OtherRun: its rows were made in another way; the message says what differs.
            Unusable: it can't be written.
        """
        self.path = path
        lines = _whole_lines(path)
        self.rows = _rows(path, lines, made_with)
        if not lines:
            self._append({"schema_version": SCHEMA_VERSION, "rows_of": made_with})

    def add(self, row: Row) -> None:
        """Put one more row on disk.

        Raises:
            Unusable: the disk is full; the rows so far stay.
        """
        self._append(row)
        self.rows.append(row)

    def finish(self) -> None:
        """The reports are written: the file has done its work."""
        self.path.unlink(missing_ok=True)

    def _append(self, line: object) -> None:
        try:
            with self.path.open("ab") as file:
                file.write(msgspec.json.encode(line) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise Unusable(
                f"{self.path}: cannot be written ({error.strerror}); its finished rows are kept: "
                "make room and give the same command again"
            ) from None


def _whole_lines(path: Path) -> list[bytes]:
    """The lines of the file; what follows the last line's end is cut off, on disk as well."""
    try:
        text = path.read_bytes() if path.exists() else b""
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            os.truncate(path, len(whole))
    except OSError as error:
        raise Unusable(f"{path}: cannot be read ({error.strerror}); {_MENDING}") from None
    return whole.splitlines()


def _rows(path: Path, lines: list[bytes], made_with: dict[str, str]) -> list[Row]:
    if not lines:
        return []
    try:
        head = msgspec.json.decode(lines[0], type=dict)
        _check_version(path, head)
        rows = [msgspec.json.decode(line, type=Row) for line in lines[1:]]
    except msgspec.DecodeError as error:
        raise UnusableResult(f"{path}: not the rows of a benchmark ({error}); {_MENDING}") from None
    _check_same(path, head["rows_of"], made_with, len(rows))
    return rows


def _check_version(path: Path, head: dict[str, object]) -> None:
    if not isinstance(head.get("rows_of"), dict):
        raise UnusableResult(f"{path}: not the rows of a benchmark (its first line is another); {_MENDING}")
    if head.get("schema_version") != SCHEMA_VERSION:
        raise UnusableResult(
            f"{path}: schema_version is {head.get('schema_version')}, this syncscope reads {SCHEMA_VERSION}: "
            f"{_MENDING}"
        )


def _check_same(path: Path, before: dict[str, str], now: dict[str, str], rows: int) -> None:
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if names:
        others = "; ".join(f"{name} was {_told(before, name)}, is {_told(now, name)}" for name in names)
        noun = "row was" if rows == 1 else "rows were"
        raise OtherRun(f"{path}: its {rows} {noun} made otherwise ({others}): {_MENDING}")


def _told(made_with: dict[str, str], name: str) -> str:
    return made_with.get(name) or "not given"
