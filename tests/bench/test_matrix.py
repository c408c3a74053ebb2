"""The matrix: a stopped run goes on and ends as if it had not been stopped; unlike machines stay apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syncscope.bench import record
from syncscope.bench.journal import Journal
from syncscope.bench.matrix import bench, here
from syncscope.bench.plan import identity, imported, load
from syncscope.bench.record import Counted, Row
from syncscope.bench.summary import corrected, summaries
from syncscope.comparison.results import Parity, UnusableResult
from syncscope.events import Counts
from syncscope.latency import verdicts
from syncscope.latency.record import Samples

from .conftest import HERE


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


def test_progress_is_told_with_each_row_and_counts_those_from_before(plan) -> None:
    made = plan()
    loaded = load(made)
    with pytest.raises(Stopped):
        bench(made, loaded, HERE, Journal(Path("rows"), {}), stopping(1))
    told = []
    bench(made, loaded, HERE, Journal(Path("rows"), {}), untimed, progress=lambda *step: told.append(step))
    assert told == [("n=3", 1, 3), ("n=3", 2, 3), ("n=4", 3, 3)]


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


def test_the_text_of_what_subjects_import_counts_as_well(plan) -> None:
    def text() -> str:
        return imported(load(plan("import helper\ndef sums(x):\n    return x.sum(1).tolist()\n")))

    Path("helper.py").write_text("A = 1\n")
    first = text()
    assert text() == first
    Path("helper.py").write_text("A = 2\n")
    assert text() != first


def test_the_text_of_who_makes_the_inputs_counts_as_well(plan) -> None:
    def text() -> str:
        return imported(load(plan(inputs="elsewhere/inputs.py::made")))

    Path("elsewhere").mkdir()
    making = Path("elsewhere/inputs.py")
    making.write_text("import torch\ndef made(n, device):\n    return torch.rand(n, 4)\n")
    first = text()
    making.write_text("import torch\ndef made(n, device):\n    return torch.ones(n, 4)\n")
    assert text() != first


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
    assert corrected([differing, timed(2)])[0] == differing
    assert corrected([differing, timed(2)])[1].latency.corrected == "faster"
