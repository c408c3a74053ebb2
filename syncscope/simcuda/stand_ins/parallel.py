"""What ``torch.nn.DataParallel`` does with one GPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import watched


def show() -> watched.Undo:
    """Let a CPU build scatter, which it can't itself."""
    if hasattr(torch._C, "_scatter"):
        return lambda: None
    return watched.attribute(torch._C, "_scatter", scatter)


def scatter(tensor: Tensor, devices: Any, chunk_sizes: Any, dim: int, streams: Any) -> tuple[Tensor]:
    """One piece for the one GPU (csrc/cuda/comm.cpp, scatter)."""
    return (tensor.to("cuda", non_blocking=True),)
