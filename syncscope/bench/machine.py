"""Which machine this is, in words that tell unlike ones apart."""

from __future__ import annotations

import platform
from pathlib import Path

from syncscope.bench.record import Device, Machine


def this_machine(device: Device) -> Machine:
    """The machine that runs the rows on ``device``."""
    import torch

    name = torch.cuda.get_device_name() if device == "cuda" else _cpu()
    return Machine(platform.node(), device, name, str(torch.__version__))


def _cpu() -> str:
    """The processor's name as Linux tells it; elsewhere as Python does."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, "") or platform.processor() or platform.machine()
