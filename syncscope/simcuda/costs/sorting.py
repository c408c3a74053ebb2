"""Sorting, and what is built on it."""

from __future__ import annotations

import torch
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import charged, clone, is_dense, same_dense_layout
from syncscope.simcuda.costs.table import Call, cost, device_copy, dtype_name, upload

SMALL_SORT = 4096
"""Longest slice that is sorted in place, in shared memory (cuda/Sort.cpp, should_use_small_sort)."""


@cost(
    "sort.default",
    "sort.values",
    why="made of a stable sort",
    source="aten/src/ATen/native/Sorting.cpp, sort",
    figures="nothing of its own",
    enters=True,
)
def sort(call: Call) -> None:
    """Nothing of its own."""


@cost(
    "sort.stable",
    "sort.values_stable",
    "argsort.stable",
    "argsort.stable_out",
    why="a small sort copies keys and indices into place first, a large one the keys",
    source="aten/src/ATen/native/Sorting.cpp, sort_stable_out; cuda/Sort.cpp, sort_cuda_kernel",
    figures="3 DtoD for a vector of at most 4096 elements; 2 DtoD for more dimensions, in slices of "
    "at most 4096; 1 DtoD for longer slices, and for a 0-dim tensor; 1 DtoD for a short vector that isn't "
    "dense; nothing for anything else that isn't",
    after=True,
)
def stable_sort(call: Call) -> Charge | None:
    """One to three memcpys, by the length of a slice."""
    values = call["self"]
    keys = call.result[0] if isinstance(call.result, tuple) else None
    return device_copy(values, copies_of_a_sort(values, call["dim"], keys))


def copies_of_a_sort(values: Tensor, dim: int, keys: Tensor | None = None) -> int:
    """How many memcpys a sort of ``values`` along ``dim`` issues, into ``keys`` or a new tensor like it."""
    dense = is_dense(values) if keys is None else same_dense_layout(keys, values)
    if not values.dim():
        return int(dense)
    length = values.shape[dim]
    if length > SMALL_SORT:
        return int(dense)
    single = values.numel() == length
    return 2 * int(dense) + int(single)


_NAN = "the median of no elements is a number of the host, which is uploaded"


@cost(
    "median",
    "nanmedian",
    why="the median of a whole tensor is found by sorting it",
    source="aten/src/ATen/native/cuda/Sorting.cpp, median_impl",
    figures="3 DtoD for at most 4096 elements; 1 DtoD for more; 1 HtoD, 1 wait where empty; nothing along "
    "a dimension",
    instead="ask for a median of some elements only",
)
def median(call: Call) -> list[Charge]:
    """The copies of a sort of all elements; none along a dimension; of no elements, a host's nan."""
    if call.operator.overload:
        return []
    values = call["self"].reshape(-1)
    nan = None if values.numel() else upload(values.new_empty(()), why=_NAN)
    return charged(nan, device_copy(values, copies_of_a_sort(values, 0)))


_LONGEST_MODE = 2048
"""Longest slice whose most frequent element is found by one kernel (cuda/TensorModeKernel.cpp)."""


@cost(
    "mode",
    why="in a long slice Thrust looks for the most frequent element: the host waits for each of its steps",
    source="aten/src/ATen/native/cuda/TensorModeKernel.cpp, mode_kernel_impl; TensorModeKernel.cu, ModeImpl",
    figures="nothing for slices of at most 2048 elements; 6 DtoH, 2 HtoD, 13 waits for each longer slice; "
    "2 DtoH, 2 HtoD, 5 waits for each longer slice of bool; 1 DtoD more where the slices lie one after "
    "the other; 1 DtoD for slices of one element",
    instead="torch.bincount with minlength, or scatter_add_ into a histogram of known size",
)
def mode(call: Call) -> list[Charge]:
    """By the length of a slice, and how many there are."""
    values = call["self"]
    length = values.shape[call["dim"]] if values.dim() else 1
    if length == 1:
        return charged(clone(values))
    if length <= _LONGEST_MODE:
        return []
    in_place = values.transpose(call["dim"], -1).is_contiguous()
    steps = _steps_of_thrust(values)
    return [*charged(device_copy(values) if in_place else None), *steps * (values.numel() // length)]


def _steps_of_thrust(values: Tensor) -> list[Charge]:
    """Numbers of distinct elements, their counts and positions come back; the two results go up."""
    reads, waits = (2, 4) if values.dtype is torch.bool else (6, 12)
    name = dtype_name(values)
    why = "the most frequent element and its position are uploaded"
    return [
        Charge("scalar_read", dtoh=reads, waits=waits, dtype=name),
        Charge("upload", htod=2, waits=1, dtype=name, why=why),
    ]
