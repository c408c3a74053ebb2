"""Which fused kernel takes jagged nested tensors: torch asks, to choose one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.nested._internal import sdpa

from syncscope.simcuda import watched
from syncscope.simcuda.face.attention import efficient_takes, flash_takes
from syncscope.simcuda.placement import PLACEMENT

_ANSWERS = {"can_use_flash_attention": flash_takes, "can_use_efficient_attention": efficient_takes}


def show() -> watched.Undo:
    """Answer as CUDA does for device tensors, in watched threads; the function returned ends it."""
    undo = [watched.method(sdpa, name, _asked(takes)) for name, takes in _ANSWERS.items()]
    return lambda: [back() for back in undo]


def _asked(takes: Callable[[Tensor], bool]) -> Callable[..., bool]:
    def answer(own: Callable[..., bool], params: Any, debug: bool = False) -> bool:
        return takes(params.query) if PLACEMENT.is_on(params.query) else own(params, debug)

    return answer
