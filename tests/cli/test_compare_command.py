"""From a command line to a report, files and an exit code; and nothing half written on the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from syncscope.cli import compare
from syncscope.cli.main import main

SAME = "def total(x):\n    return x.sum()\n"
NOTE = "syncscope runs the code of OLD and NEW on this machine\n"


@pytest.fixture(autouse=True)
def here(folder: Path) -> Path:
    (folder / "new.py").write_text(SAME)
    return folder


def wrote(here: Path, text: str) -> None:
    (here / "new.py").write_text(text)


def compared(*args: str) -> int:
    return main(["compare", "old.py", "new.py", "--calls", "1", "--device", "sim", *args])


def test_equal_outputs_and_no_growth_are_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert compared() == 0
    out, err = capsys.readouterr()
    assert out.startswith("Outputs equal bit for bit")
    assert err == NOTE


def test_outputs_that_differ_are_1(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrote(here, "def total(x):\n    return x.sum() + 1\n")
    assert compared() == 1
    assert "DIFFER" in capsys.readouterr().out


def test_counts_that_grew_are_1(here: Path) -> None:
    wrote(here, "def total(x):\n    int(x[0])\n    return x.sum()\n")
    assert compared() == 1
    assert main(["compare", "new.py", "old.py", "--calls", "1", "--device", "sim"]) == 0


def test_what_a_subject_prints_is_not_in_the_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrote(here, "print('imported')\ndef total(x):\n    print('called')\n    return x.sum()\n")
    compared()
    out, err = capsys.readouterr()
    assert "called" not in out
    assert err.startswith(f"imported\n{NOTE}called\n")


def test_files_are_written_beside_the_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compared("--sweep", "n=3,5", "-o", "page.md", "-o", "counts.csv", "-o", "result.json") == 0
    out, err = capsys.readouterr()
    assert out.startswith("Outputs equal bit for bit in all 2 cases")
    assert err == f"{NOTE}wrote page.md\nwrote counts.csv\nwrote result.json\n"
    assert (here / "page.md").exists()
    assert (here / "counts.csv").read_text().startswith("n,calls,")
    written = json.loads((here / "result.json").read_text())
    assert [case["sweep"] for case in written["cases"]] == [{"n": 3}, {"n": 5}]
    assert written["command"].startswith(
        "syncscope compare old.py new.py --calls 1 --device sim --sweep n=3,5"
    )


def test_traces_are_kept_in_a_folder_each(here: Path) -> None:
    assert compared("--traces", "traces") == 0
    assert {path.name for path in (here / "traces").iterdir()} == {"old", "new"}


def planned(monkeypatch: pytest.MonkeyPatch, *args: str) -> dict[str, Any]:
    """What a command line asks for, without running it."""
    asked: dict[str, Any] = {}

    def take(command_line: str, old: str, new: str, step: object, **given: Any) -> None:
        asked.update(given, old=old, new=new)
        raise KeyboardInterrupt

    monkeypatch.setattr(compare, "_compared", take)
    assert main(["compare", *args]) == 130
    return asked


def test_lists_may_stand_before_the_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = planned(
        monkeypatch, "--frames", "2", "8", "--dtype", "torch.float32", "bfloat16", "old.py", "new.py"
    )
    assert (asked["old"], asked["new"]) == ("old.py", "new.py")
    assert (asked["frames"], asked["dtype"]) == ((2, 8), ("float32", "bfloat16"))


def test_the_defaults_are_those_of_the_published_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = planned(monkeypatch, "old.py", "new.py")
    assert {
        name: asked[name] for name in ("calls", "seed", "seeds", "device", "workload", "inputs", "traces")
    } == {
        "calls": 20,
        "seed": 0,
        "seeds": 1,
        "device": "auto",
        "workload": None,
        "inputs": None,
        "traces": None,
    }


def test_settings_are_defaults_and_the_command_line_wins(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "pyproject.toml").write_text(
        "[tool.syncscope]\nframes = [2, 8]\ntokens-per-frame = 16\n"
        'calls = 5\nsweep = "n=1,2"\ndevice = "sim"\n'
    )
    asked = planned(monkeypatch, "old.py", "new.py", "--frames", "32", "--calls", "3")
    assert (asked["frames"], asked["calls"]) == ((32,), 3)
    assert (asked["tokens_per_frame"], asked["sweep"], asked["device"]) == ((16,), ("n=1,2",), "sim")


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (["-o", "page.xyz"], "page.xyz: no report has the extension '.xyz'; use one of "),
        (["-o", "page"], "page: no report has a name without an extension; use one of "),
        (["-o", "nowhere/page.md"], "nowhere: no such folder; make it first, or write elsewhere\n"),
        (["-o", "old.py/page.md"], "old.py: no such folder; make it first, or write elsewhere\n"),
        (["-o", "folder.md"], "folder.md: is a folder; name a file in it\n"),
        (["--traces", "nowhere/traces"], "nowhere: no such folder; make it first, or write elsewhere\n"),
    ],
)
def test_an_output_that_cannot_be_written_is_told_before_anything_runs(
    here: Path, args: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "folder.md").mkdir()
    wrote(here, "raise SystemExit('this must not run')")
    before = sorted(here.iterdir())
    assert compared("-o", "good.csv", *args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"syncscope: {line}")
    assert err.count("\n") == 1
    assert sorted(here.iterdir()) == before


VIDEO = "def mask(video_embeds, video_size_thw, spatial_merge_size, q):\n    return video_embeds > 0\n"


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (["none.py", "old.py"], "no file none.py: "),
        (["old.py", "none.py"], "no file none.py: "),
        (["broken.py", "old.py"], "broken.py doesn't parse: "),
        (["raises.py", "old.py"], "raises.py raises on import: ValueError: no weights (raises.py:1)"),
        (["old.py::mean", "old.py"], "old.py has no function mean: it has total"),
        (["main:old.py", "old.py"], ""),
        (["old.py", "two.py"], "old.py takes (x) but two.py takes (x, y): "),
        (["old.py", "old.py", "--device", "cuda"], "device: torch finds no CUDA GPU on this machine: "),
        (["old.py", "old.py", "--count", "nosuchop"], "count: ATen has no operator 'nosuchop': "),
        (["new.py", "new.py"], "nobody makes inputs for new.py: "),
        (["old.py", "old.py", "--sweep", "n=1", "n=2"], "n is swept twice: "),
        (["video.py", "video.py", "--frames", "0"], "frames must be a whole number >= 1, not `0`"),
        (["video.py", "video.py", "--frames", "-1"], "frames must be a whole number >= 1, not `-1`"),
        (["--frames", "abc", "video.py", "video.py"], "frames: 'abc' is no whole number; "),
        (["video.py", "video.py", "--tokens-per-frame", "197"], "tokens_per_frame is 197, a prime, "),
        (["video.py", "video.py", "--dtype", "float3"], "dtype is 'float3', which is unknown: "),
        (
            ["video.py", "video.py", "--q", "1"],
            "q must be a number in [0, 1), the fraction pruned, not `1.0`",
        ),
    ],
)
def test_input_that_cannot_be_used_is_one_line_and_2(
    here: Path,
    args: list[str],
    line: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    for name, text in {
        "broken.py": "def total(x",
        "raises.py": "raise ValueError('no weights')",
        "two.py": "def total(x, y):\n    return x\n",
        "video.py": VIDEO,
    }.items():
        (here / name).write_text(text)
    before = sorted(here.iterdir())
    assert main(["compare", *args, "-o", "page.md"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"syncscope: {line}")
    assert err.count("\n") == 1
    assert [path for path in sorted(here.iterdir()) if path.name != "__pycache__"] == before


def test_a_subject_that_raises_on_a_call_is_named_with_its_case_and_line(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrote(here, "def total(x):\n    return x.sum(dim=7)\n")
    assert compared("--sweep", "n=3,5", "-o", "page.md") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"{NOTE}syncscope: new (new.py) failed for n=3: IndexError: ")
    assert err.endswith("  new.py:2 in total: return x.sum(dim=7)\n")
    assert not (here / "page.md").exists()


def test_a_progress_bar_is_drawn_on_a_terminal_only(here: Path) -> None:
    pty = pytest.importorskip("pty", reason="there are no terminals to make")
    controller, terminal = pty.openpty()
    args = [
        sys.executable,
        "-m",
        "syncscope",
        "compare",
        "old.py",
        "new.py",
        "--calls",
        "1",
        "--device",
        "sim",
    ]
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=terminal, text=True, check=False)
    os.close(terminal)
    drawn = os.read(controller, 65536).decode()
    os.close(controller)
    assert done.returncode == 0
    assert "1/1" in drawn
    assert "0/100" not in drawn
    assert "\x1b" not in done.stdout
