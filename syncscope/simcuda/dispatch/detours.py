"""Roads that PyTorch takes on the CPU and not on CUDA: what is heard on them is charged to nobody.

Some composites, and some backward functions, ask on which device their tensors are, and the simulated
device's tensors answer "CPU" to C++. What follows then has no counterpart on CUDA.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from syncscope.simcuda.frames import Frame, called

_COMPOSITES: dict[object, frozenset[str]] = {
    function: frozenset({"_local_scalar_dense", "all", "equal"})
    for function in (
        torch.quantile,
        torch.nanquantile,
        torch.Tensor.quantile,
        torch.Tensor.nanquantile,
    )
}
"""quantile checks that q lies in [0, 1] (Sorting.cpp, quantile_checks)."""

_COMPOSITES |= dict.fromkeys((torch.gru, torch.gru_cell), frozenset({"clone"}))
"""A GRU cell is one kernel on CUDA; on the CPU it is made of parts (RNN.cpp, GRUCell)."""

_NODES = ("MaxBackward1", "MinBackward1", "MedianBackward0", "NanmedianBackward0")
"""Backward functions that read a value to choose a mask (FunctionsManual.cpp, evenly_distribute_backward)."""


def only_on_cpu(operator: str, frames: Sequence[Frame]) -> bool:
    """Whether ``operator`` runs now only because the tensors are said to be on the CPU."""
    frame = called(frames)
    if frame is not None and operator in _COMPOSITES.get(frame.func, ()):
        return True
    node = torch._C._current_autograd_node()
    return node is not None and node.name() in _NODES
