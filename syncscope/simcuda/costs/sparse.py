"""Sparse tensors: coalescing waits between the steps of Thrust, and learns how many entries are distinct."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeGuard

import torch
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import charged, clone
from syncscope.simcuda.costs.table import Call, cost, device_copy, size_read

_WAITS_OF_COALESCING = 5
COALESCES = (
    "uncoalesced entries are sorted and added up: the host learns how many are distinct, and Thrust waits"
)
_STEPS = "the host waits between the steps of Thrust and cuSPARSE"
INDICES = "the result has the input's indices, which are copied"
_POOLS = "how many rows have entries decides a size, and the host has to know it"
RESULT = "a part of the result is copied into place"
COALESCE_FIRST = "coalesce once, and keep the result"


def coalescing(tensor: Tensor, dims: int | None = None) -> list[Charge]:
    """What it costs to coalesce ``tensor``, of ``dims`` sparse dimensions if it is yet to be made."""
    if tensor.layout is not torch.sparse_coo or (dims is None and tensor.is_coalesced()):
        return []
    if tensor._nnz() < 2:
        return []
    copies = device_copy(tensor._values(), tensor.sparse_dim() if dims is None else dims, COALESCES)
    return [
        size_read(tensor._values(), waits=_WAITS_OF_COALESCING, why=COALESCES, silent=True),
        *charged(copies),
    ]


def transposed(tensor: Tensor) -> list[Charge]:
    """A COO tensor is copied, and two rows of its indices change places."""
    if not tensor._nnz():
        return []
    return [*copied_indices(tensor), *charged(device_copy(tensor._values(), 4, RESULT))]


def waits(times: int) -> Charge:
    """So many waits that PyTorch's own debug mode doesn't see."""
    return Charge("wait", waits=times, why=_STEPS, silent=True)


def _indices(tensor: Tensor) -> list[Tensor]:
    if tensor.layout is torch.sparse_coo:
        return [tensor._indices()]
    if tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        return [tensor.crow_indices(), tensor.col_indices()]
    return [tensor.ccol_indices(), tensor.row_indices()]


def _values(tensor: Tensor) -> Tensor:
    return tensor._values() if tensor.layout is torch.sparse_coo else tensor.values()


def _is_compressed(value: object) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.layout not in (torch.strided, torch.sparse_coo)


def copied_indices(tensor: Tensor) -> list[Charge]:
    """A memcpy for each tensor of indices."""
    return charged(*(clone(one, INDICES) for one in _indices(tensor)))


_UNARY = (
    "abs", "asin", "asinh", "atan", "atanh", "ceil", "deg2rad", "erf", "erfinv", "expm1", "floor", "frac",
    "isinf", "isnan", "isneginf", "isposinf", "log1p", "rad2deg", "relu", "round", "sgn", "sign", "signbit",
    "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
"""Functions of one sparse tensor that leave zeros zeros."""


def _without_gaps(call: Call, run: Callable[..., Any]) -> Tensor:
    """The CPU cuts the indices out of longer ones; on CUDA they are dense."""
    made: Tensor = run(call["self"])
    indices, values = made._indices().contiguous(), made._values()
    return torch.sparse_coo_tensor(indices, values, made.shape, is_coalesced=True)


@cost(
    "_coalesce",
    why=COALESCES,
    source="aten/src/ATen/native/sparse/cuda/SparseCUDATensor.cu, coalesce_sparse_cuda",
    figures="1 DtoH, 1 or more DtoD, 5 waits; nothing where coalesced, or with fewer than 2 entries",
    instead=COALESCE_FIRST,
    sparse=True,
    stand_in=_without_gaps,
)
def coalesce(call: Call) -> list[Charge]:
    """One number and five waits; nothing with fewer than two entries."""
    return coalescing(call["self"])


@cost(
    "_sparse_softmax",
    "_sparse_log_softmax",
    why=COALESCES,
    source="aten/src/ATen/native/sparse/cuda/SoftMax.cu, softmax_sparse_cuda",
    figures="1 DtoH, 1 HtoD, 1 DtoD, 7 waits; 1 DtoH, 1 or more DtoD, 5 waits more where uncoalesced",
    instead=COALESCE_FIRST,
    sparse=True,
)
def softmax(call: Call) -> list[Charge]:
    """The input coalesced; sizes go up, a number of pools comes back."""
    tensor = call["self"]
    values = tensor._values()
    copies = device_copy(values, 1 if tensor.is_coalesced() else 2, INDICES)
    sizes = Charge("upload", htod=1, waits=1, dtype="int64", why="the sizes of the dimensions are uploaded")
    return [*coalescing(tensor), *charged(copies), sizes, size_read(values, waits=6, why=_POOLS, silent=True)]


@cost(
    "add",
    "sub",
    "add_",
    "sub_",
    why="a sum with more entries than the tensor has elements is coalesced",
    source="aten/src/ATen/native/sparse/cuda/SparseCUDATensorMath.cu, add_out_sparse_cuda",
    figures="nothing where the sum of two COO tensors has at most as many entries as elements; 1 "
    "DtoH, 0 or more DtoD, 5 waits where it has more; 1 DtoD for a dense tensor that a sparse "
    "one is added to; 2 DtoD for compressed layouts",
    instead=COALESCE_FIRST,
    sparse=True,
)
def add(call: Call) -> list[Charge]:
    """Both compressed: two copies; one dense: a copy of it; both COO: perhaps a coalescing."""
    mine, other = call["self"], call["other"]
    if mine.layout is torch.strided:
        why = "the dense tensor is copied into the result first"
        return charged(None if call.operator.name.endswith("_") else clone(mine, why))
    if mine.layout is not torch.sparse_coo or not isinstance(other, Tensor):
        return charged(device_copy(_values(mine), 2, RESULT))
    if other.layout is not torch.sparse_coo or mine._nnz() + other._nnz() <= mine.numel():
        return []
    grown = mine if mine._nnz() >= other._nnz() else other
    return coalescing(grown, dims=mine.sparse_dim() if not mine.is_coalesced() else 0)


@cost(
    "pow",
    "norm",
    why=COALESCES,
    source="aten/src/ATen/native/sparse/SparseTensorMath.cpp, pow_out_sparse_scalar, norm_sparse",
    figures="1 DtoH, 1 or more DtoD, 5 waits where uncoalesced; 1 DtoD for the indices of a power; "
    "nothing otherwise",
    instead=COALESCE_FIRST,
    sparse=True,
)
def of_coalesced(call: Call) -> list[Charge]:
    """The input coalesced; where a sparse result is made, its indices copied."""
    tensor = call["self"]
    copies = copied_indices(tensor) if call.operator.name == "pow" and tensor.is_coalesced() else []
    return [*coalescing(tensor), *copies]


@cost(
    "mul",
    "div",
    "mul_",
    "div_",
    "sparse_mask",
    why="the result's indices are copied from the input's",
    source="aten/src/ATen/native/sparse/SparseUnaryOps.cpp; SparseTensorMath.cpp, mul_sparse, div_sparse",
    figures="1 DtoD; 2 DtoD for compressed layouts; 4 DtoD for two uncoalesced factors",
    sparse=True,
)
def with_copied_indices(call: Call) -> list[Charge]:
    """One memcpy; two uncoalesced factors are each joined out of two."""
    tensor, other = call["self"], call.args[1] if len(call.args) > 1 else None
    if other is tensor and call.operator.name == "sparse_mask":
        return []
    if isinstance(other, Tensor) and other.layout is torch.sparse_coo and tensor.layout is torch.sparse_coo:
        both = tensor.is_coalesced() and other.is_coalesced()
        return copied_indices(tensor) if both else charged(device_copy(other._values(), 4))
    if call.operator.name == "sparse_mask" and _is_compressed(other):
        return [size_read(other.values())] * 2 + charged(device_copy(other.values(), why=RESULT))
    if call.operator.name == "mul" and _is_compressed(tensor) and isinstance(other, Tensor) and other.dim():
        if other.layout is torch.strided:
            return [size_read(tensor.values())] * 2 + charged(device_copy(tensor.values(), 5, RESULT))
        return charged(device_copy(tensor.values(), 9, RESULT))
    one = tensor if tensor.layout is not torch.strided else other
    return copied_indices(one) if isinstance(one, Tensor) else []


@cost(
    *_UNARY,
    why="uncoalesced entries are added up before a function is taken of them",
    source="aten/src/ATen/native/sparse/SparseUnaryOps.cpp, coalesced_unary_ufunc; SparseCsrTensorMath.cpp",
    figures="1 DtoD; 2 DtoD for compressed layouts; 1 DtoH, 1 or more DtoD, 5 waits more where uncoalesced; "
    "nothing for indices with gaps",
    instead=COALESCE_FIRST,
    sparse=True,
)
def unary(call: Call) -> list[Charge]:
    """The input coalesced, and its indices copied."""
    tensor = call["self"]
    coalesced = coalescing(tensor)
    copies = charged(device_copy(tensor._values(), why=INDICES)) if coalesced else copied_indices(tensor)
    return [*coalesced, *copies]


@cost(
    "clone",
    "neg",
    "copy_",
    "_to_copy",
    why="indices and values are copied",
    source="aten/src/ATen/native/sparse/SparseTensor.cpp, copy_tensor_metadata, copy_sparse_",
    figures="2 DtoD; 3 DtoD for compressed layouts; 1 DtoD less where the dtype changes",
    sparse=True,
    mixes=True,
)
def cloned(call: Call) -> list[Charge]:
    """A memcpy for each part; the values' copy is a kernel where they change dtype."""
    tensor = call["src"] if call.operator.name == "copy_" else call["self"]
    if tensor.layout is torch.strided:
        return []
    converts = "dtype" in call.kwargs and call["dtype"] not in (None, tensor.dtype)
    negates = call.operator.name == "neg" and _is_compressed(tensor)
    if call.operator.name == "copy_" and call["self"] is tensor:
        return []
    return [*copied_indices(tensor), *charged(None if converts or negates else clone(_values(tensor)))]


@cost(
    "sum.dim_IntList",
    why="made of a sum of the entries, which is coalesced; of a compressed tensor the host learns a size",
    source="aten/src/ATen/native/sparse/SparseTensorMath.cpp, sum_sparse_coo, _sparse_sum; "
    "SparseCsrTensorMath.cu, reduce_sparse_csr_cuda_template",
    figures="nothing of its own for COO; 1 DtoH, 1 wait for compressed layouts along the last dimension; "
    "1 DtoH, 1 HtoD, 2 waits along the first",
    instead="multiply with a vector of ones: a product of sparse rows doesn't wait",
    sparse=True,
    enters=True,
)
def summed(call: Call) -> list[Charge]:
    """Nothing of its own for COO; a size, and along the first dimension an upload, for compressed layouts."""
    tensor = call["self"]
    if not _is_compressed(tensor):
        return []
    along_rows = any(dim % tensor.dim() == 0 for dim in call["dim"] or ())
    flag = Charge("upload", htod=1, waits=1, dtype="int64", why="the size of the result is uploaded")
    return [size_read(tensor.values()), *([flag] if along_rows else [])]


@cost(
    "index_select",
    why="the entries that are selected are counted",
    source="aten/src/ATen/native/sparse/cuda/SparseCUDATensor.cpp; TensorShape.cpp, index_select_sparse",
    figures="1 DtoH, 3 DtoD, 1 wait; nothing without entries",
    instead="select from the dense tensor, or build the part from indices that are known",
    sparse=True,
)
def index_select(call: Call) -> list[Charge]:
    """One number; copies of the parts."""
    tensor = call["self"]
    if tensor.layout is not torch.sparse_coo or not tensor._nnz():
        return []
    parts = charged(*[clone(tensor._indices(), RESULT)] * 3)
    return [size_read(tensor._values()), *parts]


@cost(
    "narrow_copy",
    why="the entries that lie in the part are found with a mask",
    source="aten/src/ATen/native/TensorShape.cpp, narrow_copy_sparse",
    figures="2 DtoH, 2 waits; nothing without entries",
    instead="narrow the dense tensor, or build the part from indices that are known",
    sparse=True,
)
def narrow_copy(call: Call) -> list[Charge]:
    """Two masks."""
    return [size_read(call["self"]._values())] * 2 if call["self"]._nnz() else []


@cost(
    "sparse_sampled_addmm",
    why="the result starts as a copy of the input",
    source="aten/src/ATen/native/sparse/cuda/SparseBlas.cpp, sparse_sampled_addmm_out_sparse_csr_cuda",
    figures="4 DtoD",
    sparse=True,
)
def sampled_addmm(call: Call) -> list[Charge]:
    """Four memcpys."""
    return charged(device_copy(call["self"].values(), 4))
