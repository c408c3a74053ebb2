"""The simulated CUDA device: what one thread sees of it while it is active."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection
from types import TracebackType
from typing import Any

import torch
from typing_extensions import Self

from syncscope import sites
from syncscope.events import Event
from syncscope.simcuda.costs.table import Charge
from syncscope.simcuda.frames import Frame

Sink = Callable[[Event], None]


class _Here(threading.local):
    """The device that is active in this thread."""

    device: SimulatedDevice | None = None


_here = _Here()


def active() -> SimulatedDevice | None:
    """The simulated device that watches this thread, if one does."""
    return _here.device


class SimulatedDevice:
    """A context in which ``cuda`` means the simulated device, for the thread that enters it.

    Every event goes to ``sink``. ``families`` maps an ATen operator's name to the family that its launches
    are counted under. ``operators`` counts every ATen call that was seen, by name and on whichever device:
    what torch.profiler counts as well. ``kernels`` names those that were run as they are on the CPU: what
    their kernels call was not heard.

    On every way out the thread's function modes are those it came in with, and ``torch.cuda`` is as it was.
    """

    def __init__(self, sink: Sink, families: dict[str, str] | None = None, stack_depth: int = 1) -> None:
        """Prepare; nothing is changed before the context is entered."""
        self.sink = sink
        self.families = families or {}
        self.stack_depth = stack_depth
        self.frames: list[Frame] = []
        self.operators: Counter[str] = Counter()
        self.kernels: set[str] = set()
        self._undo: list[Callable[[], Any]] = []

    def __enter__(self) -> Self:
        """Become the active device of this thread."""
        from syncscope.simcuda import cuda, face, listener

        self._outer = _here.device
        self._modes = function_modes()
        _here.device = self
        self._undo = [cuda.show(), listener.listen()]
        torch._C._push_on_torch_function_stack(face.Face(self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put everything back, modes that the watched code left behind too."""
        set_function_modes(self._modes)
        for undo in reversed(self._undo):
            undo()
        self.frames.clear()
        _here.device = self._outer

    def places_on_device(self) -> bool:
        """Whether a tensor made from nothing just now belongs on the device."""
        return bool(self.frames) and self.frames[-1].places_on_device

    def charge(self, charges: Collection[Charge], op: str = "", why: str = "") -> None:
        """Record ``charges`` of the operator ``op`` against the user's line that is running."""
        if not charges:
            return
        stack = sites.stack(self.stack_depth)
        for charge in charges:
            self.sink(
                Event(
                    kind=charge.kind,
                    api=self._api() or op,
                    op=op,
                    dtoh=charge.dtoh,
                    htod=charge.htod,
                    dtod=charge.dtod,
                    waits=charge.waits,
                    shape=charge.shape,
                    dtype=charge.dtype,
                    reason="; ".join(filter(None, (why, charge.note))),
                    site=stack[0] if stack else sites.NOWHERE,
                    stack=stack,
                )
            )

    def launched(self, op: str, family: str) -> None:
        """Record a launch of a counted operator family."""
        self.sink(Event(kind="launch", api=self._api() or op, op=op, family=family, site=sites.here()))

    def _api(self) -> str:
        """The spelling that the user's own line called: torch may have called others below it."""
        for frame in reversed(self.frames):
            if frame.caller is not None and sites.is_users(frame.caller.f_code):
                return frame.spelling
        return self.frames[0].spelling if self.frames else ""


def function_modes() -> list[Any]:
    """The function modes of this thread, innermost last."""
    return [torch._C._get_function_stack_at(i) for i in range(torch._C._len_torch_function_stack())]


def set_function_modes(modes: list[Any]) -> None:
    """Make ``modes`` the function modes of this thread."""
    if function_modes() == modes:
        return
    while torch._C._len_torch_function_stack():
        torch._C._pop_torch_function_stack()
    for mode in modes:
        torch._C._push_on_torch_function_stack(mode)
