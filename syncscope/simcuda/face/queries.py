"""Spellings that ask where a tensor lives."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.places import CUDA

_TORCH_DEVICE = torch.device


@spelling(torch.device)
def named(spoken: Spoken) -> Any:
    """``torch.device(...)`` names a device, and makes nothing there.

    A number alone is that of a GPU, of which a CPU build has none.
    """
    args = [_TORCH_DEVICE("cuda", one) if type(one) is int else one for one in spoken.args[:1]]
    words = {
        name: _TORCH_DEVICE("cuda", one) if name == "device" and type(one) is int else one
        for name, one in spoken.kwargs.items()
    }
    return spoken.func(*args, *spoken.args[1:], **words)


@spelling(torch._C._nn._parse_to)
def module_target(spoken: Spoken) -> tuple[Any, ...]:
    """What ``nn.Module.to`` reads its arguments with: a device that is named, or that of a tensor."""
    device, *rest = named(spoken)
    like = spoken.kwargs.get("tensor", spoken.args[0] if spoken.args else None)
    return (CUDA if isinstance(like, Tensor) and PLACEMENT.is_on(like) else device, *rest)


@spelling(Tensor.device.__get__)
def device(spoken: Spoken) -> torch.device:
    """``t.device``."""
    (tensor,) = spoken.args
    return CUDA if PLACEMENT.is_on(tensor) else tensor.device


@spelling(Tensor.is_cuda.__get__)  # type: ignore[attr-defined]
def is_cuda(spoken: Spoken) -> bool:
    """``t.is_cuda``."""
    return PLACEMENT.is_on(spoken.args[0])


@spelling(Tensor.is_cpu.__get__)  # type: ignore[attr-defined]
def is_cpu(spoken: Spoken) -> bool:
    """``t.is_cpu``."""
    (tensor,) = spoken.args
    return bool(tensor.is_cpu) and not PLACEMENT.is_on(tensor)


@spelling(Tensor.get_device, torch.get_device)
def get_device(spoken: Spoken) -> int:
    """``t.get_device()``: the GPU's index, or -1."""
    return 0 if PLACEMENT.is_on(spoken.args[0]) else -1


@spelling(Tensor.is_pinned)
def is_pinned(spoken: Spoken) -> bool:
    """``t.is_pinned()``."""
    return PLACEMENT.is_pinned(spoken.args[0])


@spelling(Tensor.is_shared)
def is_shared(spoken: Spoken) -> bool:
    """``t.is_shared()``: device memory always is."""
    return PLACEMENT.is_on(spoken.args[0]) or bool(spoken.run(*spoken.args))


@spelling(Tensor.share_memory_, Tensor.record_stream)
def stays(spoken: Spoken) -> object:
    """``t.share_memory_()`` and ``t.record_stream(s)``: nothing to do for a tensor on the device."""
    (tensor, *rest) = spoken.args
    return tensor if PLACEMENT.is_on(tensor) else spoken.run(tensor, *rest, **spoken.kwargs)
