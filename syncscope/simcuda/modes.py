"""The mode stacks of a thread: what code that breaks off may leave changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.utils._device
from torch.utils._python_dispatch import _pop_mode, _push_mode


@dataclass(frozen=True)
class Modes:
    """A thread's modes, innermost last, and its default device."""

    function: tuple[Any, ...]
    dispatch: tuple[Any, ...]
    default_device: torch.device | None
    device_context: Any


def current() -> Modes:
    """The modes of this thread as they are now."""
    return Modes(_function_modes(), _dispatch_modes(), torch.utils._device.CURRENT_DEVICE, _device_context())


def are_heard() -> bool:
    """Whether dispatch modes answer this thread's ATen calls: a tracer's, without values, don't count."""
    if not torch._C._len_torch_dispatch_stack():
        return False
    return all(torch._C._get_dispatch_mode(key) is None for key in _TRACERS)


_TRACERS = tuple(getattr(torch._C._TorchDispatchModeKey, name) for name in ("FAKE", "FUNCTIONAL", "PROXY"))


def without(found: Modes, mode: Any) -> Modes:
    """``found`` but for one function mode."""
    return replace(found, function=tuple(one for one in found.function if one is not mode))


def restore(wanted: Modes) -> None:
    """Make ``wanted`` the modes of this thread.

    The default device is one for the process beside this thread's context: it is put back only where this
    thread has changed something, since another may have set it meanwhile.
    """
    if _function_modes() != wanted.function or _device_context() is not wanted.device_context:
        torch.utils._device.CURRENT_DEVICE = wanted.default_device
        torch._GLOBAL_DEVICE_CONTEXT.device_context = wanted.device_context
    if _function_modes() != wanted.function:
        while torch._C._len_torch_function_stack():
            torch._C._pop_torch_function_stack()
        for mode in wanted.function:
            torch._C._push_on_torch_function_stack(mode)
    if _dispatch_modes() != wanted.dispatch:
        while torch._C._len_torch_dispatch_stack():
            _pop_mode()
        for mode in wanted.dispatch:
            _push_mode(mode)


def _function_modes() -> tuple[Any, ...]:
    return tuple(torch._C._get_function_stack_at(i) for i in range(torch._C._len_torch_function_stack()))


def _dispatch_modes() -> tuple[Any, ...]:
    return tuple(torch._C._get_dispatch_stack_at(i) for i in range(torch._C._len_torch_dispatch_stack()))


def _device_context() -> Any:
    return getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
