"""Is a matrix that is killed again and again the one that is not? Prints what differs.

    python benchmarks/bench_resume.py [KILLS [HIDDEN [ENGINE [RECHECK_ITERATIONS]]]]

The 288 rows of the published matrix on the CPU with 5 iterations, once as it is and once killed (SIGKILL, the
whole process group) KILLS times at random moments and given again each time. All else is as it is by default,
but for the channels (HIDDEN) and the trials of a row that is run again, as is any that is slower beyond 3 %
(with 5 iterations often by chance): each trial has RECHECK_ITERATIONS, in place of 500.

Compared are, row for row: the case, parity, the counts of both sides, the number of samples of each side, and
that no row failed. Times are not, nor what follows from them: speedup, verdict, and whether it was run again;
how many were is printed.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SUBJECTS = ["examples/vidcom2/per_frame_reads.py", "examples/vidcom2/read_once.py"]
MATRIX = (
    "--dtype float16 bfloat16 float32 --frames 1 2 4 8 16 32 64 128 --tokens-per-frame 48 196 576 "
    "--q 0.25 0.5 0.75 0.9 --device cpu --iterations 5"
)


def command(output: Path, hidden: str, engine: str, recheck_iterations: str) -> list[str]:
    """The command line of the whole matrix."""
    options = ["--hidden", hidden, "--engine", engine, "--recheck-iterations", recheck_iterations]
    return [
        sys.executable,
        "-m",
        "syncscope",
        "bench",
        *SUBJECTS,
        *MATRIX.split(),
        *options,
        "-o",
        str(output),
    ]


def finished(rows: Path) -> int:
    """How many rows are on disk."""
    return max(0, rows.read_bytes().count(b"\n") - 1) if rows.exists() else 0


def run(arguments: list[str], seconds: float | None = None) -> bool:
    """Run to the end, or kill after some seconds; whether the end was reached."""
    process = subprocess.Popen(
        arguments, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return False
    if process.returncode not in (0, 1):
        sys.exit(f"exit code {process.returncode}: {said.decode()[-500:]}")
    return True


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a report."""
    return json.loads(path.read_bytes())["rows"]


def comparable(row: dict[str, Any]) -> list[object]:
    """All of a row that doesn't hang on its times."""
    samples = {side: len(times) for side, times in row["latency"]["samples"]["host"].items()}
    return [row["sweep"], row["parity"], row["counts"], samples, row["failed"]]


def told(path: Path) -> str:
    """How many rows there are, and how many of them were run again."""
    again = sum(row["latency"]["recheck"] is not None for row in rows(path))
    return f"{len(rows(path))} rows, {again} of them run again for being slower"


def main(kills: int = 20, hidden: str = "64", engine: str = "local", recheck_iterations: str = "10") -> None:
    """Run both matrices and compare them."""
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder, "whole.json"), Path(folder, "killed.json")
        start = time.perf_counter()
        run(command(whole, hidden, "local", recheck_iterations))
        took = time.perf_counter() - start
        print(f"in one run: {told(whole)}, in {took:.0f} s", flush=True)
        again = command(killed, hidden, engine, recheck_iterations)
        # Start-ups take time as well: all kills fall before the end.
        before = 0
        for number in range(1, kills + 1):
            if run(again, random.uniform(0, 2 * took / (kills + 1))):
                sys.exit(f"kill {number} came too late: the run had ended; run this again")
            on_disk = finished(Path(f"{killed}.rows"))
            print(f"kill {number}: {on_disk} rows on disk", flush=True)
            if on_disk < before:
                sys.exit(f"{before - on_disk} finished rows are lost")
            before = on_disk
        run(again)
        equal = list(map(comparable, rows(whole))) == list(map(comparable, rows(killed)))
        print(f"killed: {told(killed)}; {'equal' if equal else 'THEY DIFFER'}")
        sys.exit(not equal)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
