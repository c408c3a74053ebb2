"""What the installed plugin adds to a run of pytest that doesn't use it, in milliseconds.

    python benchmarks/idle_plugin.py [RUNS]

Both are whole processes with one empty test, run in turn; the smallest time of each counts.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
PLUGIN = ["-p", "syncscope.pytest_plugin"]


def milliseconds(folder: str, *args: str) -> float:
    """The wall time of one whole run, in which no other plugin is loaded."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    start = time.perf_counter()
    subprocess.run([*PYTEST, *args], cwd=folder, env=environment, check=True, capture_output=True)
    return (time.perf_counter() - start) * 1e3


def main(runs: int = 20) -> None:
    """Time both in turn and print the difference of the smallest."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "test_it.py").write_text("def test(): pass\n")
        times = [(milliseconds(folder), milliseconds(folder, *PLUGIN)) for _ in range(runs)]
    without, beside = (min(column) for column in zip(*times, strict=True))
    print(f"pytest {without:.0f} ms, with the idle plugin {beside - without:.1f} ms more")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
