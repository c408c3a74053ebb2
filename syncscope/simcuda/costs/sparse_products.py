"""Products with a sparse factor: it is coalesced first, and cuSPARSE wants its own order."""

from __future__ import annotations

import torch
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import charged, clone
from syncscope.simcuda.costs.sparse import (
    COALESCE_FIRST,
    COALESCES,
    INDICES,
    RESULT,
    coalescing,
    transposed,
    waits,
)
from syncscope.simcuda.costs.table import Call, cost, device_copy

_IN_COLUMNS = "the product is made in column order, and copied there and back"
_SPARSE_MM = "aten/src/ATen/native/sparse/cuda/SparseCUDABlas.cpp, SparseCUDATensorMath.cu"


@cost(
    "mm",
    "bmm",
    "mv",
    "addmm",
    "addmm_",
    "_sparse_addmm",
    "hspmm",
    why=COALESCES,
    source=_SPARSE_MM,
    figures="1 DtoH, 1 or more DtoD, 5 waits for each uncoalesced factor; 2 waits more for mm of two "
    "sparse factors; 1 wait more for bmm and hspmm; 2 or more DtoD more for hspmm; 2 DtoD more for a result "
    "of one row or column; 0 or more DtoD otherwise",
    instead=COALESCE_FIRST,
    sparse=True,
)
def product(call: Call) -> list[Charge]:
    """The sparse side coalesced, and the copies of what is added.

    Raises:
        NotImplementedError: half precision times a dense tensor; as PyTorch words it.
    """
    given = [value for value in call.args if isinstance(value, Tensor)]
    name = call.operator.name
    sides = [one for one in given if one.layout is torch.sparse_coo]
    _refuse_halves(name, given)
    if name == "mm" and _is_turned(*given):
        return _turned(*given)
    if name == "hspmm":
        return [*coalescing(given[0]), *charged(*_in_rows(given[0]))]
    if name == "mm" and len(sides) == 2:
        return [*(charge for one in sides for charge in coalescing(one)), waits(2)]
    found = [charge for one in sides for charge in coalescing(one)]
    extras: dict[str, list[Charge | None]] = {
        "mv": [device_copy(given[-1], 2, RESULT)],
        "bmm": [waits(1)],
    }
    added = [clone(given[0], "what is added is copied into the result first")] if _adds(call) else []
    both_csr = name == "mm" and all(one.layout is torch.sparse_csr for one in given)
    results = [device_copy(given[0].values(), 2, RESULT)] if both_csr else []
    if sides and name not in extras:
        left, right = given[-2:]
        results = [_by_columns(left, left.shape[0], right.shape[1], _written(call))]
    return [*found, *charged(*(extras.get(name, []) if sides else []), *added, *results)]


_HALVES = {torch.float16: "Half", torch.bfloat16: "BFloat16"}


def _refuse_halves(name: str, given: list[Tensor]) -> None:
    """Refuse what cuSPARSE isn't called for (SparseCUDABlas.cpp, s_addmm_out_sparse_dense_cuda)."""
    left, right = given[-2:]
    is_dense = left.layout is torch.sparse_coo and right.layout is torch.strided and name != "bmm"
    if is_dense and left.dtype in _HALVES and left._nnz():
        raise NotImplementedError(f"\"addmm_sparse_cuda\" not implemented for '{_HALVES[left.dtype]}'")


def _in_rows(sparse: Tensor) -> list[Charge | None]:
    """``hspmm``: a clone of the sparse side, whose rows are copied out of its indices."""
    if not sparse._nnz():
        return []
    row = device_copy(sparse._indices()[0], 1, INDICES)
    if coalescing(sparse):
        return [device_copy(sparse._values(), 2, RESULT), row, waits(1)]
    return [clone(sparse._indices(), INDICES), clone(sparse._values(), RESULT), row, waits(1)]


def _written(call: Call) -> Tensor | None:
    """The tensor that the user gave for the result."""
    return call["out"] if "out" in call.kwargs else call["self"] if call.operator.name == "addmm_" else None


def _adds(call: Call) -> bool:
    """Whether a dense tensor of the result's shape and order is added to a product that has entries."""
    if not call.operator.name.endswith("addmm") or call["self"].layout is not torch.strided:
        return False
    added, left, right = call["self"], call["mat1"], call["mat2"]
    fits = added.shape == (left.shape[0], right.shape[1]) and added.is_contiguous()
    return bool(call["beta"] != 0 and left._nnz() and fits and added is not call.kwargs.get("out"))


def _by_columns(sparse: Tensor, rows: int, columns: int, written: Tensor | None = None) -> Charge | None:
    """A product is made in column order, and copied there and back: memcpys for a single row or column."""
    if (rows == 1) == (columns == 1) or not sparse._nnz():
        return None
    made_so = written is not None and written.stride() == (1, rows)
    return None if made_so else device_copy(sparse._values(), 2, _IN_COLUMNS)


def _is_turned(left: Tensor, right: Tensor) -> bool:
    """Whether the product is that of the transposed factors: sparse rows come first (Blas.cpp)."""
    if left.layout is torch.sparse_csc:
        return True
    return left.layout is torch.strided and right.layout in (torch.sparse_coo, torch.sparse_csr)


def _turned(left: Tensor, right: Tensor) -> list[Charge]:
    """The sparse factor is transposed: of entries each part is copied, compressed ones are put in order."""
    sparse = left if left.layout is not torch.strided else right
    if sparse.layout is torch.sparse_coo:
        made = _by_columns(sparse, right.shape[1], left.shape[0])
        return [*transposed(sparse), *coalescing(sparse, sparse.sparse_dim()), *charged(made)]
    flag = Charge("upload", htod=1, waits=1, dtype="int64", why="an offset is uploaded to order the entries")
    return [flag, *charged(device_copy(sparse.values(), 6, RESULT))]


@cost(
    "_sparse_sparse_matmul",
    why=COALESCES,
    source="aten/src/ATen/native/sparse/cuda/SparseMatMul.cu, sparse_sparse_matmul_cuda",
    figures="2 waits; 1 DtoH, 1 or more DtoD, 5 waits more for each uncoalesced factor",
    instead=COALESCE_FIRST,
    sparse=True,
)
def sparse_product(call: Call) -> list[Charge]:
    """Both sides coalesced, and two waits."""
    return [*coalescing(call["self"]), *coalescing(call["other"]), waits(2)]
