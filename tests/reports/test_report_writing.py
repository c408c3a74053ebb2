"""The file's extension decides the format, and a report is written whole or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from syncscope import reports
from syncscope.comparison import results
from syncscope.comparison.results import Comparison


@pytest.mark.parametrize(
    ("name", "begins"), [("a.md", "**Outputs"), ("a.json", "{"), ("a.csv", "frames,"), ("A.MD", "**")]
)
def test_the_extension_decides_the_format(
    comparison: Comparison, tmp_path: Path, name: str, begins: str
) -> None:
    reports.write(comparison, tmp_path / name)
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("report.txt", "report.txt: no report has the extension '.txt'; use one of .csv .json .md .svg"),
        ("report", "report: no report has a name without an extension; use one of .csv .json .md .svg"),
    ],
)
def test_an_unknown_extension_is_refused_in_one_line(name: str, message: str) -> None:
    with pytest.raises(reports.UnknownFormat) as refusal:
        reports.format_of(Path(name))
    assert str(refusal.value) == message


def test_nothing_is_written_where_the_format_is_unknown(comparison: Comparison, tmp_path: Path) -> None:
    with pytest.raises(reports.UnknownFormat):
        reports.write(comparison, tmp_path / "report.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_the_callers_error(comparison: Comparison, tmp_path: Path) -> None:
    with pytest.raises(OSError):
        reports.write(comparison, tmp_path / "missing" / "a.md")


def test_a_failing_render_leaves_the_old_report(
    comparison: Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.json").write_text("old")
    monkeypatch.setattr(results, "encode", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        reports.write(comparison, tmp_path / "a.json")
    assert [file.name for file in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_text() == "old"


def test_json_reads_back_as_the_same_record(comparison: Comparison, tmp_path: Path) -> None:
    reports.write(comparison, tmp_path / "result.json")
    assert results.decode((tmp_path / "result.json").read_bytes()) == comparison


def test_json_has_the_documented_fields(comparison: Comparison, tmp_path: Path) -> None:
    reports.write(comparison, tmp_path / "result.json")
    record = json.loads((tmp_path / "result.json").read_bytes())
    assert record["schema_version"] == 1
    assert set(record["cases"][0]) == {"sweep", "parity", "old", "new", "latency", "untimed"}
    assert record["cases"][1]["old"]["counts"]["memcpy"] == 220
    expected = {"subject", "file", "line", "function", "text", "kind", "api", "per_case", "growth"}
    assert expected <= set(record["sites"][0])


def test_no_report_imports_torch() -> None:
    modules = ", ".join([*reports.FORMATS.values(), "syncscope.reports.terminal"])
    script = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_importing_the_package_imports_no_format() -> None:
    script = "import sys, syncscope.reports; sys.exit('rich' in sys.modules or 'csv' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
