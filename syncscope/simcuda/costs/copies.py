"""Copies: between host and device, and on the device."""

from __future__ import annotations

import torch
from torch import Tensor

from syncscope.simcuda import watch
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import is_dense, is_moved_directly, same_dense_layout
from syncscope.simcuda.costs.table import Call, cost, device_copy, dtype_name, fetch, is_on, read, upload
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT

TO_HOST = "the host obtains the values, and waits for all that was launched before"
_TO_HOST_LATER = "values go to the host, and PyTorch doesn't wait: they are valid after a synchronize only"
TO_DEVICE = "values of the host go to the device, and the host waits until they are there"
_TO_DEVICE_LATER = "values of the host go to the device, and PyTorch doesn't wait"
_NUMBER = "the number is uploaded as a 0-dim tensor; x[i].fill_(number) takes it as it is"
_DENSE = "a copy on the device between dense tensors of one dtype and order is a memcpy"


@cost(
    "copy_",
    why="values go from one tensor to another: between host and device the host waits unless non_blocking",
    source="aten/src/ATen/native/cuda/Copy.cu, copy_kernel_cuda, copy_device_to_device",
    figures="1 DtoH, 1 wait to the host; 1 HtoD, 1 wait to the device; 0 waits with "
    "non_blocking=True: of pageable memory the driver may wait; 1 DtoD on the device where both are "
    "dense, in one order and of one dtype; nothing where empty",
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
    host = target if is_on(source) else source
    pinned = _is_pinned(host) and _is_copied_directly(target, source, host)
    return _across(source, not non_blocking, pinned, _number_written(source))


def _is_pinned(host: Tensor) -> bool:
    """Whether a tensor of the host is in page-locked memory, on a machine with a GPU really."""
    device = watch.active()
    if device is None or device.simulated:
        return PLACEMENT.is_pinned(host)
    with torch._C.DisableTorchFunction(), unheard():
        return host.is_pinned()


def _is_copied_directly(target: Tensor, source: Tensor, host: Tensor) -> bool:
    """Whether the ``host``'s side of a copy needs no temporary, which would be pageable.

    Numbers are converted on the device, where nobody waits. (Copy.cu, copy_requires_temporaries.)
    """
    same = target.dtype == source.dtype and same_dense_layout(target, source)
    return same or (host.is_contiguous() and host.shape == target.shape)


def _across(source: Tensor, waits: bool, pinned: bool, why: str = "") -> Charge | None:
    """A copy to the other side."""
    if is_on(source):
        return fetch(source, waits, pinned, reason_of(to_device=False, waits=waits))
    return upload(source, waits, pinned, why or reason_of(to_device=True, waits=waits))


def reason_of(to_device: bool, waits: bool) -> str:
    """Why a copy between host and device happens, and whether PyTorch waits for it."""
    if waits:
        return TO_DEVICE if to_device else TO_HOST
    return _TO_DEVICE_LATER if to_device else _TO_HOST_LATER


def _number_written(source: Tensor) -> str:
    """The reason of ``x[i] = 3``, for which the Python binding made ``source``; empty where a user has."""
    device = watch.active()
    if device is None or not device.frames or device.frames[-1].spelling != "Tensor.__setitem__":
        return ""
    return "" if _is_the_users(source) else _NUMBER


def _on_device(target: Tensor, source: Tensor) -> Charge | None:
    """A memcpy where both sides are one dense block in the same order, a kernel elsewhere."""
    same = target.data_ptr() == source.data_ptr() and target.stride() == source.stride()
    if same or target.dtype != source.dtype or target.is_conj() != source.is_conj():
        return None
    return device_copy(source, why=_DENSE) if same_dense_layout(target, source) else None


@cost(
    "clone",
    "_to_copy",
    why="a contiguous copy of the same dtype is a memcpy on the device; any other is a kernel",
    source="aten/src/ATen/native/TensorConversions.cpp, _to_copy; TensorFactories.cpp, clone; cuda/Copy.cu",
    figures="1 DtoD where a dense tensor keeps its dtype and order; nothing for any other on the "
    "device: that is a kernel; 1 DtoH, 1 wait to the host; 1 HtoD, 1 wait to the device; 0 "
    "waits with non_blocking=True",
    instead="to the host: fetch once, after the loop; to the device: a pinned source and non_blocking=True",
)
def copies(call: Call) -> Charge | None:
    """A memcpy, if the copy has the layout of the original; on a real GPU, a crossing too."""
    source = call["self"]
    if _has_no_bytes(call):
        return None
    if _leaves_its_side(call) or not is_on(source):
        # To the host it goes into pinned memory (TensorConversions.cpp, _to_copy).
        direct = is_moved_directly(source, call["dtype"] or source.dtype, call["memory_format"])
        pinned = is_on(source) or (_is_pinned(source) and direct)
        return _across(source, not call["non_blocking"], pinned)
    converts = "dtype" in call.kwargs and call["dtype"] not in (None, source.dtype)
    lazy = source.is_conj() or source.is_neg()
    if converts or lazy or source.layout is not torch.strided:
        return None
    if source.is_nested:
        return Charge("copy", dtod=1, dtype=dtype_name(source))
    wanted = call["memory_format"]
    keeps = wanted in (None, torch.preserve_format) and is_dense(source)
    return device_copy(source) if keeps or _has_format(source, wanted) else None


def _has_no_bytes(call: Call) -> bool:
    """Whether a meta tensor is copied or made, or the original is one of autograd's zeros, never made."""
    source, wanted = call["self"], call["device"] if "device" in call.operator.arguments else None
    return source.is_meta or source._is_zerotensor() or (wanted is not None and wanted.type == "meta")


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
    figures="1 HtoD, 1 wait for each 0-dim tensor of the host, and for a Python number beside one; "
    "nothing for other Python numbers",
    instead="a Python number, or a tensor on the device",
    mixes=True,
)
def where(call: Call) -> list[Charge]:
    """An upload for each tensor of one element that lives on the host.

    Raises:
        RuntimeError: a larger host tensor stands beside device tensors; as PyTorch words it.
    """
    names = ("condition", "self", "other")
    given = [call[name] for i, name in enumerate(names) if call.on_host(name) and i not in call.numbers]
    if any(one.dim() > 0 for one in given):
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            "cuda:0 and cpu! (in torch.where)"
        )
    return [charge for one in given if (charge := upload(one))]


def _is_the_users(one: Tensor) -> bool:
    device = watch.active()
    if device is None or not device.frames:
        return True
    return device.frames[-1].was_given(one)


_FILLS_HOST = "a tensor of the host is filled with a number of the device, which the host has to read"


@cost(
    "fill_.Tensor",
    why="a host tensor is filled with a number that the host reads; on the device one element is copied",
    source="aten/src/ATen/native/Fill.cpp, fill_out, fill_",
    figures="1 DtoH, 1 wait where a tensor of the host is filled; 1 DtoD for one element on the "
    "device; nothing for more",
    instead="a Python number, or a target on the device",
    mixes=True,
)
def fill(call: Call) -> Charge | None:
    """One read where a host tensor takes a device value."""
    target, value = call["self"], call["value"]
    if not is_on(value):
        return None
    if not is_on(target):
        return read(value, why=_FILLS_HOST) if target.numel() else None
    return copied(target, value.expand(target.shape), False) if target.numel() == 1 else None
