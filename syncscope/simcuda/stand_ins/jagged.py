"""Jagged nested tensors: they are made where the values are."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nested._internal.nested_tensor import NestedTensor

from syncscope.simcuda import watch
from syncscope.simcuda.placement import PLACEMENT

_lock = threading.Lock()
_shown = 0
_own_new = NestedTensor.__dict__["__new__"]


def show() -> Callable[[], None]:
    """Make jagged tensors where their values are, in watched threads; the function returned ends it."""
    global _shown
    with _lock:
        if _shown == 0:
            NestedTensor.__new__ = staticmethod(_new)  # type: ignore[method-assign]
        _shown += 1
    return _hide


def _hide() -> None:
    global _shown
    with _lock:
        _shown -= 1
        if _shown == 0:
            NestedTensor.__new__ = _own_new  # type: ignore[method-assign]


def _check_devices(values: Tensor, offsets: Tensor, **_: Any) -> None:
    """Values and offsets live on one device.

    Raises:
        AssertionError: they don't; as PyTorch words it (nested_tensor.py, NestedTensor).
    """
    if PLACEMENT.is_on(values) != PLACEMENT.is_on(offsets):
        places = ["cuda:0" if PLACEMENT.is_on(one) else "cpu" for one in (values, offsets)]
        raise AssertionError(
            "values and offsets must be on the same device, but got values.device={} and "
            "offsets.device={}".format(*places)
        )


def _new(cls: type, *args: Any, **kwargs: Any) -> Any:
    """Make the wrapper on the device that C++ knows of: that of the values, without the face."""
    if watch.active() is None:
        return _own_new.__func__(cls, *args, **kwargs)
    _check_devices(*args, **kwargs)
    with torch._C.DisableTorchFunction():
        return _own_new.__func__(cls, *args, **kwargs)
