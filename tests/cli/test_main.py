"""What each way out of the program returns and says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from syncscope import __version__
from syncscope.cli import compare
from syncscope.cli.main import main
from syncscope.comparison.results import UnusableResult
from syncscope.observe.families import UnknownFamily
from syncscope.reports import UnknownFormat
from syncscope.subjects import UnusableSubject

HEAVY = {
    "torch",
    "numpy",
    "scipy",
    "matplotlib",
    "pandas",
    "hta",
    "rich",
    "jinja2",
    "pygments",
    "msgspec",
    "pytest",
}


def python(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=False)


def imported_by(args: Sequence[str]) -> set[str]:
    """The top-level packages that a command line imports."""
    code = (
        f"import sys; from syncscope.cli.main import main; main({list(args)}); print(); print(*sys.modules)"
    )
    return {name.partition(".")[0] for name in python("-c", code).stdout.splitlines()[-1].split()}


@pytest.mark.parametrize(
    "args", [["--help"], ["-h"], ["--version"], ["compare", "--help"], ["report", "-h"], []]
)
def test_help_imports_nothing_heavy(args: list[str]) -> None:
    imported = imported_by(args)
    assert "click" in imported
    assert not imported & HEAVY


def test_the_module_runs_as_the_command_does() -> None:
    done = python("-m", "syncscope", "--version")
    assert (done.returncode, done.stdout) == (0, f"syncscope {__version__}\n")


def test_help_lists_the_commands_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert "compare" in text
    assert "report" in text
    assert "Exit codes: 0 fine, 1 a finding, 2 wrong use" in text


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ([], "Missing command; see `syncscope --help`"),
        (["compar"], "No such command 'compar'; see `syncscope --help`"),
        (["compare"], "Missing argument 'OLD'; see `syncscope compare --help`"),
        (["compare", "a.py"], "Missing argument 'NEW'; see `syncscope compare --help`"),
        (
            ["compare", "a.py", "b.py", "--calls", "0"],
            "calls: 0 is not in the range x>=1; see `syncscope compare --help`",
        ),
        (
            ["compare", "a.py", "b.py", "--calls", "few"],
            "calls: 'few' is not a valid whole number; see `syncscope compare --help`",
        ),
        (
            ["compare", "a.py", "b.py", "--frames", "abc"],
            "frames: 'abc' is no whole number; write for example --frames 2 8 32; "
            "see `syncscope compare --help`",
        ),
        (["report", "none.json"], "result: File 'none.json' does not exist; see `syncscope report --help`"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_wrong_use_is_one_line_and_2(args: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(args) == 2
    assert capsys.readouterr() == ("", f"syncscope: {line}\n")


def ending_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code where a comparison raises ``error``."""

    def fail(*args: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(compare, "_compared", fail)
    return main(["compare", "old.py", "old.py"])


@pytest.mark.parametrize("kind", [UnusableSubject, UnusableResult, UnknownFamily, UnknownFormat])
@pytest.mark.usefixtures("folder")
def test_unusable_input_is_its_line_and_2(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending_with(kind("old.py: no good, give another"), monkeypatch) == 2
    assert capsys.readouterr() == ("", "syncscope: old.py: no good, give another\n")


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), FileNotFoundError("its own file")])
@pytest.mark.usefixtures("folder")
def test_a_fault_of_its_own_is_a_traceback_and_3(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending_with(error, monkeypatch) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback (most recent call last)" in err
    assert err.endswith(
        f"this is a fault of syncscope {__version__}: please report it with the lines above\n"
    )


@pytest.mark.usefixtures("folder")
def test_an_interrupt_is_quiet_and_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending_with(KeyboardInterrupt(), monkeypatch) == 130
    assert capsys.readouterr() == ("", "")


def test_a_reader_that_has_gone_is_no_error(result: Path) -> None:
    code = (
        f"from syncscope.cli.main import main; input(); raise SystemExit(main(['report', {str(result)!r}]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate("go\n")
    assert (process.returncode, err) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_one_line_and_2(result: Path) -> None:
    with open("/dev/full", "w") as full:
        args = [sys.executable, "-m", "syncscope", "report", str(result)]
        done = subprocess.run(args, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "syncscope: no space is left for the output: write it elsewhere\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "1</dev/null", "2</dev/null"])
def test_a_closed_stream_is_one_that_nobody_reads(folder: Path, closed: str) -> None:
    command = f"{sys.executable} -m syncscope explain wait -h {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
