"""Whether anybody overrides a call: on a GPU no function mode is on, so libraries take their usual path.

Torch's own functions ask in order to hand the call on, and have to reach the device's mode. Everybody else
asks to choose a path (``nn.TransformerEncoder`` leaves its nested tensors), and is told of the others only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any

import torch.overrides
from torch.jit._builtins import _register_builtin

from syncscope.simcuda import modes
from syncscope.simcuda.face.bodies import hands_on
from syncscope.simcuda.face.mode import Face


def _answer(own: Callable[..., bool]) -> Callable[..., bool]:
    def asked(*args: Any) -> bool:
        return own(*args) if _is_torchs(sys._getframe(1)) else _without_device(partial(own, *args))

    # TorchScript compiles modules that ask, and knows the question by the function's identity.
    _register_builtin(asked, "aten::has_torch_function")
    return asked


def _is_torchs(caller: FrameType) -> bool:
    return caller.f_globals.get("__name__", "").partition(".")[0] == "torch" and hands_on(caller.f_code)


def _without_device(question: Callable[[], bool]) -> bool:
    found = modes.current()
    others = tuple(mode for mode in found.function if not isinstance(mode, Face))
    modes.restore(replace(found, function=others))
    try:
        return question()
    finally:
        modes.restore(found)


_NAMES = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
ANSWERS = {name: _answer(getattr(torch.overrides, name)) for name in _NAMES}
"""What ``torch.overrides`` says."""
