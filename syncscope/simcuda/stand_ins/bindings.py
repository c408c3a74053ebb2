"""Functions of ``torch._C`` for a GPU, for code that calls them without ``torch.cuda``.

A CPU build lacks most of them, and torch asks for ``_cuda_getDeviceCount`` to learn whether it was built for
CUDA: so those are found in watched threads alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from syncscope.simcuda import forks, watch, watched
from syncscope.simcuda.places import means_cuda
from syncscope.simcuda.stand_ins import accelerator, memory, streams, tunable


def show() -> watched.Undo:
    """Let them answer in watched threads; the function returned ends it."""
    undo = [_answered(name, answer) for name, answer in _ANSWERS.items() if hasattr(torch._C, name)]
    undo.append(watched.attribute(torch._C, "__getattr__", _missing))
    return lambda: [back() for back in undo]


def _answered(name: str, answer: Callable[..., Any]) -> watched.Undo:
    return watched.method(torch._C, name, lambda own, *args: answer(*args))


def _missing(name: str) -> Callable[..., Any]:
    """What a module is asked for a name that it hasn't: those of a GPU, in watched threads."""
    if name in _ANSWERS and watch.active() is not None:
        return _ANSWERS[name]
    raise AttributeError(f"module 'torch._C' has no attribute '{name}'")


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


def _refuse_to_compile(*args: Any) -> None:
    """What ``torch.cuda.jiterator`` calls: the kernel is CUDA's C++, which only a GPU's compiler takes.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(
        "a simulated device compiles no kernels of torch.cuda.jiterator: write the function with torch's "
        "operators here, or take a GPU"
    )


_ANSWERS: dict[str, Callable[..., Any]] = {
    **tunable.ANSWERS,
    "_cuda_getDeviceCount": lambda: 1,
    "_cuda_isInBadFork": forks.is_bad,
    "_cuda_jiterator_compile_and_launch_kernel": _refuse_to_compile,
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
