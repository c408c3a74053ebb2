"""Copies: between host and device, and on the device."""

from __future__ import annotations

import torch
from torch import Tensor

from syncscope.simcuda import watch
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import is_dense, same_dense_layout
from syncscope.simcuda.costs.table import Call, cost, device_copy, dtype_name, fetch, is_on, read, upload
from syncscope.simcuda.frames import tensors
from syncscope.simcuda.placement import PLACEMENT


@cost(
    "copy_",
    why="values go from one tensor to another: between host and device the host waits unless non_blocking",
    source="aten/src/ATen/native/cuda/Copy.cu, copy_kernel_cuda, copy_device_to_device",
    instead="a pinned source and non_blocking=True",
    mixes=True,
)
def copy_(call: Call) -> Charge | None:
    """By where the two live."""
    return copied(call["self"], call["src"], bool(call["non_blocking"]))


def copied(target: Tensor, source: Tensor, non_blocking: bool) -> Charge | None:
    """What one copy costs."""
    if is_on(target) and is_on(source):
        return _on_device(target, source)
    return _across(source, not non_blocking)


def _across(source: Tensor, waits: bool) -> Charge | None:
    """A copy to the other side."""
    if is_on(source):
        return fetch(source, waits)
    return upload(source, waits, pinned=PLACEMENT.is_pinned(source) and source.is_contiguous())


def _on_device(target: Tensor, source: Tensor) -> Charge | None:
    """A memcpy where both sides are one dense block in the same order, a kernel elsewhere."""
    same = target.data_ptr() == source.data_ptr() and target.stride() == source.stride()
    if same or target.dtype != source.dtype or target.is_conj() != source.is_conj():
        return None
    return device_copy(source) if same_dense_layout(target, source) else None


@cost(
    "clone",
    "_to_copy",
    why="a contiguous copy of the same dtype is a memcpy on the device; any other is a kernel",
    source="aten/src/ATen/native/TensorConversions.cpp, _to_copy; TensorFactories.cpp, clone; cuda/Copy.cu",
)
def copies(call: Call) -> Charge | None:
    """A memcpy, if the copy has the layout of the original; on a real GPU, a crossing too."""
    source = call["self"]
    if _leaves_its_side(call):
        return _across(source, not call["non_blocking"])
    converts = "dtype" in call.kwargs and call["dtype"] not in (None, source.dtype)
    if converts or source.layout is not torch.strided:
        return None
    if source.is_nested:
        return Charge("copy", dtod=1, dtype=dtype_name(source))
    wanted = call["memory_format"]
    keeps = wanted in (None, torch.preserve_format) and is_dense(source)
    return device_copy(source) if keeps or _has_format(source, wanted) else None


def _leaves_its_side(call: Call) -> bool:
    """Whether a real GPU's tensor goes to the host, or the reverse: on a simulated one both are the CPU's."""
    wanted = call["device"] if "device" in call.operator.arguments else None
    return wanted is not None and (wanted.type == "cuda") != bool(call["self"].is_cuda)


def _has_format(source: Tensor, wanted: torch.memory_format | None) -> bool:
    if wanted in (None, torch.preserve_format):
        return False
    return bool(source.is_contiguous(memory_format=wanted))


@cost(
    "where.self",
    why="a 0-dim CPU operand of where is copied to the device first",
    source="aten/src/ATen/native/TensorCompare.cpp, where_self_out",
    instead="a Python number, or a tensor on the device",
    mixes=True,
)
def where(call: Call) -> list[Charge]:
    """An upload for each host scalar that the user gave as a tensor.

    Raises:
        RuntimeError: a larger host tensor stands beside device tensors; as PyTorch words it.
    """
    given = [call[name] for name in ("condition", "self", "other") if call.on_host(name)]
    if any(one.dim() > 0 for one in given):
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            "cuda:0 and cpu! (in torch.where)"
        )
    return [charge for one in given if _is_the_users(one) and (charge := upload(one))]


def _is_the_users(one: Tensor) -> bool:
    device = watch.active()
    if device is None or not device.frames:
        return True
    frame = device.frames[-1]
    return any(one is t for t in tensors(frame.args, frame.kwargs))


@cost(
    "fill_.Tensor",
    why="a host tensor is filled with a number that the host reads; on the device one element is copied",
    source="aten/src/ATen/native/Fill.cpp, fill_out, fill_",
    mixes=True,
)
def fill(call: Call) -> Charge | None:
    """One read where a host tensor takes a device value."""
    target, value = call["self"], call["value"]
    if not is_on(value):
        return None
    if not is_on(target):
        return read(value) if target.numel() else None
    return copied(target, value.expand(target.shape), False) if target.numel() == 1 else None
