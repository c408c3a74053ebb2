"""What ``torch.use_deterministic_algorithms(True)`` refuses on CUDA and the CPU takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.costs.table import Call
from syncscope.simcuda.operators import Operator

_MAX = 2
"""The number of ``mode="max"`` in an embedding bag."""


def _always(call: Call) -> bool:
    return True


def _with_weights(call: Call) -> bool:
    return isinstance(call["weights"], Tensor) and call["weights"].numel() > 0


def _of_floats(call: Call) -> bool:
    return bool(call["self"].is_floating_point())


def _product(call: Call) -> bool:
    return bool(call["reduce"] == "prod")


def _multiplied(call: Call) -> bool:
    return bool(call["reduce"] == "multiply")


def _reduced(call: Call) -> bool:
    return bool(call["reduction"] != 0)


def _of_largest(call: Call) -> bool:
    return bool(call["mode"] == _MAX)


_BACKWARD = (
    "adaptive_max_pool2d_backward_cuda", "avg_pool3d_backward_cuda", "fractional_max_pool2d_backward_cuda",
    "fractional_max_pool3d_backward_cuda", "max_pool3d_with_indices_backward_cuda",
    "grid_sampler_2d_backward_cuda", "grid_sampler_3d_backward_cuda",
    "upsample_linear1d_backward_out_cuda", "upsample_bilinear2d_backward_out_cuda",
    "upsample_bicubic2d_backward_out_cuda", "upsample_trilinear3d_backward_out_cuda",
    "reflection_pad1d_backward_out_cuda", "reflection_pad3d_backward_out_cuda",
)  # fmt: skip
"""Those that are told as the operator itself, with an ending for the device."""

_REFUSED: dict[str, tuple[str, Callable[[Call], bool]]] = {
    **{name.removesuffix("_cuda").removesuffix("_out"): (name, _always) for name in _BACKWARD},
    "_upsample_bilinear2d_aa_backward": ("upsample_bilinear2d_aa_backward_out_cuda", _always),
    "_upsample_bicubic2d_aa_backward": ("upsample_bicubic2d_aa_backward_out_cuda", _always),
    "_adaptive_avg_pool2d_backward": ("adaptive_avg_pool2d_backward_cuda", _always),
    "_adaptive_avg_pool3d_backward": ("adaptive_avg_pool3d_backward_cuda", _always),
    "max_unpool2d": ("max_unpooling2d_forward_out", _always),
    "max_unpool3d": ("max_unpooling3d_forward_out", _always),
    "bincount": ("_bincount_cuda", _with_weights),
    "median.dim": ("median CUDA with indices output", _always),
    "nanmedian.dim": ("median CUDA with indices output", _always),
    "histc": ("_histc_cuda with floating point input", _of_floats),
    "index_reduce": ("index_reduce_cuda", _always),
    "put_": ("put_", _always),
    "scatter_reduce.two": ("scatter_reduce_cuda_prod_", _product),
    "scatter.reduce": ("scatter_reduce_cuda_kernel", _multiplied),
    "nll_loss2d_forward": ("nll_loss2d_forward_out_cuda_template", _reduced),
    "_embedding_bag_backward": ("embedding_bag_backward_cuda_max", _of_largest),
    "_embedding_bag_dense_backward": ("embedding_bag_backward_cuda_max", _of_largest),
    "_ctc_loss_backward": ("ctc_loss_backward_gpu", _always),
}
"""By operator, or overload: what PyTorch says hasn't a deterministic implementation, and for which calls.

Found where ``alertNotDeterministic`` is called in aten/src/ATen/native/cuda.
"""


def refuse(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse, or warn of, a call that CUDA can't do deterministically, if that was asked for.

    Raises:
        RuntimeError: as PyTorch words it (aten/src/ATen/Context.cpp, alertNotDeterministic).
    """
    base = operator.name.removesuffix("_")
    names = (f"{base}.{operator.overload}", base, operator.name)
    caller, applies = next((_REFUSED[name] for name in names if name in _REFUSED), ("", _always))
    if not caller or not applies(Call(operator, args, kwargs)):
        return
    if torch.is_deterministic_algorithms_warn_only_enabled():
        warnings.warn(_warning(caller), stacklevel=2)
        return
    raise RuntimeError(
        f"{caller} does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this operation, "
        "or you can use the 'warn_only=True' option, if that's acceptable for your application. You can "
        "also file an issue at https://github.com/pytorch/pytorch/issues to help us prioritize adding "
        "deterministic support for this operation."
    )


def _warning(caller: str) -> str:
    return (
        f"{caller} does not have a deterministic implementation, but you set "
        "'torch.use_deterministic_algorithms(True, warn_only=True)'. You can file an issue at "
        "https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic support for "
        "this operation."
    )
