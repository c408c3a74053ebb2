"""Quantisation: parameters that live on the device are checked, or wanted as numbers."""

from __future__ import annotations

from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.table import Call, cost, is_on, read
from syncscope.simcuda.hearing import unheard

_RANGE = "the host learns the smallest and the largest zero point, to check them"


@cost(
    "fake_quantize_per_channel_affine_cachemask",
    "quantize_per_channel",
    why=_RANGE,
    source="aten/src/ATen/native/quantized/FakeQuantPerChannelAffine.cpp; AffineQuantizer.cpp, "
    "checkZeroPoints",
    figures="2 DtoH, 2 waits for zero points that are integers; nothing for others",
    instead="fake_quantize_per_tensor_affine; or zero points in floating point, which aren't checked",
)
def per_channel(call: Call) -> list[Charge]:
    """Two elements of integer zero points."""
    return _checked(call["zero_point" if "zero_point" in call.operator.arguments else "zero_points"])


def _checked(points: Tensor) -> list[Charge]:
    return [] if points.is_floating_point() or not points.numel() else [read(points, why=_RANGE)] * 2


@cost(
    "_fused_moving_avg_obs_fq_helper",
    why="the host asks whether to quantise, and then learns the range of the zero points",
    source="aten/src/ATen/native/quantized/cuda/FusedObsFakeQuant.cu, fused_moving_avg_obs_fake_quant_cuda",
    figures="3 DtoH, 3 waits with per_row_fake_quant=True, 1 of each where quantising is off; nothing "
    "for a whole tensor",
    instead="an observer for the whole tensor, torch.per_tensor_affine",
)
def observed(call: Call) -> list[Charge]:
    """One element for rows, and two where they are quantised."""
    if not call["per_row_fake_quant"]:
        return []
    enabled = call["fake_quant_on"]
    with unheard():
        quantises = bool(enabled.any())
    return [read(enabled), *(_checked(call["zero_point"]) if quantises else [])]


@cost(
    "_fake_quantize_learnable_per_tensor_affine",
    "_fake_quantize_learnable_per_tensor_affine_backward",
    why="scale and zero point are wanted as numbers",
    source="aten/src/ATen/native/quantized/FakeQuantPerTensorAffine.cpp, "
    "_fake_quantize_learnable_per_tensor_affine",
    figures="2 DtoH, 2 waits",
    instead="fake_quantize_per_tensor_affine with numbers, where they aren't learned",
)
def learnable(call: Call) -> list[Charge]:
    """Both."""
    return [read(call["scale"]), read(call["zero_point"])]


@cost(
    "_fake_quantize_learnable_per_channel_affine",
    why=_RANGE,
    source="aten/src/ATen/native/quantized/FakeQuantPerChannelAffine.cpp, "
    "_fake_quantize_learnable_per_channel_affine",
    figures="2 DtoH, 2 waits",
    instead="fake_quantize_per_channel_affine with zero points in floating point",
)
def learnable_channels(call: Call) -> list[Charge]:
    """The zero points are rounded to integers, and those are checked."""
    return [read(call["zero_point"])] * 2


@cost(
    "quantize_per_tensor.tensor_qparams",
    why="scale and zero point are wanted as numbers",
    source="aten/src/ATen/native/quantized/QTensor.cpp, quantize_per_tensor_tensor_qparams",
    figures="1 DtoH, 1 wait for each of scale and zero point on the device; nothing for numbers",
    instead="scale and zero point as Python numbers",
    mixes=True,
)
def per_tensor(call: Call) -> list[Charge]:
    """Each of the two that lives on the device."""
    given: list[Tensor] = [call["scale"], call["zero_point"]]
    return [read(one) for one in given if is_on(one)]


@cost(
    "quantize_per_tensor_dynamic",
    why="the host learns the smallest and the largest element, to choose scale and zero point",
    source="aten/src/ATen/native/quantized/QTensor.cpp, quantize_per_tensor_dynamic",
    figures="2 DtoH, 2 waits",
    instead="quantize_per_tensor with a scale and a zero point that are known",
)
def dynamic(call: Call) -> list[Charge]:
    """Two elements."""
    return [read(call["self"])] * 2
