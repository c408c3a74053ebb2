"""Which machine this is, in words that tell unlike ones apart."""

from __future__ import annotations

import platform

from syncscope.bench.record import Device, Machine
from syncscope.comparison.environment import processor


def this_machine(device: Device) -> Machine:
    """The machine that runs the rows on ``device``."""
    import torch

    name = torch.cuda.get_device_name() if device == "cuda" else processor()
    return Machine(platform.node(), device, name, str(torch.__version__))
