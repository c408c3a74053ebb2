"""torch.profiler on a simulated device: it records what the CPU does, and no kernels, for there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch._C._profiler import ProfilerState
from torch.autograd import profiler

from syncscope.simcuda import watch, watched
from syncscope.simcuda.stand_ins import streams

Own = Callable[..., Any]
_NOTE = "torch.profiler recorded the CPU only: a simulated device runs no kernels"


def show() -> watched.Undo:
    """Let profilers run without CUDA events, which a CPU build fails to record, in watched threads."""
    undo = [
        watched.method(profiler.profile, "__init__", profile),
        watched.method(profiler.emit_nvtx, "__enter__", mark),
        watched.method(profiler.emit_nvtx, "__exit__", unmark),
    ]
    return lambda: [back() for back in undo]


def profile(own: Own, self: Any, *args: Any, **options: Any) -> None:
    """``torch.profiler.profile(activities=[ProfilerActivity.CUDA])`` comes to this as well."""
    if options.get("use_cuda") or options.get("use_device") == "cuda":
        options["use_cpu"] = True
    own(self, *args, **options)
    if self.profiler_kind == ProfilerState.KINETO_GPU_FALLBACK:
        self.profiler_kind = ProfilerState.KINETO
        device = watch.active()
        if device is not None:
            device.note(_NOTE)


def mark(own: Own, self: Any) -> Any:
    """``with torch.autograd.profiler.emit_nvtx()``: it waits for the device at both ends."""
    unmark(own, self)
    return self


def unmark(own: Own, self: Any, *error: object) -> None:
    """The end of ``emit_nvtx()``."""
    if self.enabled:
        streams.synchronize()
