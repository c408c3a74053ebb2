"""Writing at indices into a new tensor, and drawing samples."""

from __future__ import annotations

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import VERSION, clone
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
    figures="1 DtoD where the tensor is dense; nothing otherwise",
    instead="the in-place form on a tensor that isn't needed any more",
)
def written_copy(call: Call) -> Charge | None:
    """One copy of the tensor that is written into."""
    return clone(call["self"])


@cost(
    "scatter_reduce.two",
    why="the form that returns a new tensor copies the old one, and once more inside",
    source="aten/src/ATen/native/TensorAdvancedIndexing.cpp, scatter_impl, scatter_reduce_two",
    figures="2 DtoD where the tensor is dense; nothing otherwise",
    instead="scatter_reduce_ on a tensor that isn't needed any more",
)
def scatter_reduce(call: Call) -> list[Charge]:
    """Two copies of the tensor that is written into."""
    once = clone(call["self"])
    return [once, once] if once else []


@cost(
    "multinomial",
    why="sampling with replacement copies the distribution",
    source="aten/src/ATen/native/cuda/MultinomialKernel.cu, multinomial_with_replacement_kernel_impl",
    figures="2 DtoD for several samples with replacement; nothing otherwise",
)
def multinomial(call: Call) -> Charge | None:
    """Two memcpys for several samples with replacement; one sample is drawn by an argmax."""
    several = call["replacement"] and call["num_samples"] > 1
    return device_copy(call["self"], 2) if several else None


@cost(
    "normal.float_Tensor",
    "normal.Tensor_Tensor",
    why="up to 2.11 the host checks that no standard deviation is negative",
    source="aten/src/ATen/native/Distributions.cpp, CHECK_NORMAL_TENSOR_STD",
    figures="nothing",
    versions="up to 2.11: 2 DtoH, 2 waits",
    instead="torch.randn_like(mean) * std + mean",
)
def normal(call: Call) -> list[Charge]:
    """Two reads up to 2.11, none since."""
    checked = VERSION <= (2, 11) and call["std"].numel()
    return [read(call["std"])] * 2 if checked else []
