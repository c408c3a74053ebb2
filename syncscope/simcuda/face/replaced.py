"""Methods of ``torch.Tensor`` that a user has replaced, to count their calls or to forbid them."""

from __future__ import annotations

from collections.abc import Callable
from types import BuiltinFunctionType, MethodDescriptorType, MethodWrapperType
from typing import Any

import torch
from torch import Tensor

_WRITTEN_IN_C = (MethodDescriptorType, BuiltinFunctionType, MethodWrapperType)


def native(func: Callable[..., Any]) -> Callable[..., Any]:
    """The method that was called, where PyTorch names the user's function in its place.

    A method written in C is told to a mode by what ``torch.Tensor`` has under its name at that moment
    (python_arg_parser.cpp, handle_torch_function). The user's function would be called a second time, and
    nobody would know what it means.
    """
    if type(func) in _WRITTEN_IN_C or str(getattr(func, "__module__", "")).partition(".")[0] == "torch":
        return func
    name = next((name for name, value in vars(Tensor).items() if value is func), "")
    return getattr(torch._C.TensorBase, name, func)
