"""Which copies on the device are one memcpy: those between two dense blocks in the same order."""

from __future__ import annotations

import torch
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.table import device_copy

VERSION = tuple(int(part) for part in torch.__version__.split(".")[:2])
"""The running torch, as ``(2, 13)``: some costs differ between versions."""


def same_dense_layout(target: Tensor, source: Tensor) -> bool:
    """Whether copying ``source`` to ``target`` moves one dense block in the order it is in."""
    return squeezed(target) == squeezed(source) and is_dense(target)


def is_moved_directly(source: Tensor, dtype: torch.dtype, memory_format: torch.memory_format | None) -> bool:
    """Whether ``to`` moves host memory without a temporary, which would be pageable.

    The copy keeps a dense source's order unless it is asked for another one. (Copy.cu,
    copy_requires_temporaries; TensorConversions.cpp, _to_copy.)
    """
    kept = memory_format in (None, torch.preserve_format)
    return bool(source.is_contiguous()) or (kept and dtype == source.dtype and is_dense(source))


def squeezed(tensor: Tensor) -> tuple[list[int], list[int]]:
    """Sizes and strides without the dimensions of size one, which don't matter."""
    dims = [d for d in range(tensor.dim()) if tensor.shape[d] != 1]
    return [tensor.shape[d] for d in dims], [tensor.stride(d) for d in dims]


def is_dense(tensor: Tensor) -> bool:
    """Whether the elements lie side by side without gaps, in whatever order of dimensions."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


def overlap(written: Tensor, source: Tensor) -> bool:
    """Whether two dense blocks share memory (MemoryOverlap.cpp, get_overlap_status)."""
    if written is source:
        return True
    return (
        bool(written.numel() and source.numel())
        and is_dense(written)
        and is_dense(source)
        and written.data_ptr() < source.data_ptr() + source.nbytes
        and source.data_ptr() < written.data_ptr() + written.nbytes
    )


def by_columns(tensor: Tensor) -> bool:
    """Whether a matrix, or a batch of them, is stored column by column, as LAPACK wants it."""
    return tensor.dim() < 2 or bool(tensor.transpose(-2, -1).is_contiguous())


INTO_COLUMNS = "the matrix is copied into column order: a memcpy where it is in that order already"


def copy_to_columns(tensor: Tensor) -> Charge | None:
    """The copy of a matrix into column order: a memcpy where it is in that order, else a kernel."""
    return device_copy(tensor, why=INTO_COLUMNS) if by_columns(tensor) else None


def clone(tensor: Tensor, why: str = "") -> Charge | None:
    """A copy that keeps the layout: a memcpy where the tensor is dense."""
    dense = tensor.layout is torch.strided and is_dense(tensor)
    return device_copy(tensor, why=why) if dense else None


def charged(*charges: Charge | None) -> list[Charge]:
    """The charges among some that may be none."""
    return [charge for charge in charges if charge is not None]
