"""Sparse tensors made of dense ones, and of one layout from another."""

from __future__ import annotations

import torch
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import charged
from syncscope.simcuda.costs.sparse import coalescing, transposed
from syncscope.simcuda.costs.table import Call, cost, device_copy, dtype_name, size_read
from syncscope.simcuda.hearing import unheard


@cost(
    "_to_sparse",
    "_to_sparse_csr",
    "_to_sparse_csc",
    "_to_sparse_bsr",
    "_to_sparse_bsc",
    why="the non-zero elements are found: the host learns their number",
    source="aten/src/ATen/native/TensorConversions.cpp, dense_to_sparse, dense_to_sparse_compressed",
    figures="1 DtoH, 2 DtoD, 1 wait; 2 DtoH, 2 waits for compressed layouts; 2 DtoH, 1 DtoD, 4 waits "
    "with dense dimensions",
    instead="build the sparse tensor from indices that are known",
)
def to_sparse(call: Call) -> list[Charge]:
    """Of a dense tensor: how many, for compressed layouts twice; the parts are copied."""
    dense = call["self"]
    coo = "layout" not in call.operator.arguments or call["layout"] in (None, torch.sparse_coo)
    if call.operator.name != "_to_sparse" or not coo:
        return [size_read(dense)] * 2
    found = size_read(dense)
    sparse_dims = call["sparse_dim"] if "sparse_dim" in call.operator.arguments else dense.dim()
    if sparse_dims < dense.dim():
        return [found, size_read(dense, waits=3), _parts(dense, 1)]
    return [found, *charged(_parts(dense, 2) if _any_nonzero(dense) else None)]


def _parts(dense: Tensor, times: int) -> Charge:
    why = "indices and values are copied into the sparse tensor"
    return Charge("copy", dtod=times, dtype=dtype_name(dense), why=why)


def _any_nonzero(dense: Tensor) -> bool:
    with unheard():
        return bool(dense.detach().any())


@cost(
    "_to_sparse",
    "_to_sparse_csr",
    "_to_sparse_csc",
    "_to_sparse_bsr",
    "_to_sparse_bsc",
    "_to_dense",
    why="the layout is changed in place of the values; what is uncoalesced is coalesced first",
    source="aten/src/ATen/native/TensorConversions.cpp, sparse_coo_to_sparse_csr",
    figures="1 DtoH, 1 or more DtoD, 5 waits from uncoalesced COO; 1 HtoD, 6 DtoD, 1 wait from one "
    "compressed layout to another; 1 DtoD from a compressed layout to COO or dense; nothing "
    "from COO to dense",
    instead="convert once, and keep the result; coalesce before that",
    sparse=True,
)
def to_layout(call: Call) -> list[Charge]:
    """From COO: coalesced, to columns after a transposition; from compressed: a copy of a part."""
    tensor = call["self"]
    name = call.operator.name
    if tensor.layout is not torch.sparse_coo:
        return _between_compressed(tensor, name)
    if name == "_to_sparse_csc" and tensor._nnz() > 1:
        return [*transposed(tensor), *coalescing(tensor, tensor.sparse_dim())]
    return coalescing(tensor) if name != "_to_dense" else []


def _between_compressed(tensor: Tensor, name: str) -> list[Charge]:
    kept = {torch.sparse_csr: "_to_sparse_csr", torch.sparse_csc: "_to_sparse_csc"}.get(tensor.layout)
    if name in ("_to_dense", "_to_sparse"):
        return charged(device_copy(tensor.values(), why="the layout is changed, the values are copied"))
    if name == kept:
        return []
    why = "from one compressed layout to another: an offset is uploaded, and the entries are put in order"
    flag = Charge("upload", htod=1, waits=1, dtype="int64", why=why)
    return [flag, *charged(device_copy(tensor.values(), 6, why))]
