"""Nested tensors of the strided layout: their sizes live on the host, and go up where a kernel needs them."""

from __future__ import annotations

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.table import Call, cost, read, size_read


@cost(
    "_nested_tensor_from_mask_left_aligned",
    why="the host learns whether the mask has gaps",
    source="aten/src/ATen/native/nested/NestedTensorMath.cpp, nested_tensor_from_mask_left_aligned",
)
def left_aligned(call: Call) -> Charge:
    """One answer."""
    return read(call["mask"])


@cost(
    "_nested_tensor_from_mask",
    why="the lengths that the mask gives decide sizes, and the host has to know them",
    source="aten/src/ATen/native/nested/NestedTensorMath.cpp, NestedTensor_nested_tensor_from_mask",
    instead="a jagged nested tensor with offsets on the device",
)
def from_mask(call: Call) -> list[Charge]:
    """The lengths, and before them the check for gaps; the sizes go up from pinned memory."""
    mask = call["mask"]
    checked = [read(mask)] if call["mask_check"] else []
    return [*checked, size_read(mask), _sizes(waits=False)]


@cost(
    "to_padded_tensor",
    "nested_to_padded_tensor",
    why="the sizes of the parts, which live on the host, go up for the padding kernel",
    source="aten/src/ATen/native/nested/cuda/NestedTensorTransformerFunctions.cpp, to_padded_tensor",
)
def to_padded_tensor(call: Call) -> Charge:
    """One upload."""
    return _sizes(waits=True)


def _sizes(waits: bool) -> Charge:
    return Charge("upload", htod=1, waits=int(waits), dtype="int64", note="the sizes of the parts")
