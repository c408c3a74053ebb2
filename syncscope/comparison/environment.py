"""The machine and the versions that figures are made with."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

from syncscope.comparison.results import Environment


def environment(device: str) -> Environment:
    """Describe this machine; ``device`` is ``cuda`` where a GPU runs the calls, here or elsewhere."""
    import torch

    on_gpu = device == "cuda" and torch.cuda.is_available()
    return Environment(
        python=platform.python_version(),
        torch=str(torch.__version__),
        platform=f"{platform.system()} {platform.machine()}",
        device=device,
        gpu=torch.cuda.get_device_name() if on_gpu else "",
        driver=_said("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader") if on_gpu else "",
        cuda=(torch.version.cuda or torch.version.hip or "") if on_gpu else "",
        commit=commit(),
        dirty=bool(_said("git", "status", "--porcelain", "--untracked-files=no")),
        threads=torch.get_num_threads(),
        processor=processor(),
    )


def processor() -> str:
    """The processor's name as Linux tells it; elsewhere as Python does."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()


def commit() -> str:
    """The commit that the current folder's repository is at; nothing where there is none."""
    return _said("git", "rev-parse", "--short", "HEAD")


def _said(*command: str) -> str:
    """The first line that a program prints; nothing where there is no such program, or it fails."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, cwd=Path.cwd(), timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip().partition("\n")[0] if run.returncode == 0 else ""
