"""Device memory that leaves torch, and comes back: addresses, DLPack, the CUDA array interface."""

from __future__ import annotations

from collections.abc import Callable
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

_KDL_CUDA = 2  # ATen/dlpack.h
_LEFT = "device memory left torch by its address: what reads it isn't seen, and may wait"


def show() -> watched.Undo:
    """Let tensors that come back from a capsule be on the device, for watched threads."""
    return watched.method(torch._C, "_from_dlpack", from_capsule)


def from_capsule(own: Callable[..., Tensor], capsule: Any) -> Tensor:
    """The last step of ``torch.from_dlpack``: the memory tells where the tensor is."""
    result = own(capsule)
    if PLACEMENT.holds(result.data_ptr()):
        PLACEMENT.put(result)
    return result


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
    tensor, words = spoken.args[0], spoken.kwargs
    if not PLACEMENT.is_on(tensor):
        return spoken.run(*spoken.args, **words)
    if (words.get("dl_device") or (_KDL_CUDA,))[0] != _KDL_CUDA:
        return tensor.cpu().__dlpack__()
    _left(spoken)
    kept = {name: value for name, value in words.items() if name in ("max_version", "copy")}
    return spoken.run_unheard(tensor, **kept)


@spelling(Tensor.__cuda_array_interface__.__get__)  # type: ignore[attr-defined]
def cuda_array_interface(spoken: Spoken) -> Any:
    """``t.__cuda_array_interface__``: torch's own body makes it, and refuses a tensor on the host."""
    _left(spoken)
    return spoken.run(*spoken.args)
