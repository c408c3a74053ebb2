"""Operators whose result's shape the values decide: the host has to learn it."""

from __future__ import annotations

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.table import Call, cost, free, size_read


@cost(
    "nonzero",
    why="how many elements are non-zero decides the result's size, and the host has to know it",
    source="aten/src/ATen/native/cuda/Nonzero.cu, nonzero_out_cuda",
    figures="1 DtoH, 1 wait",
    instead="nonzero_static(size=...), torch.where with three arguments, or a mask that is multiplied",
)
def nonzero(call: Call) -> Charge:
    """One number."""
    return size_read(call["self"])


@cost(
    "masked_select",
    why="how many elements the mask selects decides the result's size, and the host has to know it",
    source="aten/src/ATen/native/cuda/IndexKernel.cpp, masked_select_out_cuda_impl",
    figures="1 DtoH, 1 wait",
    instead="torch.where with three arguments, or an index of a known length",
)
def masked_select(call: Call) -> Charge:
    """One number, of the mask."""
    return size_read(call["mask"])


@cost(
    "_unique",
    "_unique2",
    why="how many distinct elements there are decides the result's size, and the host has to know it",
    source="aten/src/ATen/native/cuda/UniqueCub.cu; Unique.cu",
    figures="1 DtoH, 1 wait; nothing where empty",
    instead="a presence table of known size: zeros(vocabulary).index_fill_(0, x, True)",
)
def unique(call: Call) -> Charge | None:
    """One number; none for an empty tensor."""
    return size_read(call["self"]) if call["self"].numel() else None


@cost(
    "unique_consecutive",
    why="how many distinct runs there are decides the result's size; along a dimension Thrust waits",
    source="aten/src/ATen/native/cuda/UniqueCub.cu; Unique.cu, unique_dim_consecutive_cuda",
    figures="1 DtoH, 1 wait; 1 DtoH, 2 waits along a dimension; 3 waits more there with "
    "return_inverse=True; 1 wait more there with return_counts=True; nothing where empty",
    instead="(x[1:] != x[:-1]).cumsum(0) numbers the runs on the device",
)
def unique_consecutive(call: Call) -> Charge | None:
    """One number, and Thrust's own waits along a dimension."""
    if not call["self"].numel():
        return None
    return size_read(call["self"]) if call["dim"] is None else _along_a_dimension(call)


@cost(
    "unique_dim",
    "unique_dim_consecutive",
    why="how many distinct slices there are decides the result's size; Thrust waits between its steps",
    source="aten/src/ATen/native/cuda/Unique.cu, unique_dim_cuda_template",
    figures="1 DtoH, 3 waits; 1 DtoH, 2 waits for unique_dim_consecutive; 3 waits more with "
    "return_inverse=True; 1 wait more with return_counts=True; nothing where empty",
    instead="a presence table of known size",
)
def unique_dim(call: Call) -> Charge | None:
    """One number, and Thrust's own waits."""
    return _along_a_dimension(call) if call["self"].numel() else None


def _along_a_dimension(call: Call) -> Charge:
    """Two waits, one more for sorting and for counts, three more for the inverse."""
    sorts = int(call.operator.name == "unique_dim")
    extras = 3 * int(bool(call["return_inverse"])) + int(bool(call["return_counts"]))
    return size_read(call["self"], waits=2 + sorts + extras, silent=True)


@cost(
    "nonzero_static",
    "masked_scatter_",
    why="the size is given",
    source="aten/src/ATen/native/cuda/Nonzero.cu, nonzero_static_out_cuda",
    figures="nothing",
)
def sized(call: Call) -> None:
    """Nothing."""
    return free(call)


@cost(
    "is_same_size",
    "is_set_to",
    "resize_as_",
    why="no value is looked at, and tensors may be anywhere",
    source="aten/src/ATen/native/TensorProperties.cpp, is_same_size; Resize.cpp, resize_as_",
    figures="nothing",
    mixes=True,
)
def of_shapes(call: Call) -> None:
    """Nothing."""
    return free(call)
