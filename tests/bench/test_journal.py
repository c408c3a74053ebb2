"""Finished rows outlive the process; what is half written or of another run never counts."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncscope.bench.journal import Journal, OtherRun
from syncscope.bench.record import Row
from syncscope.comparison.results import Parity, UnusableResult
from syncscope.subjects import Unusable

from .conftest import HERE

MADE_WITH = {"torch": "2.13.0", "device": "cpu (a processor)", "--iterations": "100"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "matrix.csv.rows"


def row(n: int) -> Row:
    return Row({"n": n}, Parity(equal=True, compared=1), HERE)


def written(path: Path, rows: int) -> Journal:
    journal = Journal(path, MADE_WITH)
    for n in range(rows):
        journal.add(row(n))
    return journal


def test_rows_are_there_again(path: Path) -> None:
    written(path, 3)
    assert Journal(path, MADE_WITH).rows == [row(0), row(1), row(2)]


def test_a_row_is_on_disk_at_once(path: Path) -> None:
    journal = Journal(path, MADE_WITH)
    for number in range(1, 4):
        journal.add(row(number))
        assert len(path.read_bytes().splitlines()) == 1 + number


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_wherever_it_is_cut_short_at_most_the_row_in_hand_is_lost(path: Path, data: st.DataObject) -> None:
    path.unlink(missing_ok=True)
    written(path, 3)
    whole = path.read_bytes()
    at = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:at])
    finished = max(0, whole[:at].count(b"\n") - 1)
    journal = Journal(path, MADE_WITH)
    assert journal.rows == [row(n) for n in range(finished)]
    for n in range(finished, 3):
        journal.add(row(n))
    assert path.read_bytes() == whole


def test_rows_of_another_run_are_refused_and_it_says_which(path: Path) -> None:
    written(path, 2)
    with pytest.raises(OtherRun) as refused:
        Journal(path, {**MADE_WITH, "torch": "2.14.1", "frames": "1 2"})
    assert str(refused.value) == (
        f"{path}: its 2 rows were made otherwise (torch was 2.13.0, is 2.14.1; "
        "frames was not given, is 1 2): write elsewhere with another -o, or delete the file"
    )
    assert len(Journal(path, MADE_WITH).rows) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"dtype,frames\n", "not the rows of a benchmark (JSON is malformed"),
        (b"[1]\n", "not the rows of a benchmark (Expected `object`"),
        (b'{"record":"run"}\n', "not the rows of a benchmark (its first line is another)"),
        (b'{"schema_version":99,"rows_of":{}}\n', "schema_version is 99, this syncscope reads 1"),
    ],
)
def test_what_is_no_such_file_is_refused_and_kept(path: Path, text: bytes, why: str) -> None:
    path.write_bytes(text)
    with pytest.raises(UnusableResult) as refused:
        Journal(path, MADE_WITH)
    assert str(refused.value).startswith(f"{path}: {why}")
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == text


def test_a_damaged_row_is_refused(path: Path) -> None:
    written(path, 2)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"{}\n" + lines[2])
    with pytest.raises(UnusableResult, match="not the rows of a benchmark"):
        Journal(path, MADE_WITH)


def test_a_full_disk_keeps_the_finished_rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = written(path, 2)
    monkeypatch.setattr("syncscope.bench.journal.os.fsync", full)
    with pytest.raises(Unusable) as refused:
        journal.add(row(2))
    assert str(refused.value) == (
        f"{path}: cannot be written (No space left on device); its finished rows are kept: "
        "make room and give the same command again"
    )
    monkeypatch.undo()
    assert Journal(path, MADE_WITH).rows[:2] == [row(0), row(1)]


def full(descriptor: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_when_the_reports_are_written_it_is_gone(path: Path) -> None:
    written(path, 1).finish()
    assert not path.exists()


def test_a_row_survives_the_way_to_disk(path: Path) -> None:
    whole = replace(row(1), uncounted="why")
    assert msgspec.json.decode(msgspec.json.encode(whole), type=Row) == whole
