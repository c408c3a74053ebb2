"""Joining tensors: one kernel for all of them, or a copy each."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import charged
from syncscope.simcuda.costs.table import Call, cost, device_copy, upload

_KERNEL_DIMS = 4
"""Most dimensions that the joining kernel takes (cuda/Shape.cu, CAT_ARRAY_MAX_INPUT_DIMS)."""

_TAKES_LIST = "one kernel takes a list of addresses, which is uploaded"


@cost(
    "cat",
    "stack",
    why="a single tensor, and tensors of several dtypes, are copied one by one: dense ones by memcpy",
    source="aten/src/ATen/native/cuda/Shape.cu, cat_out_cuda",
    figures="nothing for tensors of one dtype and at most 4 dimensions: that is one kernel; 1 DtoD "
    "for each dense tensor otherwise, and for a single one",
)
def cat(call: Call) -> list[Charge]:
    """A memcpy for each tensor that fills a dense part of the result and has its dtype."""
    given: Sequence[Tensor] = call["tensors"]
    joined = [one for one in given if one.numel()]
    if not joined or _by_kernel(given):
        return []
    widest = _result_dtype(given)
    dim = call["dim"] % (joined[0].dim() + (call.operator.name == "stack"))
    return charged(*(_filled(one, dim, len(joined)) for one in joined if one.dtype == widest))


def _by_kernel(given: Sequence[Tensor]) -> bool:
    return len(given) > 1 and given[0].dim() <= _KERNEL_DIMS and len({one.dtype for one in given}) == 1


def _result_dtype(given: Sequence[Tensor]) -> object:
    import torch

    widest = given[0].dtype
    for one in given[1:]:
        widest = torch.promote_types(widest, one.dtype)
    return widest


def _filled(one: Tensor, dim: int, of: int) -> Charge | None:
    """The copy into one part of the result, which is dense where no dimension stands before ``dim``."""
    dense = of == 1 or one.shape[:dim].numel() == 1
    return device_copy(one) if dense and one.is_contiguous() else None


@cost(
    "_chunk_cat",
    "split_with_sizes_copy.out",
    why=_TAKES_LIST,
    source="aten/src/ATen/native/cuda/TensorShape.cu, _chunk_cat_cuda, split_with_sizes_copy_out_cuda",
    figures="1 HtoD",
)
def list_of_addresses(call: Call) -> Charge | None:
    """One upload from pinned memory, not waited for."""
    first = call["tensors"][0] if call.operator.name == "_chunk_cat" else call["self"]
    charge = upload(first, waits=False, pinned=True)
    return Charge("upload", htod=1, why=_TAKES_LIST) if charge else None
