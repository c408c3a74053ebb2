"""A real GPU, watched: which line does what. How much is copied and waited for, torch.profiler says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch.overrides import TorchFunctionMode

from syncscope.simcuda.device import SimulatedDevice
from syncscope.simcuda.frames import Frame


class WatchedGpu(SimulatedDevice):
    """A context in which the events of a real GPU are recorded, for the thread that enters it.

    Everything runs as it would without it: nothing is placed, and ``torch.cuda`` is itself. The same listener
    hears the same ATen calls, and the cost table says which of them copy and wait.
    """

    simulated = False

    def _show(self) -> list[Callable[[], Any]]:
        from syncscope.simcuda import listener

        return [listener.listen()]

    def _mode(self) -> TorchFunctionMode:
        return _Names(self)


class _Names(TorchFunctionMode):
    """Notes which torch function the user's line called, and calls it."""

    def __init__(self, device: SimulatedDevice) -> None:
        super().__init__()
        self.device = device

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call ``func`` as it was called."""
        words = dict(kwargs or {})
        self.device.frames.append(Frame(func, args, words, caller=sys._getframe(1)))
        try:
            return func(*args, **words)
        finally:
            self.device.frames.pop()
