"""Finished rows on disk: each is a line, there as soon as it is finished, whatever happens next."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from syncscope.bench import texts
from syncscope.bench.locked import LockedFile, NoFile
from syncscope.bench.record import SCHEMA_VERSION, Row
from syncscope.comparison.results import UnusableResult
from syncscope.subjects import Unusable
from syncscope.subjects.cases import Case, place

_ELSEWHERE = "write elsewhere with another -o"
_MENDING = f"{_ELSEWHERE}, or delete the file"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_BEGINNING = b'{"schema_version":%d,"rows_of":{' % SCHEMA_VERSION


class OtherRun(Unusable):
    """The rows on disk were made in another way than those that are to be added."""


class Journal:
    """The rows of one benchmark in the file ``path``: a first line that says how they are made, then rows.

    A line is on disk before the next row begins. A last line that was cut short is dropped, and a file that
    has no row yet is begun anew. Until it is closed, no other process can open it.
    """

    def __init__(self, path: Path, made_with: Mapping[str, str]) -> None:
        """Read what is there, or begin; a file that is refused stays as it is.

        Raises:
            UnusableResult: it is no such file, damaged, or of another version.
            OtherRun: its rows were made in another way; the message says what differs.
            Unusable: another run holds it, or it can't be written.
        """
        self.path = path
        with self._usable():
            self._file = LockedFile(path)
        try:
            self.rows = self._continued(made_with)
        except BaseException:
            self._file.close()
            raise

    def rows_of(self, cases: Sequence[Case]) -> list[Row]:
        """The rows of a matrix that are there.

        Raises:
            UnusableResult: there is one that is not of ``cases``, or two of the same.
        """
        seen: list[Case] = []
        for found in (row.sweep for row in self.rows):
            if found not in cases or found in seen:
                why = "is there twice" if found in cases else "is none of this matrix"
                raise UnusableResult(f"{self.path}: its row {place(found)} {why}: {_MENDING}")
            seen.append(found)
        return list(self.rows)

    def add(self, row: Row) -> None:
        """Put one more row on disk.

        Raises:
            Unusable: the disk is full; the rows so far stay.
        """
        with self._usable():
            self._file.append(_line(row))
        self.rows.append(row)

    def finish(self) -> None:
        """The reports are written: the file has done its work."""
        self.path.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Leave the file as it is to others; without a row it is of no use to anybody."""
        if not self.rows:
            self.path.unlink(missing_ok=True)
        self._file.close()

    def _continued(self, made_with: Mapping[str, str]) -> list[Row]:
        """The rows that are there; the file then ends behind them, or behind a new first line."""
        with self._usable():
            text = self._file.read()
        rows = _rows(self.path, text, made_with)
        with self._usable():
            self._file.cut(text.rfind(b"\n") + 1 if rows else 0)
            if not rows:
                self._file.append(_line({"schema_version": SCHEMA_VERSION, "rows_of": made_with}))
        return rows

    @contextmanager
    def _usable(self) -> Iterator[None]:
        try:
            yield
        except BlockingIOError:
            raise Unusable(f"{self.path}: another run holds it: wait for its end, or {_ELSEWHERE}") from None
        except NoFile:
            raise Unusable(f"{self.path}: is no regular file: {_ELSEWHERE}") from None
        except OSError as error:
            mending = f"make room, or {_ELSEWHERE}" if error.errno in _FULL else _ELSEWHERE
            raise Unusable(f"{self.path}: cannot be written ({error.strerror}): {mending}") from None


def _line(what: object) -> bytes:
    return msgspec.json.encode(what) + b"\n"


def _rows(path: Path, text: bytes, made_with: Mapping[str, str]) -> list[Row]:
    """The rows behind the first line, all checked."""
    lines = text[: text.rfind(b"\n") + 1].splitlines()
    if not lines and _begins_as_ours(text):
        return []
    try:
        head = msgspec.json.decode(lines[0] if lines else text, type=dict)
        _check_version(path, head)
        rows = [msgspec.json.decode(line, type=Row) for line in lines[1:]]
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UnusableResult(f"{path}: not the rows of a benchmark ({error}); {_MENDING}") from None
    if rows:
        _check_same(path, head["rows_of"], made_with, rows)
    return rows


def _begins_as_ours(text: bytes) -> bool:
    """Whether this is what is left of a first line that was cut short, perhaps nothing."""
    return text.startswith(_BEGINNING) or _BEGINNING.startswith(text)


def _check_version(path: Path, head: Mapping[str, object]) -> None:
    if not isinstance(head.get("rows_of"), dict):
        raise UnusableResult(f"{path}: not the rows of a benchmark (its first line is another); {_MENDING}")
    if head.get("schema_version") != SCHEMA_VERSION:
        raise UnusableResult(
            f"{path}: schema_version is {head.get('schema_version')}, this syncscope reads {SCHEMA_VERSION}: "
            f"{_MENDING}"
        )


def _check_same(path: Path, then: Mapping[str, str], now: Mapping[str, str], rows: Sequence[Row]) -> None:
    """Were the rows made as rows are made now, with the same text in what was imported only on a call?"""
    late = texts.of_rows(rows)
    before = {**then, **texts.named(late)}
    current = {**now, **texts.named({file: texts.now(file) for file in late})}
    names = [name for name in {**before, **current} if before.get(name) != current.get(name)]
    if names:
        others = "; ".join(f"{name} was {_told(before, name)}, is {_told(current, name)}" for name in names)
        noun = "row was" if len(rows) == 1 else "rows were"
        raise OtherRun(f"{path}: its {len(rows)} {noun} made otherwise ({others}): {_MENDING}")


def _told(made_with: Mapping[str, str], name: str) -> str:
    return made_with.get(name) or "absent"
