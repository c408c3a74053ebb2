"""The test file that ``syncscope init-test`` writes, run as its user would."""

import subprocess

import pytest

from syncscope.cli.main import main

SUBJECT = """
import torch

def make_inputs(n=3, device="cpu"):
    return (torch.arange(n, device=device),)

def total(x):
    return [int(value) for value in x], x.tolist()
"""


@pytest.fixture
def folder(pytester):
    (pytester.path / "pyproject.toml").touch()
    (pytester.path / "prune.py").write_text(SUBJECT)
    return pytester.path


@pytest.fixture
def run_written(pytester, alone):
    return lambda: pytester.runpytest_inprocess(*alone, "test_prune.py")


def test_it_passes_as_it_was_written(folder, run_written):
    assert main(["init-test", "prune.py", "--sweep", "n=2,4"]) == 0
    text = (folder / "test_prune.py").read_text()
    assert "case(host_reads(exactly=3, scalar=2, vector=1, size=0), syncs(exactly=3), n=2)," in text
    assert "case(host_reads(exactly=5, scalar=4, vector=1, size=0), syncs(exactly=5), n=4)," in text
    run_written().assert_outcomes(passed=4)


def test_a_read_that_comes_in_fails_and_so_does_one_that_goes(folder, run_written):
    main(["init-test", "prune.py"])
    for change in ("x.tolist(), x[0].item()", "[]"):
        (folder / "prune.py").write_text(SUBJECT.replace("x.tolist()", change))
        assert run_written().parseoutcomes()["failed"] >= 1


def test_outputs_that_are_not_the_baselines_fail(folder, run_written):
    (folder / "old.py").write_text(SUBJECT)
    assert main(["init-test", "prune.py", "--baseline", "old.py"]) == 0
    (folder / "prune.py").write_text(SUBJECT.replace("int(value)", "-int(value)"))
    result = run_written()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["FAILED test_prune.py::test_the_outputs_are_those_of_the_baseline*"])


def test_without_a_baseline_it_is_what_git_has(folder):
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *command], check=True)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    ).stdout.strip()
    main(["init-test", "prune.py"])
    assert f"load_pair('{commit}:prune.py', 'prune.py')" in (folder / "test_prune.py").read_text()


def test_a_file_that_is_there_is_not_written_over(folder, capsys):
    (folder / "test_prune.py").write_text("mine")
    assert main(["init-test", "prune.py"]) == 2
    assert capsys.readouterr().err == (
        "syncscope: test_prune.py: is there already; name another with -o, or write over it with --force\n"
    )
    assert (folder / "test_prune.py").read_text() == "mine"
    assert main(["init-test", "prune.py", "--force"]) == 0


def test_a_subject_with_other_outputs_than_its_baseline_is_a_finding(folder):
    (folder / "old.py").write_text(SUBJECT.replace("int(value)", "-int(value)"))
    assert main(["init-test", "prune.py", "--baseline", "old.py", "-o", "test_it.py"]) == 1
    assert (folder / "test_it.py").exists()
