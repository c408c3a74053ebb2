"""Which of CUDA's libraries the user prefers: it decides whose waits there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch


class Preference:
    """Which of several libraries the user prefers: ``names`` has their names, "default" for none."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        """Nothing is preferred."""
        self.names = names
        self.preferred = names["default"]

    def choose(self, backend: Any = None) -> Any:
        """``torch.backends.cuda.preferred_linalg_library("cusolver")``, and without a name, which it is.

        Raises:
            RuntimeError: there is no library of that name; as PyTorch words it (torch/backends/cuda).
        """
        if isinstance(backend, str):
            if backend not in self.names:
                raise RuntimeError(f"Unknown input value. Choose from: {', '.join(self.names)}.")
            backend = self.names[backend]
        self.preferred = self.preferred if backend is None else backend
        return self.preferred


LINALG = Preference(torch.backends.cuda._LinalgBackends)
BLAS = Preference({**torch.backends.cuda._BlasBackends, "default": torch._C._BlasBackend.Cublas})

ANSWERS: dict[str, Any] = {
    "preferred_linalg_library": LINALG.choose,
    "preferred_blas_library": BLAS.choose,
}
"""What ``torch.backends.cuda`` says."""


def magma_takes_what_is_not_square() -> bool:
    """Whether MAGMA factors matrices that aren't square: cuSOLVER does where it is preferred."""
    return bool(LINALG.preferred != LINALG.names["cusolver"])


def show() -> Callable[[], Any]:
    """Start without a preference; the function returned forgets what was preferred."""
    return _forget


def _forget() -> None:
    for one in (LINALG, BLAS):
        one.choose("default")
