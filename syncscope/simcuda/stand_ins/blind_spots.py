"""Code of which only a part is heard: where it runs, that is said as unknown, never taken for zero."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

from syncscope import sites
from syncscope.simcuda import watch, watched
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.frames import tensors
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.reasons import Reason, reason

_SCRIPT = reason(
    "torch.jit",
    "torch.jit.script",
    "torch.jit.trace",
    why="TorchScript runs in C++: its operators are heard, but not what it builds, moves to the host or asks "
    "of a device",
    source="torch/csrc/jit/runtime/interpreter.cpp, InterpreterStateImpl::runImpl",
    figures="1 unknown for each call with a device tensor, beside what its operators cost",
    instead="call the plain Python function to have it counted",
)
_DISABLED = reason(
    "torch._C.DisableTorchFunction",
    why="with torch functions disabled, tolist(), cpu() and `device` arguments aren't heard",
    source="torch/csrc/utils/disable_torch_function.cpp",
    figures="1 unknown where user code enters it",
    instead="torch._C.DisableTorchFunctionSubclass leaves them heard",
)

_own_guard: type = torch._C.DisableTorchFunction  # type: ignore[assignment]


def show() -> watched.Undo:
    """Tell of such code in watched threads; the function returned ends it."""
    undo = [
        watched.method(kind, "__call__", _script) for kind in (torch._C.ScriptFunction, torch._C.ScriptMethod)
    ]
    undo.append(watched.attribute(torch._C, "DisableTorchFunction", _TELLING_GUARD))
    return lambda: [back() for back in undo]


def _script(own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if any(map(PLACEMENT.is_on, tensors(args, kwargs))):
        _tell("torch.jit", _SCRIPT)
    return own(*args, **kwargs)


def _disabled() -> Any:
    if sites.is_users(sys._getframe(2).f_code):
        _tell("torch._C.DisableTorchFunction", _DISABLED)
    return _own_guard()


_TELLING_GUARD = watched.stand_in(_own_guard, _disabled)


def _tell(spelling: str, told: Reason) -> None:
    device = watch.active()
    if device is not None:
        device.charge([Charge("unknown")], why=f"{told.why}; {told.instead}", spelling=spelling)
