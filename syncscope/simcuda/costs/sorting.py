"""Sorting, and what is built on it."""

from __future__ import annotations

from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.table import Call, cost, device_copy

SMALL_SORT = 4096
"""Longest slice that is sorted in place, in shared memory (cuda/Sort.cpp, should_use_small_sort)."""


@cost(
    "sort.default",
    why="made of a stable sort",
    source="aten/src/ATen/native/Sorting.cpp, sort",
    figures="nothing of its own",
    enters=True,
)
def sort(call: Call) -> None:
    """Nothing of its own."""


@cost(
    "sort.stable",
    "argsort.stable",
    why="a small sort copies keys and indices into place first, a large one the keys",
    source="aten/src/ATen/native/cuda/Sort.cpp, sort_cuda_kernel",
    figures="3 DtoD for a vector of at most 4096 elements; 2 DtoD for more dimensions, in slices of "
    "at most 4096; 1 DtoD for longer slices, and for a 0-dim tensor",
)
def stable_sort(call: Call) -> Charge | None:
    """One to three memcpys, by the length of a slice."""
    values = call["self"]
    dim = call["dim"] if "dim" in call.operator.arguments else -1
    return device_copy(values, copies_of_a_sort(values, dim))


def copies_of_a_sort(values: Tensor, dim: int) -> int:
    """How many memcpys a sort of ``values`` along ``dim`` issues."""
    if not values.dim():
        return 1
    length = values.shape[dim]
    if length > SMALL_SORT:
        return 1
    return 3 if values.dim() <= 1 else 2


@cost(
    "median",
    "nanmedian",
    why="the median of a whole tensor is found by sorting it",
    source="aten/src/ATen/native/cuda/Sorting.cpp, median_impl",
    figures="3 DtoD for at most 4096 elements; 1 DtoD for more; nothing along a dimension",
)
def median(call: Call) -> Charge | None:
    """The copies of a sort of all elements; none along a dimension."""
    if call.operator.overload:
        return None
    values = call["self"].reshape(-1)
    return device_copy(values, copies_of_a_sort(values, 0))
