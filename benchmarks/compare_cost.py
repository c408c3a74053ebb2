"""What a whole `syncscope compare` costs beside the same calls made bare, as a ratio in one run.

    python benchmarks/compare_cost.py [RUNS]

Bare: a process that imports torch, makes the same inputs and makes the same 2 x 3 x 20 calls. Both are whole
processes, run in turn; the smallest time of each counts.
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SUBJECTS = ["examples/vidcom2/per_frame_reads.py", "examples/vidcom2/read_once.py"]
BARE = """
import sys
import torch
from syncscope.subjects.loader import load
from syncscope.subjects.workloads import VideoWorkload

for subject in map(load, sys.argv[1:]):
    for frames in (2, 8, 32):
        for _ in range(20):
            args, kwargs = VideoWorkload().inputs({"frames": frames}, seed=0, device="cpu")
            subject.function(*args, **kwargs)
"""


def seconds(*command: str) -> float:
    """The wall time of one whole process."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *command], cwd=ROOT, check=True, capture_output=True)
    return time.perf_counter() - start


def main(runs: int = 3) -> None:
    """Time both in turn and print the ratio of the smallest."""
    bare, whole = [], []
    for _ in range(runs):
        bare.append(seconds("-c", BARE, *SUBJECTS))
        whole.append(seconds("-m", "syncscope", "compare", *SUBJECTS, "--frames", "2", "8", "32"))
    print(f"bare {min(bare):.2f} s, compare {min(whole):.2f} s: {min(whole) / min(bare):.2f} times")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
