"""Writing at indices into a new tensor, and drawing samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import VERSION
from syncscope.simcuda.costs.table import Call, cost, device_copy, read


@cost(
    "index_copy.default",
    "index_add.default",
    "index_reduce.default",
    "scatter.src",
    "scatter.value",
    "scatter.reduce",
    "scatter.value_reduce",
    "scatter_add.default",
    why="the form that returns a new tensor copies the old one first",
    source="aten/src/ATen/native/TensorAdvancedIndexing.cpp, index_copy_out, scatter_impl; cuda/Copy.cu",
    figures="1 DtoD where the tensor is contiguous; nothing otherwise",
    instead="the in-place form on a tensor that isn't needed any more",
)
def written_copy(call: Call) -> Charge | None:
    """One copy of the tensor that is written into."""
    return _into_contiguous(call["self"])


def _into_contiguous(tensor: Tensor, times: int = 1) -> Charge | None:
    """The result is contiguous: a memcpy where the tensor is, too."""
    return device_copy(tensor, times) if tensor.is_contiguous() else None


@cost(
    "slice_scatter.default",
    "select_scatter.default",
    "diagonal_scatter.default",
    "as_strided_scatter.default",
    "copy.default",
    "masked_scatter.default",
    why="made of a copy that keeps the layout, and of a write into it",
    source="aten/src/ATen/native/TensorShape.cpp, slice_scatter; Copy.cpp, copy; "
    "TensorAdvancedIndexing.cpp, masked_scatter",
    figures="nothing of its own",
    instead="a write into a part of a tensor that isn't needed any more",
    mixes=True,
    enters=True,
)
def copied_and_written(call: Call) -> None:
    """Nothing of its own."""


@cost(
    "narrow_copy.default",
    why="the part is copied: a memcpy where it is contiguous",
    source="aten/src/ATen/native/TensorShape.cpp, narrow_copy_symint",
    figures="1 DtoD for a contiguous part; nothing otherwise",
    instead="narrow, which is a view",
)
def narrow_copy(call: Call) -> Charge | None:
    """One memcpy of a contiguous part."""
    return _into_contiguous(call["self"].narrow(call["dim"], call["start"], call["length"]))


@cost(
    "scatter_reduce.two",
    why="the form that returns a new tensor copies the old one, and once more inside",
    source="aten/src/ATen/native/TensorAdvancedIndexing.cpp, scatter_impl, scatter_reduce_two",
    figures="2 DtoD where the tensor is contiguous; nothing otherwise",
    instead="scatter_reduce_ on a tensor that isn't needed any more",
)
def scatter_reduce(call: Call) -> Charge | None:
    """Two copies of the tensor that is written into."""
    return _into_contiguous(call["self"], 2)


def _drawn(call: Call, multinomial: Callable[..., Any]) -> Any:
    """Draw; weights that are no distribution are refused by the kernel later, never by the host."""
    weights = call["self"]
    if weights.is_floating_point() and _is_no_distribution(weights):
        return multinomial(torch.ones_like(weights), *call.args[1:], **call.kwargs)
    return multinomial(*call.args, **call.kwargs)


def _is_no_distribution(weights: Tensor) -> bool:
    sums = weights.sum(-1)
    return bool((weights < 0).any() or not sums.isfinite().all() or (sums <= 0).any())


@cost(
    "multinomial",
    why="sampling with replacement copies the distribution",
    source="aten/src/ATen/native/cuda/MultinomialKernel.cu, multinomial_with_replacement_kernel_impl",
    figures="2 DtoD for several samples with replacement; 1 DtoD for a batch of one distribution: any() "
    "of a single element copies it; nothing otherwise",
    stand_in=_drawn,
)
def multinomial(call: Call) -> Charge | None:
    """Two memcpys for several samples with replacement; otherwise one for a batch of one."""
    weights = call["self"]
    if call["replacement"] and call["num_samples"] > 1:
        return device_copy(weights, 2)
    return device_copy(weights) if weights.dim() == 2 and weights.shape[0] == 1 else None


@cost(
    "normal.float_Tensor",
    "normal.Tensor_Tensor",
    "normal.float_Tensor_out",
    "normal.Tensor_Tensor_out",
    why="up to 2.13 the host checks that no standard deviation is negative",
    source="aten/src/ATen/native/DistributionTemplates.h, CHECK_NORMAL_TENSOR_STD",
    figures="nothing",
    versions="up to 2.13: 2 DtoH, 2 waits; 1 DtoH, 1 wait with out=",
    instead="torch.randn_like(mean) * std + mean",
)
def normal(call: Call) -> list[Charge]:
    """Two reads up to 2.13: before the result is made, and before it is written; none since."""
    if VERSION >= (2, 14) or not call["std"].numel():
        return []
    return [read(call["std"])] * (1 if call.operator.overload.endswith("_out") else 2)


@cost(
    "randint_like.Tensor",
    why="made of random_",
    source="aten/src/ATen/native/TensorFactories.cpp, randint_like",
    figures="nothing: a limit on the device is an error",
    mixes=True,
    enters=True,
)
def randint_like(call: Call) -> None:
    """Nothing of its own.

    Raises:
        RuntimeError: the limit is on the device; as PyTorch words it.
    """
    if call.on_device("high"):
        raise RuntimeError("high must be a scalar tensor and on CPU")
