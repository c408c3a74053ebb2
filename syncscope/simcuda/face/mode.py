"""The Python face of the simulated device: every call of a torch function from Python passes here."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any

import torch.utils._device
from torch import Tensor
from torch.overrides import TorchFunctionMode, handle_torch_function
from torch.utils._device import _device_constructors

from syncscope.simcuda import tangents, watch
from syncscope.simcuda.face import bodies, fakes, replaced
from syncscope.simcuda.face.spellings import spellings
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.frames import tensors
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.places import CUDA
from syncscope.simcuda.watch import Watch

_torch_device = torch.utils._device


class Face(TorchFunctionMode):
    """The function mode of one simulated device."""

    def __init__(self, device: Watch) -> None:
        """A face for ``device``."""
        super().__init__()
        self.device = device
        self._spellings = spellings()

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Answer ``func`` as a machine with one GPU would.

        A class that overrides it is asked first, by torch, and what it calls in its turn passes here again.
        """
        words = dict(kwargs) if kwargs else {}
        if watch.active() is not self.device:
            return func(*args, **words)  # a device that stands inside of this one answers
        if fakes.is_traced(types):
            return fakes.answered(self.device, func, args, words)
        if bodies.overridden(types):
            return NotImplemented
        func = replaced.native(func)
        handed = self.device.handed
        if handed is not None and func is handed.func and words.get("device") != CUDA:
            if not handed.heard:
                return _unheard(func, args, words)
            if func not in self._spellings:
                return func(*args, **words)
        default = _torch_device.CURRENT_DEVICE  # its own mode lies below this one, and comes too late
        if default is not None and func in _device_constructors() and words.get("device") is None:
            words["device"] = default
        spoken = Spoken(func, args, words, _caller(sys._getframe(1)), device=self.device)
        if not self.device.touched:
            self.device.touched = spoken.inputs_on_device
        spoken.tangentless = tangents.of_none(spoken)
        frames = self.device.frames
        frames.append(spoken)
        try:
            answer = self._spellings.get(func)
            return spoken.plainly() if answer is None else answer(spoken)
        finally:
            frames.pop()


def _unheard(func: Callable[..., Any], args: tuple[Any, ...], words: dict[str, Any]) -> Any:
    """Run a part of an answer that a dispatch mode hears and nobody charges: it is to see where it is."""
    with unheard():
        made = func(*args, **words)
    if any(map(PLACEMENT.is_on, tensors(args, words))):
        for one in tensors((made,), {}):
            PLACEMENT.put(one)
    return made


def _caller(frame: FrameType) -> FrameType | None:
    """Who called the function: torch asks through frames of its own, two for a function in Python."""
    caller: FrameType | None = frame
    while caller is not None and caller.f_code in _ASKING:
        for _ in range(_ASKING[caller.f_code]):
            caller = caller and caller.f_back
    return caller


_ASKING = {handle_torch_function.__code__: 2, Tensor.__torch_function__.__func__.__code__: 1}  # type: ignore[attr-defined]
"""Code that stands between the user and the mode, and how many frames it has."""
