"""``torch.cuda.set_sync_debug_mode``: a call that waits warns, or fails (c10/cuda/CUDAFunctions.cpp)."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from syncscope import sites

_TEXT = "called a synchronizing CUDA operation"
_MODES = {"default": 0, "warn": 1, "error": 2}
_mode = 0


def set_mode(debug_mode: int | str) -> None:
    """``torch.cuda.set_sync_debug_mode(mode)``: for the whole process.

    Raises:
        RuntimeError: there is no such mode; as PyTorch words it.
    """
    global _mode
    wanted = _MODES.get(debug_mode, -1) if isinstance(debug_mode, str) else int(debug_mode)
    if wanted not in _MODES.values():
        names = "`default`, `warn`, `error`" if isinstance(debug_mode, str) else "0, 1, 2"
        raise RuntimeError(f"invalid value of debug_mode, expected one of {names}")
    _mode = wanted


def mode() -> int:
    """``torch.cuda.get_sync_debug_mode()``."""
    return _mode


def tell(waits: int) -> None:
    """Say that a call is to wait ``waits`` times, if that was asked for.

    Raises:
        RuntimeError: the mode is "error"; as PyTorch words it.
    """
    if not _mode or not waits:
        return
    if _mode == _MODES["error"]:
        raise RuntimeError(_TEXT)
    for _ in range(waits):
        warnings.warn(_TEXT, UserWarning, stacklevel=_depth_of_user())


def _depth_of_user() -> int:
    """How far up the user's line is, seen from the caller."""
    depth, frame = 1, sys._getframe(1)
    while frame.f_back is not None and not sites.is_users(frame.f_code):
        depth, frame = depth + 1, frame.f_back
    return depth


ANSWERS: dict[str, Any] = {"set_sync_debug_mode": set_mode, "get_sync_debug_mode": mode}
"""What ``torch.cuda`` says."""
