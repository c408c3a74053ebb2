"""Finished rows outlive the process; what is half written or of another run never counts."""

from __future__ import annotations

import errno
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncscope.bench import locked
from syncscope.bench.journal import Journal, OtherRun
from syncscope.bench.record import Counted, Row
from syncscope.comparison.results import Parity, UnusableResult
from syncscope.events import Counts
from syncscope.latency import verdicts
from syncscope.latency.record import Samples
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
        "frames was absent, is 1 2): write elsewhere with another -o, or delete the file"
    )
    assert len(Journal(path, MADE_WITH).rows) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"dtype,frames\n", "not the rows of a benchmark (JSON is malformed"),
        (b"[1]\n", "not the rows of a benchmark (Expected `object`"),
        (b'{"record":"run"}\n', "not the rows of a benchmark (its first line is another)"),
        (b'{"schema_version":99,"rows_of":{}}\n', "schema_version is 99, this syncscope reads 1"),
        (b"my notes", "not the rows of a benchmark (JSON is malformed"),
        (b"important\nuser data without newline", "not the rows of a benchmark (JSON is malformed"),
        (b"\xff\xfe\n", "not the rows of a benchmark ("),
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


@pytest.mark.parametrize(
    ("found", "edited"),
    [
        *((b'"old":[7]', b'"old":' + times) for times in (b"[0]", b"[-5]", b"[]", b"[7,7]")),
        (b'"old":[7],', b""),
        (b'"order":"on"', b'"order":"xyz"'),
        (b'"p":1.0', b'"p":5'),
        (b'"speedup":1.0', b'"speedup":0'),
        (b'"speedup":1.0', b'"speedup":-1'),
    ],
)
def test_figures_that_no_run_can_have_are_refused(path: Path, found: bytes, edited: bytes) -> None:
    written(path, 0).add(
        replace(row(1), latency=verdicts.latency(Samples({"old": [7], "new": [7]}, "on"), "cpu"))
    )
    text = path.read_bytes()
    assert text.count(found) == 1
    path.write_bytes(text.replace(found, edited))
    with pytest.raises(UnusableResult, match="not the rows of a benchmark"):
        Journal(path, MADE_WITH)


@pytest.mark.parametrize(
    ("found", "edited"),
    [(b'"calls":1', b'"calls":0'), (b'"old":{"calls"', b'"odd":{"calls"')],
)
def test_counts_that_no_run_can_have_are_refused(path: Path, found: bytes, edited: bytes) -> None:
    counted = {"old": Counted(1, Counts()), "new": Counted(1, Counts())}
    written(path, 0).add(replace(row(1), counts=counted))
    text = path.read_bytes()
    assert found in text
    path.write_bytes(text.replace(found, edited, 1))
    with pytest.raises(UnusableResult, match="not the rows of a benchmark"):
        Journal(path, MADE_WITH)


def test_a_full_disk_keeps_the_finished_rows(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = written(path, 2)
    monkeypatch.setattr("syncscope.bench.locked.os.fsync", full)
    with pytest.raises(Unusable) as refused:
        journal.add(row(2))
    assert str(refused.value) == (
        f"{path}: cannot be written (No space left on device): make room, or write elsewhere with another -o"
    )
    monkeypatch.undo()
    assert Journal(path, MADE_WITH).rows[:2] == [row(0), row(1)]


def full(descriptor: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("cut", [0, 1, 20, 60])
def test_without_a_row_it_is_begun_anew(path: Path, cut: int) -> None:
    written(path, 0)
    path.write_bytes(path.read_bytes()[: -cut or None])
    written_otherwise = Journal(path, {"torch": "2.14.1"})
    written_otherwise.add(row(1))
    assert Journal(path, {"torch": "2.14.1"}).rows == [row(1)]


def test_without_a_row_nothing_is_left_of_it(path: Path) -> None:
    written(path, 0).close()
    assert not path.exists()
    written(path, 1).close()
    assert Journal(path, MADE_WITH).rows == [row(0)]


HOLDING = """
import sys
from pathlib import Path
from syncscope.bench import locked
from syncscope.bench.journal import Journal
held = Journal(Path(sys.argv[1]), {})
print("held", flush=True)
sys.stdin.read()
"""


def test_two_runs_at_once_are_refused_until_the_first_has_ended_however(path: Path) -> None:
    command = [sys.executable, "-c", HOLDING, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"held\n"
        before = path.read_bytes()
        with pytest.raises(Unusable) as refused:
            Journal(path, {})
        assert str(refused.value) == (
            f"{path}: another run holds it: wait for its end, or write elsewhere with another -o"
        )
        assert path.read_bytes() == before
        other.kill()
    assert Journal(path, {}).rows == []


def test_a_file_that_its_holder_has_removed_meanwhile_is_begun_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locking = locked._lock

    def removed_once(descriptor: int) -> None:
        monkeypatch.setattr(locked, "_lock", locking)
        path.unlink()

    monkeypatch.setattr(locked, "_lock", removed_once)
    Journal(path, MADE_WITH).add(row(1))
    assert Journal(path, MADE_WITH).rows == [row(1)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
@pytest.mark.parametrize(
    ("target", "why"), [("/dev/full", "is no regular file"), (".", "cannot be written (Is a directory)")]
)
def test_where_it_cannot_be_it_is_refused(path: Path, target: str, why: str) -> None:
    path.symlink_to(target)
    with pytest.raises(Unusable) as refused:
        Journal(path, MADE_WITH)
    assert str(refused.value) == f"{path}: {why}: write elsewhere with another -o"


def test_when_the_reports_are_written_it_is_gone(path: Path) -> None:
    written(path, 1).finish()
    assert not path.exists()


def test_a_row_survives_the_way_to_disk(path: Path) -> None:
    whole = replace(row(1), uncounted="why")
    assert msgspec.json.decode(msgspec.json.encode(whole), type=Row) == whole
