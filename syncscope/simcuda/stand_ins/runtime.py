"""CUDA's runtime as torch has it: when it starts, and ``torch.cuda.cudart()``, the part that is handed on.

Source: torch/csrc/cuda/shared/cudart.cpp.
"""

from __future__ import annotations

from enum import IntEnum
from types import SimpleNamespace
from typing import Any

import torch

from syncscope.simcuda import forks, watched
from syncscope.simcuda.stand_ins import memory


class cudaError(IntEnum):  # noqa: N801
    """A result of the runtime: only success has a name."""

    success = 0

    @classmethod
    def _missing_(cls, value: object) -> cudaError:
        made = int.__new__(cls, value)  # type: ignore[call-overload]
        made._name_, made._value_ = "???", value
        return made  # type: ignore[no-any-return]


_MESSAGES = {
    0: "no error",
    1: "invalid argument",
    2: "out of memory",
    3: "initialization error",
    100: "no CUDA-capable device is detected",
    101: "invalid device ordinal",
    600: "device not ready",
    700: "an illegal memory access was encountered",
    710: "device-side assert triggered",
    719: "unspecified launch failure",
}


def _message(error: cudaError) -> str:
    return _MESSAGES.get(error, "unrecognized error code")


def _succeeds(*args: Any) -> cudaError:
    return cudaError.success


CUDART = SimpleNamespace(
    cudaError=cudaError,
    cudaGetErrorString=_message,
    cudaMemGetInfo=lambda device: memory.mem_get_info(),
    **dict.fromkeys(
        (
            "cudaProfilerStart", "cudaProfilerStop", "cudaHostRegister", "cudaHostUnregister",
            "cudaStreamCreate", "cudaStreamDestroy",
        ),
        _succeeds,
    ),
)  # fmt: skip


def show() -> watched.Undo:
    """Let functions of ``torch.cuda`` that were taken before find it there, and have it started."""
    undo = [
        watched.attribute(torch.cuda, "_cudart", CUDART),
        watched.method(torch.cuda, "_lazy_init", lambda own: forks.refuse_bad()),
    ]
    return lambda: [back() for back in undo]
