"""Copies: between host and device, and on the device."""

from __future__ import annotations

import torch
from torch import Tensor

from syncscope.simcuda import device as devices
from syncscope.simcuda.costs.table import Call, Charge, cost, device_copy, fetch, is_on, upload
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
    if is_on(target):
        pinned = PLACEMENT.is_pinned(source) and source.is_contiguous()
        return upload(source, not non_blocking, pinned)
    return fetch(source, not non_blocking)


def _on_device(target: Tensor, source: Tensor) -> Charge | None:
    """A memcpy where both sides are one dense block in the same order, a kernel elsewhere."""
    same = target.data_ptr() == source.data_ptr() and target.stride() == source.stride()
    if same or target.dtype != source.dtype or target.is_conj() != source.is_conj():
        return None
    return device_copy(source) if _same_dense_layout(target, source) else None


def _same_dense_layout(target: Tensor, source: Tensor) -> bool:
    if target.shape != source.shape and _squeezed(target)[0] != _squeezed(source)[0]:
        return False
    return _squeezed(target) == _squeezed(source) and _is_dense(target)


def _squeezed(tensor: Tensor) -> tuple[list[int], list[int]]:
    """Sizes and strides without the dimensions of size one, which don't matter."""
    dims = [d for d in range(tensor.dim()) if tensor.shape[d] != 1]
    return [tensor.shape[d] for d in dims], [tensor.stride(d) for d in dims]


def _is_dense(tensor: Tensor) -> bool:
    """Whether the elements lie side by side without gaps, in whatever order of dimensions."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


@cost(
    "clone",
    "_to_copy",
    why="a contiguous copy of the same dtype is a memcpy on the device; any other is a kernel",
    source="aten/src/ATen/native/TensorConversions.cpp, _to_copy; TensorFactories.cpp, clone; cuda/Copy.cu",
)
def copies(call: Call) -> Charge | None:
    """A memcpy, if the copy has the layout of the original."""
    source = call["self"]
    converts = "dtype" in call.kwargs and call["dtype"] not in (None, source.dtype)
    if converts or source.layout is not torch.strided:
        return None
    wanted = call["memory_format"]
    keeps = wanted in (None, torch.preserve_format) and _is_dense(source)
    return device_copy(source) if keeps or _has_format(source, wanted) else None


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
    """An upload for each host scalar that the user gave as a tensor."""
    given = [call[name] for name in ("self", "other") if call.on_host(name)]
    return [charge for one in given if _is_the_users(one) and (charge := upload(one))]


def _is_the_users(one: Tensor) -> bool:
    device = devices.active()
    if device is None or not device.frames:
        return True
    frame = device.frames[-1]
    return any(one is t for t in tensors(frame.args, frame.kwargs))


@cost(
    "any",
    "all",
    why="of a single element the answer is that element, copied",
    source="aten/src/ATen/native/ReduceOps.cpp, allany_impl",
)
def any_of_one(call: Call) -> Charge | None:
    """One memcpy for a single element."""
    return device_copy(call["self"]) if call["self"].numel() == 1 else None


@cost(
    "fill_.Tensor",
    why="the kernel takes the value from either side",
    source="aten/src/ATen/native/Fill.cpp, fill_out",
    mixes=True,
)
def fill(call: Call) -> None:
    """Nothing."""


@cost(
    "multinomial",
    why="sampling with replacement copies the distribution",
    source="aten/src/ATen/native/cuda/MultinomialKernel.cu, multinomial_with_replacement_kernel_impl",
)
def multinomial(call: Call) -> Charge | None:
    """Two memcpys with replacement."""
    return device_copy(call["self"], 2) if call["replacement"] else None


@cost(
    "index_copy.default",
    "index_add.default",
    "index_reduce.default",
    "scatter.src",
    "scatter.value",
    "scatter.reduce",
    "scatter.value_reduce",
    "scatter_add.default",
    "scatter_reduce.two",
    why="the form that returns a new tensor copies the old one first",
    source="aten/src/ATen/native/TensorAdvancedIndexing.cpp, index_copy_out, scatter_impl; cuda/Copy.cu",
    instead="the in-place form on a tensor that isn't needed any more",
)
def written_copy(call: Call) -> Charge | None:
    """One copy of the tensor that is written into."""
    return device_copy(call["self"]) if _is_dense(call["self"]) else None
