"""Reductions and scans: of a single element they are a copy."""

from __future__ import annotations

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import charged, clone, is_dense
from syncscope.simcuda.costs.table import Call, cost, device_copy, dtype_name, read


@cost(
    "any",
    "all",
    why="of a single element the answer is that element, copied",
    source="aten/src/ATen/native/ReduceOps.cpp, allany_impl",
    figures="1 DtoD for a single element; nothing otherwise",
)
def any_of_one(call: Call) -> Charge | None:
    """One memcpy for a single element."""
    return device_copy(call["self"]) if call["self"].numel() == 1 else None


@cost(
    "cumsum",
    "cumprod",
    "cummax",
    "cummin",
    "logcumsumexp",
    "max.dim",
    "min.dim",
    "kthvalue",
    why="of a 0-dim tensor the result is that element, copied",
    source="aten/src/ATen/native/ReduceOps.cpp, impl_func_cum_ops; TensorCompare.cpp, max_out; "
    "cuda/Sorting.cpp, kthvalue_out_impl_cuda",
    figures="1 DtoD for a 0-dim tensor that keeps its dtype; nothing otherwise",
)
def along_a_dimension(call: Call) -> Charge | None:
    """One memcpy of a 0-dim tensor."""
    converts = "dtype" in call.operator.arguments and call["dtype"] not in (None, call["self"].dtype)
    return device_copy(call["self"]) if call["self"].dim() == 0 and not converts else None


_FUSED_MODE = 2048
"""Longest slice whose mode one kernel finds (cuda/TensorModeKernel.cpp, mode_kernel_impl)."""


@cost(
    why="of one element the mode is that element, copied; in a long slice Thrust finds it, step by step",
    source="aten/src/ATen/native/cuda/TensorModeKernel.cpp, mode_kernel_impl; TensorModeKernel.cu, ModeImpl",
    figures="1 DtoD for slices of one element; 6 DtoH, 2 HtoD, 14 waits or more for each slice of more than "
    "2048 elements, and 1 DtoD; nothing otherwise",
    instead="shorter slices; or bincount with a minlength, and argmax",
)
def mode(call: Call) -> list[Charge]:
    """One memcpy of single elements; in a long slice, the answers of Thrust."""
    values = call["self"]
    length = values.shape[call["dim"]] if values.dim() else 1
    if length > _FUSED_MODE:
        found = Charge("size_read", dtoh=6, htod=2, waits=14, shape=(length,), dtype=dtype_name(values))
        return [*charged(device_copy(values)), *[found] * (values.numel() // length)]
    return charged(device_copy(values) if length == 1 and is_dense(values) else None)


@cost(
    "equal",
    why="the host learns whether two tensors are equal",
    source="aten/src/ATen/native/cuda/Equal.cpp, cuda_equal; ReduceOps.cpp, allany_impl",
    figures="1 DtoH, 1 wait; 1 DtoD more for a single element; nothing where the shapes differ, or "
    "the memory is the same",
    instead="(a == b).all() stays on the device",
)
def equal(call: Call) -> list[Charge]:
    """One answer, where shapes and storages don't give it already."""
    mine, other = call["self"], call["other"]
    same = mine.data_ptr() == other.data_ptr() and mine.stride() == other.stride()
    if mine.shape != other.shape or not mine.numel() or (same and mine.dtype == other.dtype):
        return []
    why = "of a single element the answer is that element, copied"
    return charged(device_copy(mine, why=why) if mine.numel() == 1 else None, read(mine))


@cost(
    "pow.Tensor_Scalar",
    why="the first power is a copy",
    source="aten/src/ATen/native/Pow.cpp, pow_Tensor_Scalar_out",
    figures="1 DtoD for the exponent 1, if the tensor is dense, in whatever order; nothing otherwise",
)
def first_power(call: Call) -> Charge | None:
    """One memcpy for the exponent 1."""
    return clone(call["self"]) if call["exponent"] == 1 else None


@cost(
    "flip",
    why="along no dimension it is a copy",
    source="aten/src/ATen/native/TensorTransformations.cpp, flip",
    figures="1 DtoD where nothing is turned round; nothing otherwise",
)
def flip(call: Call) -> Charge | None:
    """One memcpy where nothing is turned round."""
    values = call["self"]
    turned = any(values.dim() and values.shape[d] > 1 for d in call["dims"])
    return None if turned else clone(values)
