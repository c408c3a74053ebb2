"""``torch.autocast("cuda")`` on the simulated device.

Its tensors are CPU tensors, so what casts them is the CPU's autocast, set as CUDA's is. The operators that
CUDA casts and the CPU doesn't get kernels of their own on the CPU's key, which do nothing else but cast.
The lists are those of ATen/autocast_mode.h.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import watch, watched
from syncscope.simcuda.frames import tensors
from syncscope.simcuda.placement import PLACEMENT

_FLOAT32 = """
    acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow.Tensor_Scalar
    pow.Tensor_Tensor pow.Scalar softplus layer_norm native_layer_norm rms_norm group_norm frobenius_norm.dim
    nuclear_norm nuclear_norm.dim cosine_similarity poisson_nll_loss cosine_embedding_loss nll_loss nll_loss2d
    hinge_embedding_loss kl_div l1_loss smooth_l1_loss huber_loss mse_loss margin_ranking_loss
    multilabel_margin_loss soft_margin_loss triplet_margin_loss multi_margin_loss
    binary_cross_entropy_with_logits dist pdist cdist renorm logsumexp upsample_nearest1d
    _upsample_nearest_exact1d upsample_nearest2d _upsample_nearest_exact2d upsample_nearest3d
    _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d _upsample_bilinear2d_aa
    upsample_trilinear3d upsample_bicubic2d _upsample_bicubic2d_aa norm.Scalar norm.ScalarOpt_dim
"""
_FLOAT32_UNLESS_ASKED = """
    prod prod.dim_int softmax.int log_softmax.int cumprod cumsum linalg_vector_norm linalg_matrix_norm
    linalg_matrix_norm.str_ord sum sum.dim_IntList
"""
_LOWER = "prelu addmv addr mv chain_matmul linalg_multi_dot"
_WIDEST = "addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add"

_HALVES = (torch.float16, torch.bfloat16)
_KEY = torch._C.DispatchKey.AutocastCPU

# The dtype that an operator's eligible tensors are cast to; None leaves them.
Wanted = Callable[[list[Tensor], dict[str, Any]], "torch.dtype | None"]


def show() -> watched.Undo:
    """Let CUDA's autocast be the CPU's, for watched threads."""
    undo = [
        watched.method(torch, "set_autocast_enabled", _then_follow),
        watched.method(torch, "set_autocast_dtype", _then_follow),
    ]
    return lambda: [back() for back in undo]


class _Followed(threading.local):
    """What the CPU's autocast was in this thread before it followed CUDA's."""

    own: tuple[bool, torch.dtype] | None = None


_followed = _Followed()
_set_enabled, _set_dtype = torch.set_autocast_enabled, torch.set_autocast_dtype


def _then_follow(own: Callable[..., None], *args: Any) -> None:
    own(*args)
    if torch.is_autocast_enabled("cuda"):
        _register()
        if _followed.own is None:
            _followed.own = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
        _set("cpu", True, torch.get_autocast_dtype("cuda"))
    elif _followed.own is not None:
        _set("cpu", *_followed.own)
        _followed.own = None


def _set(device_type: str, enabled: bool, dtype: torch.dtype) -> None:
    _set_enabled(device_type, enabled)
    _set_dtype(device_type, dtype)


@cache
def _register() -> torch.library.Library:
    """Register the casting kernels, where the CPU's autocast has none."""
    library = torch.library.Library("aten", "IMPL")
    for names, wanted in (
        (_FLOAT32, _float32),
        (_FLOAT32_UNLESS_ASKED, _float32_unless_asked),
        (_LOWER, _lower),
        (_WIDEST, _widest),
    ):
        for name in names.split():
            if not torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", "AutocastCPU"):
                library.impl(name, _casting(_overload(name), wanted), "AutocastCPU", with_keyset=True)
    return library


def _overload(name: str) -> torch._ops.OpOverload:
    base, _, overload = name.partition(".")
    found: torch._ops.OpOverload = getattr(getattr(torch.ops.aten, base), overload or "default")
    return found


def _casting(func: torch._ops.OpOverload, wanted: Wanted) -> Callable[..., Any]:
    def call(keys: Any, *args: Any, **kwargs: Any) -> Any:
        below = keys.remove(_KEY)
        if watch.active() is None or not torch.is_autocast_enabled("cuda"):
            return func.redispatch(below, *args, **kwargs)
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(_KEY)):
            dtype = wanted(list(_eligible(args, kwargs)), kwargs)
            if dtype is not None:
                args, kwargs = _cast(args, dtype), _cast(kwargs, dtype)
            return func.redispatch(below, *args, **kwargs)

    return call


def _float32(eligible: list[Tensor], kwargs: dict[str, Any]) -> torch.dtype:
    return torch.float32


def _float32_unless_asked(eligible: list[Tensor], kwargs: dict[str, Any]) -> torch.dtype | None:
    return torch.float32 if kwargs.get("dtype") is None else None


def _lower(eligible: list[Tensor], kwargs: dict[str, Any]) -> torch.dtype:
    return torch.get_autocast_dtype("cuda")


def _widest(eligible: list[Tensor], kwargs: dict[str, Any]) -> torch.dtype:
    has_float = any(tensor.dtype == torch.float32 for tensor in eligible)
    return torch.float32 if has_float else torch.get_autocast_dtype("cuda")


def _eligible(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Tensor]:
    return (tensor for tensor in tensors(args, kwargs) if _is_eligible(tensor))


def _is_eligible(tensor: Tensor) -> bool:
    return tensor.dtype in (*_HALVES, torch.float32) and PLACEMENT.is_on(tensor)


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, Tensor):
        return value.to(dtype) if _is_eligible(value) else value
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(item, dtype) for item in value)
    if isinstance(value, dict):
        return {name: _cast(item, dtype) for name, item in value.items()}
    return value
