from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.comparison.growth import law
from syncscope.comparison.results import (
    Branch,
    CaseResult,
    Comparison,
    Difference,
    Environment,
    Extra,
    Parity,
    Range,
    SideResult,
    SiteResult,
    SubjectRecord,
    UnusableResult,
    decode,
    encode,
    write_whole,
)
from syncscope.events import Counts, count_names

ENVIRONMENT = Environment(python="3.12.3", torch="2.13.0", platform="Linux", device="sim")
EQUAL = Parity(equal=True, compared=20)


def side(**counts: int) -> SideResult:
    return SideResult(
        calls=20, counts=Counts(launches={"topk": 60}, **counts), per_call={"waits": Range(3, 4)}
    )


def comparison(old: SideResult, new: SideResult, parity: Parity = EQUAL) -> Comparison:
    growth = law([{"frames": 2}, {"frames": 8}, {"frames": 32}], [3, 9, 33], ["frames"])
    every = dict.fromkeys(count_names(["topk"]), growth)
    extra = Extra((71, 75), law([{"frames": 8}], [2], ["frames"]))
    site = SiteResult(
        "old",
        "old.py",
        60,
        "mask",
        "ks[i].item()",
        "scalar_read",
        "Tensor.item",
        [Range(2, 2)],
        growth,
        shape=[2],
    )
    return Comparison(
        provenance="simulated",
        command="syncscope compare old.py new.py",
        old=SubjectRecord("old.py", "old.py", "mask"),
        new=SubjectRecord("main:new.py", "new.py", "mask", revision="main", sha256="ab"),
        swept=["frames"],
        workload="scenes",
        calls=20,
        seeds=[0],
        cases=[CaseResult({"frames": 2, "q": 0.5, "dtype": "bfloat16"}, parity, old, new)],
        sites=[site],
        growth={"old": every | {"memcpy": replace(growth, extras=[extra])}, "new": every},
        branches=[Branch("old", (71, 75), 1, 3)],
        environment=ENVIRONMENT,
        families=["topk"],
    )


def test_a_comparison_is_read_back_as_it_was_written():
    record = comparison(side(waits=60), side(waits=20))
    assert decode(encode(record)) == record


def test_a_difference_is_read_back_as_it_was_written():
    found = [
        Difference("[0]", "values", "0.5", "nan", 1, 4, [[0, 3]], None),
        Difference("", "values", "1", "2", 1, 1, [[]], 0.1),
        Difference("['é|`']", "shape", "[1]", "[2]"),
    ]
    record = comparison(side(), side(), Parity(equal=False, compared=3, differences=found))
    assert decode(encode(record)) == record


def test_the_json_is_as_documented():
    written = json.loads(encode(comparison(side(waits=60, memcpy=60), side())))
    assert written["schema_version"] == 1
    assert written["cases"][0]["sweep"] == {"frames": 2, "q": 0.5, "dtype": "bfloat16"}
    counts = written["cases"][0]["old"]["counts"]
    assert (counts["waits"], counts["memcpy"], counts["launches"]) == (60, 60, {"topk": 60})
    assert written["sites"][0]["growth"]["text"] == "T + 1"
    assert encode(comparison(side(), side())).endswith(b"}\n")


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_schema_version_is_refused(version):
    written = json.loads(encode(comparison(side(), side())))
    text = json.dumps(written | {"schema_version": version}).encode()
    with pytest.raises(UnusableResult) as refusal:
        decode(text)
    assert str(refusal.value) == (
        f"schema_version is {version}, this syncscope reads 1: make the result anew"
    )


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda text: text[: len(text) // 2], "Input data was truncated"),
        (lambda text: b"", "Input data was truncated"),
        (lambda text: b"# A report\n", "JSON is malformed: invalid character (byte 0)"),
        (lambda text: b"[]", "Expected `object`, got `array`"),
        (lambda text: b'{"schema_version": 1}', "Object missing required field `provenance`"),
        (
            lambda text: text.replace(b'"calls": 20', b'"calls": "x"', 1),
            "Expected `int`, got `str` - at `$.calls`",
        ),
    ],
)
def test_a_damaged_file_is_refused_with_what_is_wrong(damage, message):
    with pytest.raises(UnusableResult) as refusal:
        decode(damage(encode(comparison(side(), side()))))
    assert str(refusal.value) == (
        f"not a syncscope result ({message}): make it anew with the command that wrote it"
    )


@settings(deadline=None)
@given(st.data())
def test_a_file_cut_anywhere_is_refused(data):
    text = encode(comparison(side(), side())).rstrip()
    with pytest.raises(UnusableResult):
        decode(text[: data.draw(st.integers(0, len(text) - 1))])


def test_a_file_is_written_whole(tmp_path: Path):
    path = tmp_path / "result.json"
    write_whole(path, b"old")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]


class FullDisk:
    """A file on a disk that is full after three bytes."""

    def __init__(self, descriptor: int, mode: str):
        self.descriptor = descriptor

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        os.close(self.descriptor)

    def write(self, content: bytes):
        os.write(self.descriptor, content[:3])
        raise OSError(errno.ENOSPC, "No space left on device")


def raise_interrupt(*arguments):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("owner", "name", "failure", "error"),
    [(os, "fdopen", FullDisk, OSError), (Path, "replace", raise_interrupt, KeyboardInterrupt)],
)
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch, owner, name, failure, error
):
    path = tmp_path / "result.json"
    path.write_bytes(b"old")
    with monkeypatch.context() as patched, pytest.raises(error):
        patched.setattr(owner, name, failure)
        write_whole(path, b"a new and longer content")
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]


def test_a_missing_folder_is_an_error_and_is_not_made(tmp_path: Path):
    with pytest.raises(OSError, match="No such file or directory"):
        write_whole(tmp_path / "missing" / "result.json", b"text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("old", "new", "grew"),
    [
        (side(waits=60, dtoh=60), side(waits=20, dtoh=20, htod=20), []),
        (side(waits=1), side(waits=2), ["waits"]),
        (side(dtoh=1), side(htod=2), ["copies between host and device"]),
        (side(dtod=1), side(dtod=9), []),
        (side(), side(unknown_ops=1), ["unknown operators"]),
        (
            side(),
            side(waits=1, dtoh=1, unknown_ops=1),
            ["waits", "copies between host and device", "unknown operators"],
        ),
    ],
)
def test_what_grew_from_old_to_new_is_named(old, new, grew):
    assert comparison(old, new).grew == grew


def test_one_case_that_grew_is_enough():
    better, worse = comparison(side(waits=9), side()), comparison(side(), side(waits=1))
    assert replace(better, cases=better.cases + worse.cases).grew == ["waits"]


def test_all_cases_have_to_be_equal():
    equal, unequal = comparison(side(), side()), comparison(side(), side(), Parity(False, 20))
    assert equal.equal and not unequal.equal
    assert not replace(equal, cases=equal.cases + unequal.cases).equal


def test_a_range_reads_as_one_number_where_it_does_not_vary():
    assert (str(Range(3, 3)), Range(3, 3).varies) == ("3", False)
    assert (str(Range(9, 11)), Range(9, 11).varies) == ("9 to 11", True)


def test_a_result_that_lacks_a_figure_is_refused_with_its_name():
    record = comparison(side(waits=60), side(waits=20))
    without = replace(record, growth={**record.growth, "new": {"memcpy": record.growth["new"]["memcpy"]}})
    with pytest.raises(UnusableResult, match="it has no law of new's scalar_reads"):
        decode(encode(without))
    with pytest.raises(UnusableResult, match="it has no figure of each site for each case"):
        decode(encode(replace(record, cases=[*record.cases, *record.cases])))
