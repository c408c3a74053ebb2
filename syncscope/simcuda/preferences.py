"""Which of CUDA's libraries the user prefers: it decides whose waits there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

_NAMES = {
    "default": torch._C._LinalgBackend.Default,
    "cusolver": torch._C._LinalgBackend.Cusolver,
    "magma": torch._C._LinalgBackend.Magma,
}
_DEFAULT: Any = _NAMES["default"]
_preferred = _DEFAULT


def preferred_linalg_library(backend: Any = None) -> Any:
    """``torch.backends.cuda.preferred_linalg_library("cusolver")``.

    Raises:
        RuntimeError: there is no library of that name; as PyTorch words it (torch/backends/cuda).
    """
    global _preferred
    if isinstance(backend, str):
        if backend not in _NAMES:
            raise RuntimeError(f"Unknown input value. Choose from: {', '.join(_NAMES)}.")
        backend = _NAMES[backend]
    _preferred = _preferred if backend is None else backend
    return _preferred


def magma_takes_what_is_not_square() -> bool:
    """Whether MAGMA factors matrices that aren't square: cuSOLVER does where it is preferred."""
    return bool(_preferred != _NAMES["cusolver"])


def show() -> Callable[[], Any]:
    """Start without a preference; the function returned forgets what was preferred."""
    return lambda: preferred_linalg_library("default")
