"""The matrix: a stopped run goes on and ends as if it had not been stopped; unlike machines stay apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncscope.bench import record
from syncscope.bench.journal import Journal, OtherRun
from syncscope.bench.matrix import bench, here
from syncscope.bench.plan import identity, load
from syncscope.bench.record import Counted, Row
from syncscope.bench.summary import summaries
from syncscope.comparison.results import Parity, UnusableResult
from syncscope.events import Counts
from syncscope.latency import verdicts
from syncscope.latency.record import Samples
from syncscope.subjects import Unusable

from .conftest import HERE, OLD


class Stopped(BaseException):
    """What SIGKILL is to a test."""


def untimed(plan, loaded, machine, cases):
    """An engine that is done at once."""
    return (Row(dict(case), Parity(equal=True, compared=1), machine) for case in cases)


def stopping(after: int):
    """An engine that is stopped when it has finished ``after`` rows."""

    def engine(plan, loaded, machine, cases):
        yield from untimed(plan, loaded, machine, cases[:after])
        raise Stopped

    return engine


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stops=st.lists(st.integers(0, 3), max_size=4))
def test_a_run_that_was_stopped_ends_as_one_that_was_not(plan, stops: list[int]) -> None:
    made = plan(n=(2, 3, 4, 5, 6))
    loaded = load(made)
    path = Path("rows")
    for after in stops:
        journal = Journal(path, {})
        if len(journal.rows) + after < 5:
            with pytest.raises(Stopped):
                bench(made, loaded, HERE, journal, stopping(after))
    found = bench(made, loaded, HERE, Journal(path, {}), untimed)
    assert found.rows == bench(made, loaded, HERE, engine=untimed).rows
    path.unlink()


def test_rows_that_are_there_are_not_run_again(plan) -> None:
    made = plan()
    loaded = load(made)
    first = bench(made, loaded, HERE, Journal(Path("rows"), {}), untimed)

    def none_left(plan, loaded, machine, cases):
        assert cases == []
        return iter(())

    assert bench(made, loaded, HERE, Journal(Path("rows"), {}), none_left).rows == first.rows


def test_progress_names_the_row_that_runs_and_counts_those_from_before(plan) -> None:
    made = plan()
    loaded = load(made)
    with pytest.raises(Stopped):
        bench(made, loaded, HERE, Journal(Path("rows"), {}), stopping(1))
    told = []
    bench(made, loaded, HERE, Journal(Path("rows"), {}), untimed, progress=lambda *step: told.append(step))
    assert told == [("n=3", 1, 3), ("n=4", 2, 3), ("", 3, 3)]


def test_rows_that_arrive_in_any_order_stand_in_that_of_the_sweep(plan) -> None:
    made = plan()
    found = bench(made, load(made), HERE, engine=lambda *given: here(*given[:-1], given[-1][::-1]))
    assert [row.sweep["n"] for row in found.rows] == [2, 3, 4]


def test_a_benchmark_is_read_back_as_it_was(plan) -> None:
    made = plan(iterations=14)
    found = bench(made, load(made), HERE)
    assert record.decode(record.encode(found)) == found
    assert record.is_bench(record.encode(found))
    assert found.clock.granularity_ns > 0


def test_a_record_in_which_a_row_lacks_a_variable_or_is_there_twice_is_refused(plan) -> None:
    made = plan(n=(2, 3))
    text = record.encode(bench(made, load(made), HERE))
    for edited in (text.replace(b'"sweep":{"n":3}', b'"sweep":{}'), text.replace(b'{"n":3}', b'{"n":2}')):
        assert edited != text
        with pytest.raises(
            UnusableResult, match="not the record of a benchmark .a row has no n|n=2 is there twice"
        ):
            record.decode(edited)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b'{"schema_version": 99, "record": "bench"}', "schema_version is 99, this syncscope reads 1"),
        (b'{"schema_version": 1, "record": "bench"}', "not the record of a benchmark"),
        (b'{"schema_version": 1, "rec', "not the record of a benchmark"),
    ],
)
def test_other_or_broken_records_are_refused(text: bytes, why: str) -> None:
    with pytest.raises(UnusableResult, match=why):
        record.decode(text)


def test_rows_agree_in_torch_device_subjects_and_options(plan) -> None:
    made = plan()
    found = identity(made, load(made), HERE)
    assert found["torch"] == "2.13.0"
    assert found["device"] == "cpu (a processor)"
    assert found["--iterations"] == "1"
    assert found["--time-budget"] == ""
    assert found["n"] == "2 3 4"
    assert found["inputs"] == "make_inputs of old.py"


def agreed(made) -> dict[str, str]:
    return identity(made, load(made), HERE)


def test_the_text_of_what_subjects_import_counts_as_well(plan) -> None:
    made = plan("import helper\ndef sums(x):\n    return x.sum(1).tolist()\n")
    Path("helper.py").write_text("A = 1\n")
    first = agreed(made)
    assert agreed(made) == first
    Path("helper.py").write_text("A = 2\n")
    second = agreed(made)
    assert [name for name in first if second[name] != first[name]] == ["the text of helper.py"]


def test_the_text_of_who_makes_the_inputs_counts_as_well(plan) -> None:
    Path("elsewhere").mkdir()
    making = Path("elsewhere/inputs.py")
    making.write_text("import torch\ndef made(n, device):\n    return torch.rand(n, 4)\n")
    made = plan(inputs="elsewhere/inputs.py::made")
    first = agreed(made)
    making.write_text("import torch\ndef made(n, device):\n    return torch.ones(n, 4)\n")
    second = agreed(made)
    assert [name for name in first if second[name] != first[name]] == ["the text of elsewhere/inputs.py"]


LAZY = "def sums(x):\n    import helper\n    return x.sum(1).tolist()\n"


def lazy_rows(plan, n: int, text: str = "A = 1\n") -> list[Row]:
    made = plan(LAZY, n=(n,))
    Path("helper.py").write_text(text)
    return bench(made, load(made), HERE).rows


def test_a_row_has_the_text_of_what_was_imported_by_its_calls(plan) -> None:
    (one,), (other,) = lazy_rows(plan, 2), lazy_rows(plan, 3)
    (changed,) = lazy_rows(plan, 3, "A = 2\n")
    assert list(one.imported) == ["helper.py"]
    assert one.imported == other.imported != changed.imported


def test_rows_of_another_text_that_is_imported_by_a_call_are_refused_and_it_says_which(plan) -> None:
    path = Path("rows")
    (row,) = lazy_rows(plan, 2)
    written = Journal(path, {})
    written.add(row)
    assert Journal(path, {}).rows == [row]
    Path("helper.py").write_text("A = 2\n")
    with pytest.raises(OtherRun, match=r"its 1 row was made otherwise \(the text of helper.py was .*, is "):
        Journal(path, {})
    Path("helper.py").unlink()
    with pytest.raises(OtherRun, match="the text of helper.py was .*, is absent"):
        Journal(path, {})


def test_a_text_that_changes_between_rows_ends_the_run(plan) -> None:
    made = plan(n=(2, 3, 4))

    def changing(plan, loaded, machine, cases):
        for row, text in zip(untimed(plan, loaded, machine, cases), ("abc", "abc", "def"), strict=True):
            yield replace(row, imported={"helper.py": text})

    journal = Journal(Path("rows"), {})
    with pytest.raises(Unusable, match="helper.py: its text was abc in the rows so far and is def in n=4: "):
        bench(made, load(made), HERE, journal, changing)
    assert [row.sweep["n"] for row in journal.rows] == [2, 3]


@pytest.mark.parametrize(
    ("places", "why"), [((2, 9), "row n=9 is none of this matrix"), ((2, 2), "row n=2 is there twice")]
)
def test_rows_on_disk_are_those_of_the_matrix(plan, places: tuple[int, ...], why: str) -> None:
    made = plan(n=(2, 3))
    journal = Journal(Path("rows"), {})
    for n in places:
        journal.add(Row({"n": n}, Parity(equal=True, compared=1), HERE))
    with pytest.raises(UnusableResult, match=f"^rows: its {why}: write elsewhere"):
        bench(made, load(made), HERE, journal, untimed)


def failing(*places: int) -> str:
    return f"def sums(x):\n    assert len(x) not in {places}, 'no'\n    return x.sum(1).tolist()\n"


def test_a_row_that_fails_is_one_and_the_others_run(plan) -> None:
    made = plan(failing(3))
    journal = Journal(Path("rows"), {})
    found = bench(made, load(made), HERE, journal)
    assert [row.failed for row in found.rows] == [
        "", "new (new.py) failed for n=3: AssertionError: no (new.py:2)", ""
    ]  # fmt: skip
    assert [bool(row.latency) for row in found.rows] == [True, False, True]
    assert found.failed == [found.rows[1]]
    assert found.findings
    assert not found.differing
    # It is run again when the command is.
    assert [row.sweep["n"] for row in journal.rows] == [2, 4]


def test_inputs_that_cannot_be_made_fail_their_row_only(plan) -> None:
    made = plan(old=OLD.replace("    return (torch.rand", "    assert n != 3\n    return (torch.rand", 1))
    found = bench(made, load(made), HERE)
    assert [row.failed.partition(":")[0] for row in found.rows] == ["", "inputs can't be made for n=3", ""]


def test_where_no_row_runs_nothing_is_said_of_them(plan) -> None:
    made = plan(failing(2, 3, 4))
    journal = Journal(Path("rows"), {"--iterations": "1"})
    with pytest.raises(Unusable, match=r"^none of 3 rows could be run: new \(new.py\) failed for n=2: "):
        bench(made, load(made), HERE, journal)
    assert Journal(Path("rows"), {"--iterations": "2"}).rows == []


def timed(speedup: float, removed: int = 1, machine=HERE) -> Row:
    old = [round(1e6 * speedup) + at for at in range(40)]
    latency = verdicts.latency(
        Samples({"old": old, "new": [1_000_000 + 3 * at for at in range(40)]}, ""), "cpu"
    )
    counts = {"old": Counted(2, Counts(waits=2 * removed)), "new": Counted(2, Counts())}
    return Row({"n": removed}, Parity(equal=True, compared=1), machine, counts, latency=latency)


def test_rows_of_unlike_machines_are_never_pooled() -> None:
    gpu, other = (replace(HERE, device="cuda", name=name) for name in ("A100", "H200"))
    rows = [timed(2, machine=gpu), timed(2, machine=gpu), timed(8, machine=other)]
    found = summaries(rows)
    assert [(one.machine, one.rows) for one in found] == [("A100", 2), ("H200", 1)]
    assert [one.geometric_mean for one in found] == [pytest.approx(2, rel=1e-3), pytest.approx(8, rel=1e-3)]


def test_hosts_with_the_same_gpu_are_pooled() -> None:
    assert len(summaries([timed(2), timed(2, machine=replace(HERE, host="elsewhere"))])) == 1


def test_what_a_removed_wait_is_worth() -> None:
    # 10 µs a wait: 1 ms of 1 % more for each.
    rows = [timed(1 + removed / 100, removed) for removed in (1, 2, 4, 8)]
    found = summaries(rows)[0].worth
    assert found.per_wait_us == pytest.approx(10, rel=0.01)
    assert found.explained == pytest.approx(1, rel=0.01)


def test_rows_without_a_time_have_no_summary_and_no_correction() -> None:
    differing = Row({"n": 1}, Parity(equal=False, compared=1), HERE)
    assert summaries([differing]) == []
    assert verdicts.with_corrected([differing, timed(2)])[0] == differing
    assert verdicts.with_corrected([differing, timed(2)])[1].latency.corrected == "faster"
