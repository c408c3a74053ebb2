"""Python that PyTorch calls back in the middle of an operator, or in a thread of its own.

While a function mode answers a call it is off, so a hook for saved tensors, which runs inside of operators,
would see plain CPU tensors; the thread of a DataLoader that pins memory would see no GPU.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.data._utils import pin_memory

from syncscope.simcuda import watch, watched

Own = Callable[..., Any]


def show(device: type[watch.Watch]) -> watched.Undo:
    """Let such functions see the device, if they were given by a thread that it watches."""
    undo = [
        watched.method(saved_tensors_hooks, "__enter__", enter_hooks),
        watched.module(pin_memory, {"_pin_memory_loop": functools.partial(pin_loop, device)}),
        watched.method(torch, "compile", compile_),
    ]
    compiled = sys.modules.get("torch._dynamo.eval_frame")
    if hasattr(compiled, "_callback_from_stance"):
        undo.append(watched.method(compiled, "_callback_from_stance", no_callback))
    return lambda: [back() for back in undo]


_torch_pin_loop = pin_memory._pin_memory_loop


def pin_loop(device: type[watch.Watch], *args: Any) -> None:
    """The thread of a DataLoader that pins memory: it touches nothing but host memory, so nothing is told."""
    with device(lambda event: None):
        _torch_pin_loop(*args)


def compile_(own: Own, model: Any = None, **options: Any) -> Any:
    """``torch.compile(f)``: ``f`` itself, since a compiled function would call no operator."""
    if model is None:
        return lambda function: compile_(own, function, **options)
    _note_eager()
    return model


def no_callback(own: Own, callback: Any) -> Any:
    """What a function that was compiled earlier runs with: nothing, so it runs as it was written."""
    if callback not in (None, False):
        _note_eager()
    return None


def _note_eager() -> None:
    device = watch.active()
    if device is not None:
        device.note("torch.compile was ignored: the counts are those of the eager code")


def enter_hooks(own: Own, self: saved_tensors_hooks) -> None:
    """``with saved_tensors_hooks(pack, unpack)``."""
    torch._C._autograd._push_saved_tensors_default_hooks(_seeing(self.pack_hook), _seeing(self.unpack_hook))


def _seeing(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` with the device in sight, wherever it is called from in its thread."""

    def called(*args: Any) -> Any:
        device = watch.active()
        if device is None or device.is_in_sight():
            return function(*args)
        with device.in_sight():
            return function(*args)

    return called
