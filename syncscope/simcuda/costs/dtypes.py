"""Operators whose CUDA kernels take dtypes that the CPU's refuse: the values are made in a wider one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.costs.table import Call, cost

_WIDER = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    **dict.fromkeys((torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64), torch.float64),
}


def computed_wider(call: Call, run: Callable[..., Any]) -> Any:
    """What ``run`` makes; where the CPU refuses the dtype, made in a wider one and given back in its own."""
    try:
        return run(*call.args, **call.kwargs)
    except NotImplementedError:
        narrow = next(value.dtype for value in call.args if isinstance(value, Tensor))
        if narrow not in _WIDER:
            raise
    return _computed_in(_WIDER[narrow], narrow, call, run)


def _computed_in(wide: torch.dtype, narrow: torch.dtype, call: Call, run: Callable[..., Any]) -> Any:
    """Tensors of the ``narrow`` dtype go along; indices are of another."""
    result = run(*(_cast(value, narrow, wide) for value in call.args), **call.kwargs)
    if isinstance(result, tuple):
        return tuple(_cast(made, wide, narrow) for made in result)
    return _cast(result, wide, narrow)


def _cast(value: Any, given: torch.dtype, wanted: torch.dtype) -> Any:
    return value.to(wanted) if isinstance(value, Tensor) and value.dtype == given else value


@cost(
    "avg_pool3d",
    "avg_pool3d_backward",
    "_upsample_bilinear2d_aa",
    "_upsample_bilinear2d_aa_backward",
    "_upsample_bicubic2d_aa",
    "_upsample_bicubic2d_aa_backward",
    "_upsample_lanczos2d_aa",
    "_upsample_lanczos2d_aa_backward",
    "multi_margin_loss",
    "multi_margin_loss_backward",
    "multilabel_margin_loss_forward",
    "multilabel_margin_loss_backward",
    why="kernels alone, in half precision too",
    source="aten/src/ATen/native/cuda/AveragePool3d.cu; UpSampleBilinear2d.cu; MultiMarginLoss.cu; "
    "MultiLabelMarginCriterion.cu",
    figures="nothing",
    stand_in=computed_wider,
)
def kernels_of_their_own(call: Call) -> None:
    """Neither copies nor waits."""
