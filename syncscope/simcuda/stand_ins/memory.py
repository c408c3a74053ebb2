"""What the simulated device says about its memory: the bytes of the tensors that live on it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import torch

from syncscope.simcuda import watch
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.face import bodies
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.reasons import reason

TOTAL_BYTES = 80 * 2**30

_torch_summary: Any = torch.cuda.memory.memory_summary

_COUNTED = ("allocation", "segment", "active", "inactive_split")
_BYTES = ("allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes", "requested_bytes")
_POOLS = ("all", "large_pool", "small_pool")
_TIMES = ("current", "peak", "allocated", "freed")
_SCALARS = ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free",
            "max_split_size")  # fmt: skip


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    """``torch.cuda.memory_stats()``: what lives on the device now is its peak, too; nothing is cached."""
    stats = OrderedDict(
        (f"{figure}.{pool}.{time}", 0)
        for figure in (*_COUNTED, *_BYTES)
        for pool in _POOLS
        for time in _TIMES
    )
    stats.update(dict.fromkeys(_SCALARS, 0))
    for part in ("oversize_allocations", "oversize_segments"):
        stats.update({f"{part}.{time}": 0 for time in _TIMES})
    alive = PLACEMENT.allocated_bytes()
    for figure in ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes"):
        stats.update({f"{figure}.all.{time}": alive for time in ("current", "peak", "allocated")})
    return stats


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """``torch.cuda.mem_get_info()``: free and total bytes."""
    return TOTAL_BYTES - PLACEMENT.allocated_bytes(), TOTAL_BYTES


def _nothing(*args: Any, **kwargs: Any) -> None:
    """There is no cache and no history."""


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """``torch.cuda.set_per_process_memory_fraction(0.5)``: nothing is limited.

    Raises:
        TypeError: ``fraction`` is no float; as PyTorch words it (torch/cuda/memory.py).
        ValueError: it isn't between 0 and 1; as PyTorch words it.
    """
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")


def figure(name: str) -> Any:
    """A function that answers with one of the statistics."""
    return lambda device=None: memory_stats()[name]


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """``torch.cuda.memory_summary()``: torch's own table, of our figures."""
    ours = {"memory_stats": memory_stats, "_get_device_index": lambda *args, **kwargs: 0}
    return str(bodies.with_globals(_torch_summary, ours)(device, abbreviated))


@contextmanager
def _unchanged(*args: Any, **kwargs: Any) -> Any:
    yield


class MemPool:
    """``torch.cuda.MemPool()``: a pool that holds nothing, since nothing is cached."""

    id = (0, 0)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """A new pool."""

    def use_count(self) -> int:
        """Whoever asks uses it."""
        return 1

    def snapshot(self, include_traces: bool = True) -> list[Any]:
        """No segments."""
        return []


_FREED = reason(
    "torch.cuda.empty_cache",
    "torch.accelerator.empty_cache",
    "torch.accelerator.empty_host_cache",
    why="cached memory goes back to the driver, which may wait for the device before it takes it",
    source="c10/cuda/CUDACachingAllocator.cpp, emptyCache",
    figures="nothing that is counted: the driver may wait",
    instead="leave the cache alone: PyTorch uses it again",
)


def emptying(spelling: str) -> Callable[[], None]:
    """A function that gives the cache back: there is none here, but on a GPU there may be one."""

    def empty_cache() -> None:
        device = watch.active()
        if device is not None:
            device.charge([Charge("wait", may_wait=_FREED.why)], spelling=spelling)

    return empty_cache


ANSWERS: dict[str, Any] = {
    "empty_cache": emptying("torch.cuda.empty_cache"),
    "MemPool": MemPool,
    "memory_stats": memory_stats,
    "memory_stats_as_nested_dict": lambda device=None: {},
    "host_memory_stats": lambda: OrderedDict(),
    "memory_snapshot": lambda mempool_id=None, include_traces=True: [],
    "mem_get_info": mem_get_info,
    "list_gpu_processes": lambda device=None: "GPU:0\nno processes are running",
    "caching_allocator_alloc": lambda size, device=None, stream=None: 0,
    "caching_allocator_enable": _nothing,
    "get_allocator_backend": lambda: "native",
    "get_per_process_memory_fraction": lambda device=None: 1.0,
    "set_per_process_memory_fraction": set_per_process_memory_fraction,
    "use_mem_pool": _unchanged,
    "memory_allocated": figure("allocated_bytes.all.current"),
    "max_memory_allocated": figure("allocated_bytes.all.peak"),
    "memory_reserved": figure("reserved_bytes.all.current"),
    "max_memory_reserved": figure("reserved_bytes.all.peak"),
    "memory_summary": memory_summary,
    **dict.fromkeys(
        (
            "caching_allocator_delete", "ipc_collect", "reset_accumulated_memory_stats",
            "reset_peak_memory_stats", "reset_max_memory_allocated", "reset_max_memory_cached",
            "reset_accumulated_host_memory_stats", "reset_peak_host_memory_stats",
            "_record_memory_history", "_set_allocator_settings",
        ),
        _nothing,
    ),
}  # fmt: skip
"""What ``torch.cuda`` and ``torch.cuda.memory`` say."""
