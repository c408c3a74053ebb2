"""Nested tensors of the strided layout: their sizes live on the host, and go up where a kernel needs them."""

from __future__ import annotations

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.table import Call, cost, may_wait, read, size_read
from syncscope.simcuda.frames import tensors

_GAPS = "the host learns whether the mask has gaps"
_SIZES = "the sizes of the parts, which live on the host, go up for the kernel"


@cost(
    "_nested_tensor_from_mask_left_aligned",
    why=_GAPS,
    source="aten/src/ATen/native/nested/NestedTensorMath.cpp, nested_tensor_from_mask_left_aligned",
    figures="1 DtoH, 1 wait",
    instead="mask_check=False in nn.TransformerEncoder, if the mask has no gaps",
)
def left_aligned(call: Call) -> Charge:
    """One answer."""
    return read(call["mask"])


@cost(
    "_nested_tensor_from_mask",
    why="the lengths that the mask gives decide sizes, and the host has to know them",
    source="aten/src/ATen/native/nested/NestedTensorMath.cpp, NestedTensor_nested_tensor_from_mask",
    figures="2 DtoH, 1 HtoD, 2 waits; 1 DtoH, 1 HtoD, 1 wait with mask_check=False",
    instead="a jagged nested tensor with offsets on the device",
)
def from_mask(call: Call) -> list[Charge]:
    """The lengths, and before them the check for gaps; the sizes go up from pinned memory."""
    mask = call["mask"]
    checked = [read(mask, why=_GAPS)] if call["mask_check"] else []
    return [*checked, size_read(mask), _sizes(waits=False)]


@cost(
    "_nested_tensor_size",
    "_nested_tensor_strides",
    "_nested_tensor_storage_offsets",
    why="the sizes of the parts live on the host, wherever the parts do",
    source="aten/src/ATen/NestedTensorImpl.h, get_nested_sizes",
    figures="nothing",
    host_results=(0,),
)
def sizes(call: Call) -> None:
    """Nothing."""


@cost(
    "_nested_view_from_buffer",
    "_nested_view_from_buffer_copy",
    why="the sizes of the parts live on the host, wherever the parts do",
    source="aten/src/ATen/native/nested/NestedTensorFactories.cpp, _nested_view_from_buffer",
    figures="nothing",
    mixes=True,
)
def view(call: Call) -> None:
    """Nothing."""


@cost(
    "to_padded_tensor",
    "nested_to_padded_tensor",
    why=_SIZES,
    source="aten/src/ATen/native/nested/cuda/NestedTensorTransformerFunctions.cpp, to_padded_tensor",
    figures="1 HtoD, 1 wait",
    instead="a padded tensor of a known length with a mask, in place of a nested one",
)
def to_padded_tensor(call: Call) -> Charge:
    """One upload."""
    return _sizes(waits=True)


@cost(
    "_nested_from_padded",
    why=_SIZES,
    source="aten/src/ATen/native/nested/cuda/NestedTensorTransformerFunctions.cpp, nested_from_padded_cuda",
    figures="1 HtoD, 0 waits: the driver may wait, the memory is pageable",
    instead="a jagged nested tensor with offsets on the device",
    mixes=True,
)
def from_padded(call: Call) -> Charge:
    """One upload that nobody waits for."""
    return Charge("upload", htod=1, dtype="int64", why=_SIZES, may_wait=may_wait(waits=False, pinned=False))


@cost(
    "_transformer_encoder_layer_fwd",
    "_native_multi_head_attention",
    "_transform_bias_rescale_qkv",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_backward",
    why="what it does on the host with strided nested tensors is not known: it may wait",
    source="aten/src/ATen/native/transformers/cuda/attention.cu; transformer.cpp",
    figures="nothing; 1 unknown with strided nested tensors",
    instead="a padded tensor with a mask: enable_nested_tensor=False in nn.TransformerEncoder",
)
def attention(call: Call) -> Charge | None:
    """Nothing is known of nested tensors."""
    return Charge("unknown") if any(one.is_nested for one in tensors(call.args, call.kwargs)) else None


def _sizes(waits: bool) -> Charge:
    return Charge("upload", htod=1, waits=int(waits), dtype="int64", why=_SIZES)
