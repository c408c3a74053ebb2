"""Torch's own Python functions, entered with the simulated device still in sight.

While a function mode handles a call it is off, so the body of ``torch.nn.functional.interpolate`` would see
plain CPU tensors. Switching the mode on again would call the mode for the same function, for ever, since
the first thing such a body does is to ask whether a mode is on. So the body runs with that question
answered "no", and with the mode on for all that it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import torch

from syncscope.simcuda.placement import overrides

_QUESTIONS: dict[str, Callable[..., bool]] = {
    "has_torch_function": lambda arguments: _any_overrides(arguments),
    "has_torch_function_unary": lambda argument: _any_overrides((argument,)),
    "has_torch_function_variadic": lambda *arguments: _any_overrides(arguments),
}


@cache
def python_of(func: object) -> FunctionType | None:
    """The Python function that ``func`` is, or the getter of the property that it reads.

    It is torch's, or one that can be overridden as torch's can.
    """
    owner = getattr(func, "__self__", None)
    found = owner.fget if isinstance(owner, property) else func
    if not isinstance(found, FunctionType):
        return None
    return found if _is_torchs(found) or hands_on(found.__code__) else None


def _is_torchs(func: FunctionType) -> bool:
    return func.__module__.partition(".")[0] == "torch"


def hands_on(code: CodeType) -> bool:
    """Whether a function hands its call on to whoever overrides it."""
    return "handle_torch_function" in code.co_names


def overridden(types: Iterable[type]) -> bool:
    """Whether one of ``types``, those of a call's arguments, is asked for the answer before torch is.

    A class that calls down to torch itself (``super().__torch_function__``) has switched that off.
    """
    return any(map(overrides, types)) and torch._C._is_torch_function_enabled()


@cache
def body(func: FunctionType) -> FunctionType:
    """``func`` without the question whether a function mode is on."""
    return with_globals(func, _QUESTIONS)


def with_globals(func: FunctionType, names: Mapping[str, Any]) -> FunctionType:
    """``func`` with some of its module's globals exchanged."""
    copy = FunctionType(
        func.__code__, _Globals(func.__globals__, names), func.__name__, func.__defaults__, func.__closure__
    )
    copy.__kwdefaults__ = func.__kwdefaults__
    return copy


class _Globals(dict[str, Any]):
    """A module's globals, live, but for some."""

    def __init__(self, real: dict[str, Any], names: Mapping[str, Any]) -> None:
        super().__init__(names)
        self._real = real

    def __missing__(self, name: str) -> Any:
        return self._real[name]


def _any_overrides(arguments: Iterable[Any]) -> bool:
    return overridden(map(type, arguments))
