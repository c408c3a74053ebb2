"""Which machine this is, in words that tell unlike ones apart."""

from __future__ import annotations

import platform

from syncscope.bench.record import Device, Machine
from syncscope.comparison.environment import processor


def this_machine(device: Device) -> Machine:
    """This machine as one that runs rows on ``device``, or as the one of a cluster that began."""
    import torch

    name = processor()
    if device == "cuda":
        name = torch.cuda.get_device_name() if torch.cuda.is_available() else "GPUs of a cluster"
    return Machine(platform.node(), device, name, str(torch.__version__))
