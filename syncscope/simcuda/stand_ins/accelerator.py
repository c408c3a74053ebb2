"""The face of ``torch.accelerator`` while a simulated device is active in the calling thread."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch
from torch.accelerator._utils import _get_device_index

from syncscope.simcuda.places import means_cuda
from syncscope.simcuda.stand_ins import memory, streams


def synchronize(device: Any = None, /) -> None:
    """``torch.accelerator.synchronize()``: the host waits for the whole device."""
    streams.wait("torch.accelerator.synchronize", streams.DEVICE.why)


def set_device_index(device: Any, /) -> None:
    """``torch.accelerator.set_device_index(0)``.

    Raises:
        RuntimeError: there is no such GPU; as PyTorch words it.
        ValueError: no index of a GPU is named; as PyTorch words it.
    """
    means_cuda(_get_device_index(device))


def get_device_capability(device: Any = None, /) -> dict[str, Any]:
    """``torch.accelerator.get_device_capability()``.

    Raises:
        RuntimeError: always; as PyTorch words it for CUDA (c10/core/impl/DeviceGuardImplInterface.h).
    """
    raise RuntimeError("Backend doesn't support getting device capabilities.")


MEMORY: dict[str, Any] = {
    "empty_cache": memory.emptying("torch.accelerator.empty_cache"),
    "empty_host_cache": memory.emptying("torch.accelerator.empty_host_cache"),
    "get_memory_info": memory.mem_get_info,
    "memory_stats": memory.memory_stats,
    "memory_allocated": memory.figure("allocated_bytes.all.current"),
    "max_memory_allocated": memory.figure("allocated_bytes.all.peak"),
    "memory_reserved": memory.figure("reserved_bytes.all.current"),
    "max_memory_reserved": memory.figure("reserved_bytes.all.peak"),
    "reset_peak_memory_stats": memory.ANSWERS["reset_peak_memory_stats"],
    "reset_accumulated_memory_stats": memory.ANSWERS["reset_accumulated_memory_stats"],
}
"""What ``torch.accelerator.memory`` says."""

ANSWERS: dict[str, Any] = {
    **MEMORY,
    "is_available": lambda: True,
    "device_count": lambda: 1,
    "current_accelerator": lambda check_available=False: torch.device("cuda"),
    "current_device_index": lambda: 0,
    "current_device_idx": lambda: 0,
    "set_device_index": set_device_index,
    "set_device_idx": set_device_index,
    # A function of its own: torch.compile's tables take no function twice.
    "current_stream": lambda device=None, /: streams.current_stream(),
    "set_stream": streams.set_stream,
    "synchronize": synchronize,
    "device_index": nullcontext,
    "get_device_capability": get_device_capability,
}
"""What ``torch.accelerator`` says."""
