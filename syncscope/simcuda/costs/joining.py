"""Joining tensors: one kernel for all of them, or a copy each."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import charged, same_dense_layout
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
    after=True,
)
def cat(call: Call) -> list[Charge]:
    """A memcpy for each tensor that fills a dense part of the result in its order, and has its dtype."""
    given: Sequence[Tensor] = call["tensors"]
    stacks = call.operator.name == "stack"
    joined = [one.unsqueeze(call["dim"]) if stacks else one for one in given if one.numel()]
    if not joined or _by_kernel(given):
        return []
    parts = call.result.split([one.shape[call["dim"]] for one in joined], call["dim"])
    filled = zip(joined, parts, strict=True)
    return charged(*(device_copy(one) for one, part in filled if _is_memcpy(one, part)))


def _by_kernel(given: Sequence[Tensor]) -> bool:
    return len(given) > 1 and given[0].dim() <= _KERNEL_DIMS and len({one.dtype for one in given}) == 1


def _is_memcpy(one: Tensor, part: Tensor) -> bool:
    return one.dtype == part.dtype and same_dense_layout(part, one)


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
