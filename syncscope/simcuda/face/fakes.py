"""Calls with tensors that have no values, as tracers make them: they copy nothing and wait for nothing.

A CPU build aborts where a fake tensor says that it lives on a GPU and wants a gradient (c10,
getDeviceGuardImpl), so what is traced is traced for the CPU, and that is noted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor

from syncscope.simcuda.places import names_cuda
from syncscope.simcuda.watch import Watch

_MODES = [
    functools.partial(torch._C._get_dispatch_mode, getattr(torch._C._TorchDispatchModeKey, name))
    for name in ("FAKE", "FUNCTIONAL")
]
_NOTE = (
    "fake tensors (torch.export, FakeTensorMode) say that they are on the CPU: they have no values, and "
    "nothing that is done with them is counted"
)


def is_traced(types: Iterable[type]) -> bool:
    """Whether a tracer's mode is on, or one of its tensors is given."""
    if torch._C._len_torch_dispatch_stack() and any(mode() is not None for mode in _MODES):
        return True
    return any(map(_is_fake, types))


@functools.cache
def _is_fake(kind: type) -> bool:
    return issubclass(kind, (FakeTensor, FunctionalTensor))


def answered(device: Watch, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Answer ``func`` for tensors without values, on the CPU."""
    if func is Tensor.cuda:
        device.note(_NOTE)
        return Tensor.cpu(args[0])
    places = [value for value in (*args, *kwargs.values()) if names_cuda(value)]
    if not places:
        return func(*args, **kwargs)
    device.note(_NOTE)
    return func(*map(_moved, args), **{name: _moved(value) for name, value in kwargs.items()})


def _moved(value: Any) -> Any:
    return "cpu" if names_cuda(value) else value
