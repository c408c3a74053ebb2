"""The tests in examples/ fail and pass on the versions that they were written for."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def run_example(pytester, alone, monkeypatch):
    def run_example(test, subject):
        monkeypatch.chdir(ROOT)
        sys.modules.pop(test, None)
        monkeypatch.setenv("SUBJECT", f"examples/vidcom2/{subject}.py")
        return pytester.runpytest_inprocess(
            *alone, "-c", "/dev/null", f"--rootdir={ROOT}", f"examples/{test}.py"
        )

    return run_example


def test_the_published_regression_test_fails_on_reads_for_every_frame(run_example):
    result = run_example("test_read_once", "per_frame_reads")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "E*Failed: host reads: expected exactly 1, found 5 (5 scalar)",
        "E*  4 scalar read by Tensor.item: examples/vidcom2/per_frame_reads.py:69 in least_redundant: *",
        "E*  1 scalar read by Tensor.item: examples/vidcom2/per_frame_reads.py:36 in *",
    ], consecutive=True)  # fmt: skip


def test_the_published_regression_test_passes_on_one_transfer(run_example):
    run_example("test_read_once", "read_once").assert_outcomes(passed=1)


def test_no_syncs_names_the_three_lines_that_wait(run_example):
    result = run_example("test_no_waits", "read_once")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "syncs: expected none, found 3 (2 reads, 1 upload)",
        "  1 vector read by Tensor.tolist: examples/vidcom2/read_once.py:33 in compute_retention_mask: *",
        "  1 size read by torch.nonzero: examples/vidcom2/read_once.py:79 in reconcile: *",
        "  1 upload by Tensor.__setitem__: examples/vidcom2/read_once.py:81 in reconcile: *",
    ], consecutive=True)  # fmt: skip


def test_no_syncs_passes_where_nothing_waits(run_example):
    run_example("test_no_waits", "no_host_reads").assert_outcomes(passed=1)
