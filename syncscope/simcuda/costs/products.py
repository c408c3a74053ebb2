"""Products to which something is added."""

from __future__ import annotations

import torch
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import VERSION, clone
from syncscope.simcuda.costs.table import Call, cost, fetch


@cost(
    "addmm",
    "addmv",
    "addbmm",
    "baddbmm",
    why="the matrix that is added is copied into the result first",
    source="aten/src/ATen/native/cuda/Blas.cpp, addmm_out_cuda_impl, addmv_out_cuda, baddbmm_out_cuda_impl",
    figures="1 DtoD where what is added is contiguous and of the result's shape, but not for addmm in "
    "half precision; nothing otherwise",
)
def added(call: Call) -> Charge | None:
    """A memcpy of an input of the result's own shape and order, in single or double precision."""
    base = call["self"]
    left, right = call[call.operator.arguments[1]], call[call.operator.arguments[2]]
    if left.dim() + right.dim() < 3:
        return None
    refuse_integers(call.operator.name, left, right)
    shape = _product_shape(call.operator.name, left, right)
    if call["beta"] == 0 or _uses_lt(call, base):
        return None
    alike = tuple(base.shape) == shape or base.numel() == 1 == torch.Size(shape).numel()
    return clone(base) if alike and base.is_contiguous() else None


@cost(
    "mm",
    "mv",
    "dot",
    "vdot",
    "bmm",
    why="one kernel computes the product",
    source="aten/src/ATen/native/cuda/Blas.cpp, addmm_out_cuda_impl, addmv_out_cuda, dot_cuda",
    figures="nothing: of integers it is a NotImplementedError",
)
def product(call: Call) -> None:
    """Nothing."""
    first, second = call.operator.arguments[:2]
    refuse_integers(call.operator.name, call[first], call[second])


_KERNELS = {
    "mm": "addmm_cuda",
    "addmm": "addmm_cuda",
    "mv": "addmv_impl_cuda",
    "addmv": "addmv_impl_cuda",
    "dot": "dot",
    "vdot": "vdot",
}
"""The name by which each kernel says that it doesn't take a dtype."""


def refuse_integers(operator: str, left: Tensor, right: Tensor) -> None:
    """Products of integers exist on the CPU only; those of batches have a kernel since 2.14.

    Raises:
        NotImplementedError: as PyTorch words it (AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES).
    """
    kernel = _KERNELS.get(operator, "baddbmm_cuda" if VERSION < (2, 14) else "")
    floating = left.is_floating_point() or left.is_complex() or left.dtype != right.dtype
    if kernel and not floating and left.numel() and right.numel():
        kind = left.type().removeprefix("torch.").removesuffix("Tensor")
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind}'")


def _product_shape(name: str, left: Tensor, right: Tensor) -> tuple[int, ...]:
    if name == "addmv":
        return (left.shape[0],)
    if name == "baddbmm":
        return (left.shape[0], left.shape[1], right.shape[2])
    return (left.shape[-2], right.shape[-1])


def _uses_lt(call: Call, base: Tensor) -> bool:
    """CuBLASLt takes the bias of a half-precision product as an operand of its own (Blas.cpp)."""
    return call.operator.name == "addmm" and base.dtype in (torch.float16, torch.bfloat16)


@cost(
    "_grouped_mm",
    why="where the groups end is fetched, to multiply them one by one",
    source="aten/src/ATen/native/cuda/GroupedBlas.cpp, _grouped_mm_cuda; GroupedMMUtils.h, "
    "_grouped_mm_fallback",
    figures="1 DtoH, 1 wait with offs, in any precision but bfloat16; nothing otherwise",
    instead="bfloat16, which one kernel multiplies on compute capability 9.0 and 10.0; other GPUs fetch all "
    "the same",
    versions="PyTorch 2.8 and older refuse what isn't bfloat16",
)
def grouped(call: Call) -> Charge | None:
    """The offsets, unless one kernel takes all groups."""
    dtypes = {call["self"].dtype, call["mat2"].dtype, call["out_dtype"] or call["self"].dtype}
    if call["offs"] is None or dtypes == {torch.bfloat16}:
        return None
    return fetch(call["offs"])
