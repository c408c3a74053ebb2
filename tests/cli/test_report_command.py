"""A saved result can be shown and written again, where there is no torch."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from syncscope.cli.main import main


def test_without_an_output_the_report_is_printed(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(result)]) == 0
    out, err = capsys.readouterr()
    assert "Outputs equal bit for bit" in out
    assert err == ""


def test_with_outputs_they_are_written_instead(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "result.json", "-o", "page.md", "-o", "counts.csv"]) == 0
    assert (result.parent / "page.md").read_text()
    assert (result.parent / "counts.csv").read_text().startswith("n,calls,item_old,item_new,")
    assert capsys.readouterr() == ("", "wrote page.md\nwrote counts.csv\n")


def test_an_output_that_is_given_twice_is_written_once(
    result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "result.json", "-o", "page.md", "-o", "page.md"]) == 0
    assert capsys.readouterr() == ("", "wrote page.md\n")


def test_a_result_written_as_json_again_is_the_same(result: Path) -> None:
    assert main(["report", "result.json", "-o", "again.json"]) == 0
    assert (result.parent / "again.json").read_bytes() == result.read_bytes()


@pytest.mark.parametrize("output", [[], ["-o", "page.md"], ["-o", "counts.csv"], ["-o", "again.json"]])
def test_it_needs_no_torch(result: Path, output: list[str]) -> None:
    code = f"""
import sys
from importlib.abc import MetaPathFinder

class NoTorch(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "torch":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, NoTorch())
from syncscope.cli.main import main
raise SystemExit(main(["report", {str(result)!r}, *{output!r}]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not a syncscope result"),
        (b"import torch", "not a syncscope result"),
        (b"\xff\xfe", "not a syncscope result"),
        (b"[]", "not a syncscope result"),
        (b"{}", "schema_version is None"),
        (b'{"schema_version": 99}', "schema_version is 99"),
        (b'{"schema_version": 1}', "not a syncscope result"),
    ],
)
def test_a_file_that_is_no_result_is_one_line_and_2(
    folder: Path, content: bytes, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "other.json").write_bytes(content)
    assert main(["report", "other.json", "-o", "page.md"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"syncscope: other.json: {why}")
    assert err.count("\n") == 1
    assert not (folder / "page.md").exists()


@pytest.mark.usefixtures("result")
def test_colour_is_only_where_it_is_wanted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    main(["report", "result.json"])
    assert "\x1b[" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(["report", "result.json"])
    assert "\x1b[" not in capsys.readouterr().out


def test_a_terminal_without_arrows_gets_them_spelled(result: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    run = subprocess.run(
        [sys.executable, "-m", "syncscope", "report", str(result)], capture_output=True, env=environment
    )
    assert b"scalar reads 2 -> 0" in run.stdout
    assert b"?" not in run.stdout
