"""A real GPU, watched: which line does what. How much is copied and waited for, torch.profiler says."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from torch.overrides import TorchFunctionMode

from syncscope.simcuda.dispatch import listener
from syncscope.simcuda.face import construction
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.watch import Watch


class WatchedGpu(Watch):
    """A context in which the events of a real GPU are recorded, for the thread that enters it.

    Everything runs as it would without it: nothing is placed, and ``torch.cuda`` is itself. The same listener
    hears the same ATen calls, and the cost table says which of them copy and wait.
    """

    simulated = False

    def _function_mode(self) -> TorchFunctionMode:
        return _Names(self)

    def _changes(self) -> Iterator[Callable[[], Any]]:
        yield listener.listen()


class _Names(TorchFunctionMode):
    """Notes which torch function the user's line called, and calls it."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call ``func`` as it was called; what builds a tensor isn't heard elsewhere."""
        words = dict(kwargs or {})
        spoken = Spoken(func, args, words, sys._getframe(1), device=self.watch)
        self.watch.frames.append(spoken)
        try:
            if func in construction.BUILDERS:
                return construction.built(spoken)
            return func(*args, **words)
        finally:
            self.watch.frames.pop()
