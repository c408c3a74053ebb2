"""Forward-mode AD of powers: a number that the formula makes beside an exponent of the host."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import tangents
from syncscope.simcuda.costs import table
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.reasons import reason

_ZERO = reason(
    "torch.pow",
    "torch.float_power",
    why="in forward mode the tangent of an exponent of the host is made of a zero of the host, which goes up",
    source="torch/csrc/autograd/FunctionsManual.cpp, pow_backward_exponent",
    figures="2 HtoD, 2 waits in forward-mode AD for an exponent in a 0-dim tensor of the host; nothing for a "
    "Python number",
    instead="a Python number as the exponent",
)


@spelling(
    torch.pow,
    torch.float_power,
    Tensor.pow,
    Tensor.pow_,
    Tensor.float_power,
    Tensor.float_power_,
)
def power(spoken: Spoken) -> Any:
    """``x ** exponent``."""
    base, exponent = (*spoken.args, spoken.kwargs.get("exponent"))[:2]
    result = spoken.plainly()
    if tangents.are_taken(spoken) and table.is_on(base) and _is_of_the_host(exponent):
        charge = table.upload(exponent)
        spoken.device.charge([charge] if charge else [], op="aten::where.self", why=_ZERO.why)
    return result


def _is_of_the_host(value: object) -> bool:
    return isinstance(value, Tensor) and not table.is_on(value)
