"""Budgets for a part of a test, and what they capture."""

import pytest

BEGIN = """
import pytest, torch

@pytest.fixture
def x(syncscope_device):
    return torch.tensor([3.0, 1.0, 2.0, 4.0], device=syncscope_device)
"""


def test_only_what_is_inside_counts(run):
    run(f"""{BEGIN}
def test(x, assert_host_reads, assert_max_host_reads, assert_no_host_reads, assert_no_syncs):
    x.tolist()
    with assert_host_reads(1):
        x.tolist()
    with assert_max_host_reads(3):
        x.tolist()
    with assert_no_host_reads():
        torch.cuda.synchronize()
        x + 1
    with assert_no_syncs():
        x + 1
    x.tolist()
""").assert_outcomes(passed=1)


@pytest.mark.parametrize(("region", "first"), [
    ("assert_host_reads(2)", "host reads: expected exactly 2, found 1 (1 vector)"),
    ("assert_host_reads(0, kind='vector')", "host reads: expected no vector, found 1 (1 vector)"),
    ("assert_host_reads(1, kind='scalar')", "host reads: expected exactly 1 scalar, found 1 (1 vector)"),
    ("assert_host_reads(2, info='loop')", "host reads [[]loop]: expected exactly 2, found 1 (1 vector)"),
    ("assert_max_host_reads(0)", "host reads: expected none, found 1 (1 vector)"),
    ("assert_no_host_reads()", "host reads: expected none, found 1 (1 vector)"),
    ("assert_no_syncs()", "syncs: expected none, found 1 (1 read)"),
])  # fmt: skip
def test_going_over_fails_at_the_with(run, region, first):
    name = region.partition("(")[0]
    result = run(f"{BEGIN}\ndef test(x, {name}):\n    with {region}:\n        x.tolist()\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        f">*with {region}:",
        f"E*Failed: {first}",
        "E *  1 vector read by Tensor.tolist: test_it.py:9 in test: x.tolist()",
    ])  # fmt: skip


def test_idle_regions(run):
    result = run(f"""{BEGIN}
def test(x, assert_no_host_reads):
    x + 1
    with assert_no_host_reads(allow_idle=True):
        torch.ones(3).tolist()
    with assert_no_host_reads():
        torch.ones(3).tolist()
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E*Failed: host reads: nothing ran on the device, so nothing was checked; *"]
    )


def test_an_error_inside_goes_before(run):
    result = run(f"""{BEGIN}
def test(x, assert_no_host_reads):
    with assert_no_host_reads():
        x.tolist()
        raise ValueError("its own")
""")
    result.stdout.fnmatch_lines(["E*ValueError: its own"])
    result.stdout.no_fnmatch_line("*host reads:*")


def test_a_kind_that_there_is_not(run):
    result = run(f"{BEGIN}\ndef test(assert_host_reads):\n    assert_host_reads(1, kind='item')\n")
    result.stdout.fnmatch_lines(["E*WrongBudget: kind is one of scalar, vector, size, not 'item'"])


def test_what_is_captured(run):
    run(f"""{BEGIN}
def test(x, assert_host_reads):
    with assert_host_reads(4) as captured:
        x.tolist()
        x[0].item()
        x[x > 1]
        torch.tensor([1.0], device="cuda")
        x.tolist()
        assert len(captured.reads) == 4
    assert [event.kind.split("_")[0] for event in captured.reads] == ["vector", "scalar", "size", "vector"]
    assert captured.vector_transfers == [(4,), (4,)]
    assert len(captured.scalar_reads) == len(captured.size_reads) == 1
    assert len(captured.copies) == len(captured.waits) == 5
    assert captured.unknown == []
    assert captured.counts.htod == 1 and captured.counts.dtoh == 4
    assert [(site.site.line, site.events) for site in captured.sites] == [
        (9, 1), (10, 1), (11, 1), (12, 1), (13, 1)]
    x.tolist()
    assert len(captured.reads) == 4
""").assert_outcomes(passed=1)


def test_regions_inside_of_each_other_and_of_a_mark(run):
    run(f"""{BEGIN}
@pytest.mark.host_reads(exactly=3)
def test(x, assert_host_reads):
    with assert_host_reads(2) as outer:
        x.tolist()
        with assert_host_reads(1) as inner:
            x[0].item()
    x.tolist()
    assert len(outer.reads) == 2 and len(inner.reads) == 1
""").assert_outcomes(passed=1)


def test_a_thread_that_runs_already_is_not_charged(run):
    run(f"""{BEGIN}
import threading

def test(x, assert_no_host_reads, assert_host_reads):
    go, done = threading.Event(), threading.Event()
    def read():
        go.wait(60)
        x.tolist()
        done.set()
    thread = threading.Thread(target=read)
    thread.start()
    with assert_no_host_reads():
        go.set()
        done.wait(60)
        x + 1
    thread.join()
    with assert_host_reads(1):
        thread = threading.Thread(target=x.tolist)
        thread.start()
        thread.join()
""").assert_outcomes(passed=1)


def test_observing_asserts_nothing(run):
    run("""
import torch

def test(syncscope_observe):
    int(torch.ones(3, device="cuda").sum())
    assert syncscope_observe.counts.scalar_reads == 1
    assert syncscope_observe.counts.waits == 1
""").assert_outcomes(passed=1)
