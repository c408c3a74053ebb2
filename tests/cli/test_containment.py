"""Whatever a subject does to the process, the reports come, or it is said that they don't."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from syncscope.cli.main import main

BENCH = (
    "bench",
    "old.py",
    "new.py",
    "--device",
    "cpu",
    "--warmups",
    "0",
    "--iterations",
    "2",
    "--recheck-beyond",
    "1e9",
)
COMPARE = ("compare", "old.py", "new.py", "--device", "sim", "--calls", "1")


@pytest.mark.parametrize("command", [BENCH, COMPARE])
def test_reports_lie_where_they_were_asked_for(folder: Path, command: tuple[str, ...]) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "new.py").write_text(
        "import os\n"
        "def total(x):\n"
        "    os.chdir(os.path.dirname(__file__) + '/elsewhere')\n"
        "    return x.sum()\n"
    )
    assert main([*command, "-o", "m.json"]) in (0, 1)
    assert [path.name for path in folder.glob("m.json*")] == ["m.json"]
    assert not any((folder / "elsewhere").iterdir())


@pytest.mark.parametrize("command", [BENCH, COMPARE])
def test_a_subject_that_ends_the_process_does_not_pass(folder: Path, command: tuple[str, ...]) -> None:
    (folder / "new.py").write_text("import os\ndef total(x):\n    os._exit(0)\n")
    done = subprocess.run([sys.executable, "-m", "syncscope", *command], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.endswith(
        "syncscope: a subject ended the process by os._exit(0): there is no report; let it return, or raise\n"
    )


def test_a_process_that_a_subject_forks_may_end_as_it_likes(folder: Path) -> None:
    (folder / "new.py").write_text(
        "import os\n"
        "def total(x):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        os._exit(7)\n"
        "    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "    return x.sum()\n"
    )
    done = subprocess.run([sys.executable, "-m", "syncscope", *BENCH], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    assert "os._exit" not in done.stderr


@pytest.mark.parametrize(("ending", "code"), [("sys.exit(7)", 7), ("raise ValueError", 1), ("return", 0)])
@pytest.mark.parametrize("command", [BENCH, COMPARE])
def test_a_process_that_a_subject_forks_makes_no_report(
    folder: Path, command: tuple[str, ...], ending: str, code: int
) -> None:
    (folder / "new.py").write_text(
        "import os, sys\n"
        "def total(x):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        f"        {ending}\n"
        f"    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == {code}\n"
        "    return x.sum()\n"
    )
    done = subprocess.run([sys.executable, "-m", "syncscope", *command], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout.count("Outputs equal bit for bit") == 1
    assert done.stderr.count("syncscope runs the code") == 1
