"""Attention on nested tensors, which one fused kernel does on CUDA and no kernel of the CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.costs import table
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken

_NAMES = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
_HALVES = (torch.float16, torch.bfloat16)
_ALIGNMENT = {torch.float32: 4, torch.float16: 8, torch.bfloat16: 8}
_WIDEST = 256


@spelling(torch._C._nn.scaled_dot_product_attention)
def scaled_dot_product_attention(spoken: Spoken) -> Any:
    """``F.scaled_dot_product_attention``: strided nested tensors go to the kernel that takes them."""
    words = dict(zip(_NAMES, spoken.args, strict=False)) | spoken.kwargs
    given: list[Any] = [words.get(name) for name in _NAMES[:3]]
    if not all(table.is_on(one) and one.is_nested and one.layout is torch.strided for one in given):
        return spoken.plainly()
    query, key, value = given
    flash = flash_takes(query)
    wants = any(one.requires_grad for one in given) and torch.is_grad_enabled()
    if words.get("attn_mask") is not None or not (flash or (efficient_takes(query) and not wants)):
        return spoken.plainly()
    options = {"dropout_p": words.get("dropout_p", 0.0), "is_causal": words.get("is_causal", False)}
    made = torch.ops.aten._scaled_dot_product_efficient_attention(
        query, key, value, None, False, **options, scale=words.get("scale")
    )
    return made[0]


def flash_takes(query: Tensor) -> bool:
    """Whether flash attention takes a nested ``query`` (transformers/cuda/sdp_utils.cpp)."""
    return torch.backends.cuda.flash_sdp_enabled() and query.dtype in _HALVES and _is_aligned(query)


def efficient_takes(query: Tensor) -> bool:
    """Whether memory-efficient attention does."""
    return torch.backends.cuda.mem_efficient_sdp_enabled() and _is_aligned(query)


def _is_aligned(query: Tensor) -> bool:
    width = query.size(-1)
    alignment = _ALIGNMENT.get(query.dtype)
    return alignment is not None and width % alignment == 0 and width <= _WIDEST
