"""Functions of ``torch._C`` for a GPU, for code that calls them without ``torch.cuda``.

A CPU build lacks most of them. ``_cuda_getDeviceCount`` stays away: torch asks for it to learn whether it
was built for CUDA, in every thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from syncscope.simcuda import watch, watched
from syncscope.simcuda.places import means_cuda
from syncscope.simcuda.stand_ins import accelerator, memory, streams, tunable


def show() -> watched.Undo:
    """Let them answer in watched threads; the function returned ends it."""
    undo = [_answered(name, answer) for name, answer in _ANSWERS.items()]
    return lambda: [back() for back in undo]


def _answered(name: str, answer: Callable[..., Any]) -> watched.Undo:
    if hasattr(torch._C, name):
        return watched.method(torch._C, name, lambda own, *args: answer(*args))
    return watched.attribute(torch._C, name, _only_watched(name, answer))


def _only_watched(name: str, answer: Callable[..., Any]) -> Callable[..., Any]:
    """``answer``; in a thread that isn't watched, what calling a function that isn't there leads to."""

    def called(*args: Any) -> Any:
        if watch.active() is None:
            raise AttributeError(f"module 'torch._C' has no attribute '{name}'")
        return answer(*args)

    return called


def _nothing(*args: Any) -> None:
    """Nothing is cached, and nothing has to be set up."""


def _exchange(device: int) -> int:
    """Set the current device; the one before it is returned."""
    if device >= 0:
        means_cuda(device)
    return 0


def _described(stream: Any) -> tuple[int, int, int]:
    """A stream as the bindings tell it: its id, and the index and the type of its device."""
    return stream.stream_id, stream.device_index, stream.device_type


_ANSWERS: dict[str, Callable[..., Any]] = {
    **tunable.ANSWERS,
    "_accelerator_synchronizeDevice": accelerator.synchronize,
    "_cuda_synchronize": streams.synchronize,
    "_cuda_getDevice": lambda: 0,
    "_cuda_setDevice": _exchange,
    "_cuda_exchangeDevice": _exchange,
    "_cuda_maybeExchangeDevice": _exchange,
    "_cuda_hasPrimaryContext": lambda device: True,
    "_cuda_canDeviceAccessPeer": lambda device, peer: False,
    "_cuda_isCurrentStreamCapturing": lambda: False,
    "_cuda_getCurrentStream": lambda device: _described(streams.current_stream()),
    "_cuda_getDefaultStream": lambda device: _described(streams.default_stream()),
    "_cuda_getCurrentRawStream": lambda device: streams.current_stream().cuda_stream,
    "_cuda_getCurrentBlasHandle": lambda: 0,
    "_cuda_getAllocatorBackend": memory.ANSWERS["get_allocator_backend"],
    "_cuda_getArchFlags": lambda: "sm_90",
    "_cuda_get_sync_debug_mode": lambda: 0,
    "_cuda_memoryStats": memory.ANSWERS["memory_stats_as_nested_dict"],
    "_cuda_memorySnapshot": lambda pool=None, *args: {"segments": [], "device_traces": []},
    **dict.fromkeys(
        (
            "_host_emptyCache", "_accelerator_emptyCache", "_accelerator_emptyHostCache", "_cuda_emptyCache",
            "_cuda_init", "_cuda_ipc_collect", "_cuda_sleep", "_cuda_clearCublasWorkspaces",
            "_cuda_resetPeakMemoryStats", "_cuda_resetAccumulatedMemoryStats", "_cuda_setMemoryFraction",
            "_cuda_set_sync_debug_mode",
        ),
        _nothing,
    ),
}  # fmt: skip
