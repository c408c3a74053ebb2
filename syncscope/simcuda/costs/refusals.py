"""Operators that PyTorch has on the CPU and not on CUDA."""

from __future__ import annotations

from syncscope.simcuda.costs.table import Call, cost, free


@cost(
    "histogram",
    "_histogramdd_bin_edges",
    "_histogramdd_from_bin_cts",
    "_histogramdd_from_bin_tensors",
    "_spdiags",
    "narrow_copy.out",
    "_copy_from",
    why="there is no such operator on CUDA",
    source="aten/src/ATen/native/native_functions.yaml, dispatch: CPU",
    figures="nothing: on CUDA it is a NotImplementedError",
    instead="torch.histc, or torch.bucketize and torch.bincount",
    mixes=True,
)
def missing(call: Call) -> None:
    """Nothing.

    Raises:
        NotImplementedError: always; as PyTorch words it.
    """
    raise NotImplementedError(
        f"Could not run '{call.operator.full_name}' with arguments from the 'CUDA' backend. "
        "This could be because the operator doesn't exist for this backend."
    )


@cost(
    "equal",
    why="there is no such operator for sparse tensors",
    source="aten/src/ATen/native/native_functions.yaml, equal",
    figures="nothing: it is a NotImplementedError",
    instead="compare indices() and values() of coalesced tensors",
    sparse=True,
)
def missing_for_sparse(call: Call) -> None:
    """Nothing.

    Raises:
        NotImplementedError: always; as PyTorch words it.
    """
    missing(call)


@cost(
    "sspaddmm",
    why="there is no such operator on CUDA",
    source="aten/src/ATen/native/sparse/cuda/SparseCUDATensorMath.cu, _sspaddmm_out_cuda",
    figures="nothing: on CUDA it is a RuntimeError",
    sparse=True,
)
def sspaddmm(call: Call) -> None:
    """Nothing.

    Raises:
        RuntimeError: always; as PyTorch words it.
    """
    raise RuntimeError("NYI: CUDA sspaddmm is not implemented")


cost(
    "logical_and.default",
    "logical_or.default",
    "logical_xor.default",
    why="the result is made where the first operand lives: no number of the host before the device's",
    source="aten/src/ATen/native/BinaryOps.cpp, comparison_op",
    figures="nothing: a RuntimeError for a tensor of the host before one of the device",
    instead="the tensor of the device first",
    enters=True,
)(free)
