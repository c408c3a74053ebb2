"""From a command line to rows, reports and an exit code; and on again after a stop at any moment."""

from __future__ import annotations

import csv
import errno
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from syncscope.cli.main import main
from syncscope.comparison.environment import processor

NOTE = "syncscope runs the code of OLD and NEW on this machine\n"
SAME = "def total(x):\n    return x.sum()\n"
QUICK = ("--warmups", "0", "--iterations", "2", "--recheck-beyond", "1e9")


@pytest.fixture(autouse=True)
def here(folder: Path) -> Path:
    (folder / "new.py").write_text(SAME)
    return folder


def benched(*args: str) -> int:
    return main(["bench", "old.py", "new.py", *QUICK, "--device", "cpu", *args])


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text().splitlines()))


def test_rows_and_reports(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert benched("--sweep", "n=3,5", "-o", "m.csv", "-o", "m.json", "-o", "m.md") == 0
    out, err = capsys.readouterr()
    assert out.startswith("Outputs equal bit for bit in all 2 rows.\nOn the CPU ")
    assert "never a GPU's" in out
    assert err == f"{NOTE}wrote m.csv\nwrote m.json\nwrote m.md\n"
    assert [row["n"] for row in table(here / "m.csv")] == ["3", "5"]
    written = json.loads((here / "m.json").read_text())
    assert [len(row["latency"]["samples"]["host"]["old"]) for row in written["rows"]] == [2, 2]
    assert not (here / "m.csv.rows").exists()


def test_the_columns_of_the_published_table_stand_first(here: Path) -> None:
    contract = "video_embeds, video_size_thw, spatial_merge_size, q"
    for name in ("old", "new"):
        (here / f"{name}.py").write_text(f"def mask({contract}):\n    return video_embeds.sum(1) > 0\n")
    video = ["--q", "0.5", "--tokens-per-frame", "4", "--frames", "1", "2", "--dtype", "float32"]
    assert benched(*video, "-o", "m.csv") == 0
    heading = (here / "m.csv").read_text().partition("\n")[0]
    assert heading.startswith(
        "dtype,frames,tokens_per_frame,q,old_p20,old_p50,old_p80,new_p20,new_p50,new_p80,p50_speedup,"
        "speedup_low,speedup_high,verdict,"
    )


def test_outputs_that_differ_are_1_and_have_no_speedup(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "new.py").write_text("def total(x):\n    return x.sum() + (x.numel() == 5)\n")
    assert benched("--sweep", "n=3,5", "-o", "m.csv") == 1
    assert "Outputs DIFFER in 1 of 2 rows (n = 5): no speedup there." in capsys.readouterr().out
    equal, differing = table(here / "m.csv")
    assert (equal["outputs"], differing["outputs"]) == ("equal", "differ")
    assert equal["p50_speedup"] and not differing["p50_speedup"]


def test_a_regression_that_holds_is_1(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "new.py").write_text("def total(x):\n    [x.sum() for _ in range(200)]\n    return x.sum()\n")
    again = ("--recheck-beyond", "3", "--recheck-iterations", "2")
    assert benched(*again) == 1
    out = capsys.readouterr().out
    assert "1 row slower by more than 3 %, and so again." in " ".join(out.split())
    assert "in 5 trials of 2 iterations in alternating order" in " ".join(out.split())


def test_on_a_simulated_device_no_time_is_claimed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "new.py").write_text("def total(x):\n    int(x[0])\n    return x.sum()\n")
    assert main(["bench", "old.py", "new.py", "--device", "sim", "-o", "m.csv"]) == 0
    out = capsys.readouterr().out
    assert "no time is claimed" in out
    assert "µs" not in out and "speedup" not in out
    (row,) = table(here / "m.csv")
    assert (row["old_p50"], row["waits_old"], row["waits_new"]) == ("", "0", "1")


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (
            ["--iterations", "0"],
            "iterations: 0 is not in the range 1<=x<=1000000; see `syncscope bench --help`",
        ),
        (["--frames"], "frames: no value is given; write for example --frames 2 8 32"),
        (["--time-budget", "60"], "time-budget: '60' is no time: write for example 60s, 500ms or 2m; see "
         "`syncscope bench --help`"),
        (["--seed", "4294967296"],
         "seed: 4294967296 is not in the range 0<=x<=1000000000; see `syncscope bench --help`"),
        (["--prolong", "0"], "prolong: 0 is not in the range 1<=x<=1000; see `syncscope bench --help`"),
        (["--time-budget", "1s"], "time-budget: stands in place of --iterations: give one of them"),
        (["--rotate", "2", "--seeds", "3"], "rotate: 2 inputs have no room for 3 seeds: give --rotate 3 or "
         "more, or fewer --seeds"),
        (["--rotate", "1000000000"], "rotate: 1000000000 is not in the range 0<=x<=10000; see "
         "`syncscope bench --help`"),
        (["--threads", "100000"], "threads: 100000 is not in the range 1<=x<=1024; see "
         "`syncscope bench --help`"),
        *((["--recheck-beyond", given], f"recheck-beyond: '{given}' is no number of percent: write for "
           "example 3 or 0.5; see `syncscope bench --help`") for given in ("nan", "inf", "-1", "x")),
        (["-o", "m.svg"], "m.svg: no report has the extension '.svg'; use one of .csv .json .md"),
        (["--ray-address", "auto"], "ray-address: is for --engine ray: add that, or leave --ray-address out"),
        (["--device", "sim", "--plots", "plots"],
         "plots: on a simulated device no time is taken that could be drawn: leave --plots out"),
        (["-o", "no/m.csv"], "no: no such folder; make it first, or write elsewhere"),
    ],
)  # fmt: skip
def test_wrong_use_is_one_line_and_2(args: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert benched(*args) == 2
    assert capsys.readouterr() == ("", f"syncscope: {line}\n")


def test_without_ray_its_engine_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert benched("--engine", "ray") == 2
    assert capsys.readouterr().err == (
        f"{NOTE}syncscope: engine: ray is not installed: install syncscope[ray], or leave --engine ray out\n"
    )


KILLED = """
import os, signal, torch
def total(x):
    if x.numel() == 5 and not os.path.exists("let it run"):
        os.kill(os.getpid(), signal.SIGKILL)
    return x.sum()
"""


def test_after_a_kill_the_same_command_goes_on(here: Path) -> None:
    (here / "new.py").write_text(KILLED)
    command = [sys.executable, "-m", "syncscope", "bench", "old.py", "new.py", *QUICK, "--device", "cpu",
               "--sweep", "n=3,4,5,6", "-o", "m.csv"]  # fmt: skip
    killed = subprocess.run(command, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL
    assert not (here / "m.csv").exists()
    before = (here / "m.csv.rows").read_bytes().splitlines()
    assert [json.loads(line)["sweep"]["n"] for line in before[1:]] == [3, 4]
    (here / "let it run").touch()
    resumed = subprocess.run(command, capture_output=True, text=True)
    assert resumed.returncode == 0, resumed.stderr
    assert "m.csv.rows has 2 finished rows: they are not run again" in resumed.stderr
    rows = table(here / "m.csv")
    assert [row["n"] for row in rows] == ["3", "4", "5", "6"]
    first = json.loads(before[1])["latency"]["old"]["p50"]
    assert float(rows[0]["old_p50"]) == round(first / 1e3, 2)


def interrupted_at(n: int) -> str:
    return f"def total(x):\n    if len(x) == {n}:\n        raise KeyboardInterrupt\n    return x.sum()\n"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--sweep", "n=3,4", "-o", "m.csv"],
         "1 finished row is kept in m.csv.rows: the same command goes on from there"),
        (["--sweep", "n=2,3,4", "-o", "m.csv"],
         "2 finished rows are kept in m.csv.rows: the same command goes on from there"),
        (["--sweep", "n=4,5", "-o", "m.csv"], "no row was finished"),
        (["--sweep", "n=3,4"], "finished rows are kept with -o FILE only"),
    ],
)  # fmt: skip
def test_an_interrupted_run_says_what_is_kept(
    here: Path, capsys: pytest.CaptureFixture[str], args: list[str], said: str
) -> None:
    (here / "new.py").write_text(interrupted_at(4))
    assert benched(*args) == 130
    assert capsys.readouterr() == ("", f"{NOTE}syncscope: interrupted; {said}\n")


def test_a_single_row_is_not_several(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "new.py").write_text(interrupted_at(4))
    for _ in range(2):
        assert benched("--sweep", "n=3,4", "-o", "m.csv") == 130
    assert "\nm.csv.rows has 1 finished row: it is not run again\n" in capsys.readouterr().err


def test_a_report_that_cannot_be_written_keeps_the_rows(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("syncscope.reports.write", full)
    assert benched("--sweep", "n=3,4", "-o", "m.csv") == 2
    assert capsys.readouterr().err == (
        f"{NOTE}syncscope: m.csv: cannot be written (No space left on device); write elsewhere; "
        "2 finished rows are kept in m.csv.rows: the same command goes on from there\n"
    )
    monkeypatch.undo()
    monkeypatch.chdir(here)
    assert benched("--sweep", "n=3,4", "-o", "m.csv") == 0


def test_a_row_that_fails_is_1_and_has_no_speedup(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "new.py").write_text("def total(x):\n    assert len(x) != 4, 'no'\n    return x.sum()\n")
    assert benched("--sweep", "n=3,4,5", "-o", "m.csv", "-o", "m.md") == 1
    out = capsys.readouterr().out
    assert out.startswith("1 of 3 rows FAILED (n = 4). Outputs equal bit for bit in all 2 rows that ran.\n")
    assert "Rows that failed\n  - new (new.py) failed for n=4: AssertionError: no (new.py:2)\n" in out
    assert "### Rows that failed\n\n- new " in (here / "m.md").read_text()
    assert [(row["outputs"], bool(row["p50_speedup"])) for row in table(here / "m.csv")] == [
        ("equal", True), ("failed", False), ("equal", True)
    ]  # fmt: skip


def test_a_row_that_failed_is_tried_again_and_the_others_are_kept(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "new.py").write_text(
        "import os\ndef total(x):\n    assert len(x) != 4 or os.path.exists('room')\n    return x.sum()\n"
    )
    assert benched("--sweep", "n=3,4,5", "-o", "m.csv") == 1
    assert capsys.readouterr().err.endswith(
        "some rows failed; 2 finished rows are kept in m.csv.rows: the same command goes on from there\n"
    )
    (here / "room").touch()
    assert benched("--sweep", "n=3,4,5", "-o", "m.csv") == 0
    assert "m.csv.rows has 2 finished rows: they are not run again\n" in capsys.readouterr().err
    assert [row["outputs"] for row in table(here / "m.csv")] == ["equal"] * 3
    assert not (here / "m.csv.rows").exists()


def test_rows_of_another_text_or_option_are_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "new.py").write_text(interrupted_at(4))
    assert benched("--sweep", "n=3,4", "-o", "m.csv") == 130
    kept = (here / "m.csv.rows").read_bytes()
    (here / "new.py").write_text(SAME)
    assert benched("--sweep", "n=3,4", "-o", "m.csv", "--threads", "2") == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("syncscope: m.csv.rows: its 1 row was made otherwise (the text of NEW was ")
    assert "--threads was 1, is 2" in line
    assert (here / "m.csv.rows").read_bytes() == kept


def test_a_saved_benchmark_is_another_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert benched("--sweep", "n=3,5", "-o", "m.json") == 0
    printed = capsys.readouterr().out
    assert main(["report", "m.json"]) == 0
    assert capsys.readouterr().out == printed
    assert main(["report", "m.json", "-o", "m.csv", "--plots", "plots"]) == 0
    assert len(table(here / "m.csv")) == 2
    names = {path.name for path in (here / "plots").iterdir()}
    assert {"speedup-light.svg", "speedup-dark.svg", "distribution-dark.svg", "worth-light.svg"} <= names


def test_a_saved_benchmark_that_is_cut_short_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "old.py", "new.py", "--device", "sim", "-o", "m.json"]) == 0
    (here / "m.json").write_bytes((here / "m.json").read_bytes()[:200])
    capsys.readouterr()
    assert main(["report", "m.json"]) == 2
    assert capsys.readouterr().err == (
        "syncscope: m.json: not a syncscope result (Input data was truncated): make it anew with "
        "the command that wrote it\n"
    )


def test_where_no_time_was_taken_nothing_is_plotted_and_it_says_so(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "new.py").write_text("def total(x):\n    return -x.sum()\n")
    assert benched("-o", "m.json", "--plots", "plots") == 1
    said = "no row was timed: there is nothing to plot\n"
    assert capsys.readouterr().err.endswith(said)
    assert main(["report", "m.json", "--plots", "plots"]) == 0
    assert capsys.readouterr() == ("", said)
    assert not (here / "plots").exists()


def test_there_are_no_plots_of_a_comparison(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "result.json", "--plots", "plots"]) == 2
    assert capsys.readouterr().err == (
        "syncscope: plots: result.json is no benchmark, of which alone there are plots: leave --plots out\n"
    )


def test_settings_have_the_options_of_bench(here: Path) -> None:
    def length(*args: str) -> tuple[int, float | None]:
        assert main(["bench", "old.py", "new.py", "--device", "sim", "-o", "m.json", *args]) == 0
        timing = json.loads((here / "m.json").read_text())["timing"]
        return timing["iterations"], timing["budget_s"]

    settings = here / "pyproject.toml"
    settings.write_text("[tool.syncscope]\niterations = 3\n")
    assert length() == (3, None)
    assert length("--time-budget", "2s") == (3, 2)
    settings.write_text("[tool.syncscope]\ntime-budget = '50ms'\n")
    assert length() == (100, 0.05)
    assert length("--iterations", "7") == (7, None)


def test_a_time_budget_leaves_nothing_to_prolong(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "old.py", "new.py", "--time-budget", "1s", "--prolong", "2"]) == 2
    said = "syncscope: time-budget: stands in place of --prolong: give one of them\n"
    assert capsys.readouterr().err == said


def test_compare_times_its_cases(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["compare", "old.py", "new.py", "--calls", "1", "--device", "sim", "--sweep", "n=3,5"]
    assert main([*command, "-o", "untimed.json"]) == 0
    untimed = capsys.readouterr().out
    assert "Latency" not in untimed and "threads while timed" not in untimed
    assert "No time was taken: no claim about latency." in untimed
    assert main([*command, "--time", "-o", "timed.json", "-o", "timed.md"]) in (0, 1)
    out = capsys.readouterr().out
    assert "Latency\nn  old p50" in out
    assert "No time was taken" not in out
    said = " ".join(out.split())
    assert "samples 100 a side" in said
    assert f"timed on {processor()}, " in said
    assert "warm-ups 25, inputs fresh, threads while timed 1, clock granularity " in said
    assert "never a GPU's" in out
    cases = json.loads((here / "timed.json").read_text())["cases"]
    # On a noisy machine a case goes on.
    assert [len(case["latency"]["samples"]["host"]["new"]) % 100 for case in cases] == [0, 0]
    page = (here / "timed.md").read_text()
    assert "### Latency" in page and "| threads while timed | `1` |" in page


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def total(x):\n    return x.sum() + torch.zeros((), device='cuda', dtype=int)\n",
         "new (new.py) failed"),
        ("def make_inputs():\n    return torch.ones(3, device='cuda')\ndef total(x):\n    return x.sum()\n",
         "inputs can't be made for the only case"),
    ],
)  # fmt: skip
def test_what_needs_a_gpu_is_compared_and_not_timed_without_one(
    here: Path, capsys: pytest.CaptureFixture[str], text: str, why: str
) -> None:
    (here / "new.py").write_text(f"import torch\n{text}")
    subjects = ["new.py" if "make_inputs" in text else "old.py", "new.py"]
    assert main(["compare", *subjects, "--calls", "1", "--device", "sim", "--time"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert f"Not timed: {why}" in out
    assert "No time was taken" in out and "threads while timed" not in out
