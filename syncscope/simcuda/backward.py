"""Backward functions: where the zeros live that stand for a 0-dim value which the forward was given.

They are made with the options of the value, which say CPU of a simulated device as well. The value of
an indexed write mostly is a number, which is the host's; what a node was given otherwise is noted on it.
Source: tools/autograd/derivatives.yaml, index_put and its kind, copysign.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.operators import Operator
from syncscope.simcuda.placement import PLACEMENT

_ON_DEVICE = "syncscope: the value is on the device"
_INDEXED_WRITES = (
    "IndexPutBackward0",
    "IndexPutImplBackward0",
    "UnsafeIndexPutBackward0",
    "torch::autograd::CopySlices",
)


def note(result: object, value: object) -> None:
    """Keep on the node that made ``result`` where its 0-dim ``value`` lives."""
    if isinstance(value, Tensor) and value.dim() == 0 and isinstance(result, Tensor):
        node: Any = result.grad_fn
        if node is not None:
            node.metadata[_ON_DEVICE] = PLACEMENT.is_on(value)


def are_of_the_host(op: Operator, args: tuple[Any, ...]) -> bool:
    """Whether ``op`` makes the zeros of a value that lives on the host."""
    if op.name != "zeros" or args[0]:
        return False
    node: Any = torch._C._current_autograd_node()
    if node is None:
        return False
    return not node.metadata.get(_ON_DEVICE, node.name() not in _INDEXED_WRITES)
