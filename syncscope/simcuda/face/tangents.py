"""Forward-mode AD: functions whose formula makes a tangent of zeros for a number of the host."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.reasons import reason

_ZEROS = reason(
    "torch.maximum",
    "torch.minimum",
    "torch.fmax",
    "torch.fmin",
    "torch.where",
    why="in forward mode a tangent of zeros is made for the 0-dim tensor of the host, and may be copied to "
    "the device, which the host waits for",
    source="tools/autograd/derivatives.yaml, maximum, minimum, fmax, fmin, where",
    figures="1 unknown in forward-mode AD, where a 0-dim tensor of the host stands beside device tensors",
    instead="make the number a tensor on the device, once",
)


@spelling(
    torch.maximum,
    Tensor.maximum,
    torch.minimum,
    Tensor.minimum,
    torch.fmax,
    Tensor.fmax,
    torch.fmin,
    Tensor.fmin,
    torch.where,
    Tensor.where,
)
def selecting(spoken: Spoken) -> Any:
    """A choice between two tensors, element by element."""
    if forward_ad._current_level >= 0 and spoken.inputs_on_device and any(map(_is_of_the_host, spoken.args)):
        spoken.device.charge([Charge("unknown")], why=_ZEROS.why)
    return spoken.plainly()


def _is_of_the_host(value: object) -> bool:
    return isinstance(value, Tensor) and value.dim() == 0 and not PLACEMENT.is_on(value)
