"""Device memory that leaves torch, and comes back: addresses, DLPack, the CUDA array interface."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope import sites
from syncscope.simcuda import watched
from syncscope.simcuda.costs.table import Charge
from syncscope.simcuda.face import Spoken
from syncscope.simcuda.frames import Frame
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.spellings import spelling

_LEFT = "device memory left torch by its address: what reads it isn't seen, and may wait"


def show() -> watched.Undo:
    """Let tensors that come back from a capsule be on the device, for watched threads."""
    return watched.module(torch._C, {})


def _left(spoken: Spoken) -> None:
    """Say that the memory is out of sight, unless torch itself has asked."""
    if PLACEMENT.is_on(spoken.args[0]) and _is_users(spoken.frame):
        spoken.device.charge([Charge("unknown")], why=_LEFT)


def _is_users(frame: Frame) -> bool:
    return frame.caller is not None and sites.is_users(frame.caller.f_code)


@spelling(Tensor.data_ptr)
def data_ptr(spoken: Spoken) -> Any:
    """``t.data_ptr()``."""
    _left(spoken)
    return spoken.run_unheard(*spoken.args)


@spelling(Tensor.__dlpack__)
def dlpack(spoken: Spoken) -> Any:
    """``t.__dlpack__()``: a capsule, which torch's own ``from_dlpack`` brings back."""
    _left(spoken)
    return spoken.run_unheard(spoken.args[0])


@spelling(Tensor.__cuda_array_interface__.__get__)  # type: ignore[attr-defined]
def cuda_array_interface(spoken: Spoken) -> Any:
    """``t.__cuda_array_interface__``.

    Raises:
        AttributeError: the tensor is on the host; as PyTorch words it.
    """
    _left(spoken)
    return spoken.run(*spoken.args)
