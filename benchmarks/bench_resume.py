"""Is a matrix that is killed again and again the one that is not? Prints what differs.

    python benchmarks/bench_resume.py [KILLS [HIDDEN [ENGINE]]]

The 288 rows of the published matrix on the CPU with 5 iterations, once as it is and once killed (SIGKILL, the
whole process group) KILLS times at random moments and given again each time. Rows, parity, counts and numbers
of samples have to be equal; times are not compared.
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

ROOT = Path(__file__).parents[1]
SUBJECTS = ["examples/vidcom2/per_frame_reads.py", "examples/vidcom2/read_once.py"]
MATRIX = (
    "--dtype float16 bfloat16 float32 --frames 1 2 4 8 16 32 64 128 --tokens-per-frame 48 196 576 "
    "--q 0.25 0.5 0.75 0.9 --device cpu --warmups 1 --iterations 5 --recheck-beyond 1e9"
)


def command(output: Path, hidden: str, engine: str) -> list[str]:
    """The command line of the whole matrix."""
    options = [*MATRIX.split(), "--hidden", hidden, "--engine", engine, "-o", str(output)]
    return [sys.executable, "-m", "syncscope", "bench", *SUBJECTS, *options]


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


def comparable(path: Path) -> list[object]:
    """Every row but its times."""
    return [
        (row["sweep"], row["parity"], row["counts"], len(row["latency"]["samples"]["host"]["old"]))
        for row in json.loads(path.read_bytes())["rows"]
    ]


def main(kills: int = 20, hidden: int = 64, engine: str = "local") -> None:
    """Run both matrices and compare them."""
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder, "whole.json"), Path(folder, "killed.json")
        start = time.perf_counter()
        run(command(whole, str(hidden), "local"))
        took = time.perf_counter() - start
        print(f"{len(comparable(whole))} rows in {took:.0f} s", flush=True)
        # Start-ups take time as well: all kills fall before the end.
        for number in range(1, kills + 1):
            ended = run(command(killed, str(hidden), engine), random.uniform(0, 2 * took / (kills + 1)))
            rows = finished(Path(f"{killed}.rows"))
            print(
                f"kill {number}: {'too late, it had ended' if ended else f'{rows} rows on disk'}", flush=True
            )
            if ended:
                break
        else:
            run(command(killed, str(hidden), engine))
        equal = comparable(whole) == comparable(killed)
        print(f"{len(comparable(killed))} rows after the kills: {'equal' if equal else 'THEY DIFFER'}")
        sys.exit(not equal)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:])
