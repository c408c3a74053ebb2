"""``torch.backends.cuda.cufft_plan_cache``: nothing is planned where no kernel runs, so it stays empty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken

_CAPACITY = 4096  # aten/src/ATen/native/cuda/CuFFTPlanCache.h, CUFFT_DEFAULT_CACHE_SIZE
_capacity = _CAPACITY


@spelling(torch._cufft_get_plan_cache_size)
def size(spoken: Spoken) -> int:
    """``cufft_plan_cache.size``."""
    return 0


@spelling(torch._cufft_clear_plan_cache)
def clear(spoken: Spoken) -> None:
    """``cufft_plan_cache.clear()``."""


@spelling(torch._cufft_get_plan_cache_max_size)
def max_size(spoken: Spoken) -> int:
    """``cufft_plan_cache.max_size``."""
    return _capacity


@spelling(torch._cufft_set_plan_cache_max_size)
def set_max_size(spoken: Spoken) -> None:
    """``cufft_plan_cache.max_size = n``.

    Raises:
        RuntimeError: it is negative; as PyTorch words it (CuFFTPlanCache.h, resize).
    """
    wanted = spoken.args[1]
    if wanted < 0:
        raise RuntimeError(f"cuFFT plan cache size must be non-negative, but got {wanted}")
    _set(wanted)


def _set(capacity: int) -> None:
    global _capacity
    _capacity = capacity


def show() -> Callable[[], Any]:
    """Start with the capacity that PyTorch has; the function returned goes back to it."""
    return lambda: _set(_CAPACITY)
