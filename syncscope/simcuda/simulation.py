"""The simulated CUDA device: a watch over a thread for which ``cuda`` is a device that isn't there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch.overrides import TorchFunctionMode

from syncscope.simcuda.dispatch import listener
from syncscope.simcuda.face.mode import Face
from syncscope.simcuda.stand_ins import cuda, jagged, overriding
from syncscope.simcuda.watch import Watch


class SimulatedDevice(Watch):
    """A context in which ``cuda`` means the simulated device, for the thread that enters it.

    Tensors stay CPU tensors, and values are the CPU's; a placement remembers which of them are on ``cuda:0``.
    """

    simulated = True

    def _function_mode(self) -> TorchFunctionMode:
        return Face(self)

    def _changes(self) -> Iterator[Callable[[], Any]]:
        yield cuda.show(SimulatedDevice)
        yield listener.listen()
        yield jagged.show()
        yield overriding.show()
