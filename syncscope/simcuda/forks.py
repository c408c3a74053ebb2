"""A process that was forked from one that had used the device: CUDA refuses to work in it."""

from __future__ import annotations

import os

from syncscope.simcuda.placement import PLACEMENT

_bad = False


def is_bad() -> bool:
    """Whether this process is such a one."""
    return _bad


def refuse_bad() -> None:
    """Refuse to reach the device from there.

    Raises:
        RuntimeError: this process is such a one; as PyTorch words it (torch/cuda/__init__.py, _lazy_init).
    """
    if _bad:
        raise RuntimeError(
            "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use "
            "the 'spawn' start method"
        )


def refuse_work() -> None:
    """Refuse to compute with tensors that the process has from the one that it was forked from.

    Raises:
        RuntimeError: this process is such a one; as CUDA words it.
    """
    if _bad:
        raise RuntimeError("CUDA error: initialization error")


def _note() -> None:
    global _bad
    _bad = PLACEMENT.was_used()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_note)
