"""What the libraries of a GPU say of themselves."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor

from syncscope import sites
from syncscope.simcuda.placement import PLACEMENT

CUDA = "13.0"
_CUDNN, _NCCL = 91300, (2, 27, 7)


def _is_asked_by_user() -> bool:
    """Torch itself asks what C functions its build really has."""
    return sites.is_users(sys._getframe(2).f_code)


def is_built() -> bool:
    """``torch.backends.cuda.is_built()``."""
    return _is_asked_by_user()


def has_cudnn() -> bool:
    """``torch.backends.cudnn.is_available()``."""
    return _is_asked_by_user()


def cudnn_version() -> int | None:
    """``torch.backends.cudnn.version()``."""
    return _CUDNN if _is_asked_by_user() else None


def cudnn_takes(tensor: Tensor) -> bool:
    """``torch.backends.cudnn.is_acceptable(tensor)``."""
    wanted = PLACEMENT.is_on(tensor) and tensor.dtype in (torch.float16, torch.float32, torch.float64)
    return wanted and _is_asked_by_user()


VERSION: dict[str, Any] = {"cuda": CUDA}
"""What ``torch.version`` says."""

CUDNN: dict[str, Any] = {
    "is_available": has_cudnn,
    "version": cudnn_version,
    "is_acceptable": cudnn_takes,
}
"""What ``torch.backends.cudnn`` says."""

NCCL: dict[str, Any] = {"version": lambda: _NCCL, "is_available": lambda tensors: False}
"""What ``torch.cuda.nccl`` says: there is nobody to speak to."""
