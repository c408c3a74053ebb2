"""Defaults from pyproject.toml."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncscope.cli.main import main
from syncscope.cli.settings import nearest


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["report", "result.json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    return err


def test_the_nearest_file_above_counts(tmp_path: Path) -> None:
    below = tmp_path / "package" / "module"
    below.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.syncscope]\ncalls = 5\n")
    assert nearest(below).table == {"calls": 5}
    (tmp_path / "package" / "pyproject.toml").write_text("[tool.other]\n")
    assert nearest(below).table == {}


@pytest.mark.parametrize("text", ["", "[tool]\n", "[tool.ruff]\nline-length = 110\n"])
@pytest.mark.usefixtures("result")
def test_a_file_without_settings_is_fine(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(text)
    assert main(["report", "result.json"]) == 0


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[tool.syncscope]\nframe = 2\n", "[tool.syncscope] has no setting 'frame'; did you mean frames?"),
        (
            "[tool.syncscope]\nxyz = 2\n",
            "[tool.syncscope] has no setting 'xyz'; known are baseline, calls, count, device, ",
        ),
        (
            "[tool.syncscope]\nhelp = true\n",
            "[tool.syncscope] has no setting 'help'; known are baseline, calls, ",
        ),
        ("[tool.syncscope\n", "no TOML ("),
        ("tool.syncscope = 3\n", "syncscope is no table; write the settings under a line [tool.syncscope]\n"),
        ("tool = 3\n", "tool is no table; write the settings under a line [tool.syncscope]\n"),
    ],
)
@pytest.mark.usefixtures("result")
def test_a_setting_that_cannot_be_used_names_the_file(
    folder: Path, text: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pyproject.toml").write_text(text)
    assert complaint(capsys).startswith(f"syncscope: {folder / 'pyproject.toml'}: {line}")


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        (
            'frames = ["abc"]',
            "frames: 'abc' is no whole number; write for example --frames 2 8 32; "
            "see `syncscope compare --help`",
        ),
        (
            "frames = [2.5]",
            "frames: '2.5' is no whole number; write for example --frames 2 8 32; "
            "see `syncscope compare --help`",
        ),
        (
            "frames = true",
            "frames: 'True' is no whole number; write for example --frames 2 8 32; "
            "see `syncscope compare --help`",
        ),
        (
            'device = "tpu"',
            "device: 'tpu' is not one of 'auto', 'cuda', 'sim'; see `syncscope compare --help`",
        ),
        ("calls = 0", "calls: 0 is not in the range x>=1; see `syncscope compare --help`"),
    ],
)
def test_a_value_is_checked_as_on_the_command_line_and_its_message_names_the_file(
    folder: Path, setting: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.syncscope]\n{setting}\n")
    assert main(["compare", "old.py", "old.py"]) == 2
    assert capsys.readouterr().err == f"syncscope: {folder / 'pyproject.toml'}: {line}\n"


@pytest.mark.usefixtures("result")
def test_a_mistake_on_the_command_line_is_not_the_file_s(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "pyproject.toml").write_text("[tool.syncscope]\ncalls = 5\n")
    assert main(["compare", "old.py", "old.py", "--calls", "0"]) == 2
    assert capsys.readouterr().err.startswith("syncscope: calls: 0 is not in the range")
