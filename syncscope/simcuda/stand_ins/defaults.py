"""Where torch puts what is asked for without a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from syncscope.simcuda import watched

Own = Callable[..., Any]


def show() -> watched.Undo:
    """Let the defaults be those of a machine with a GPU, for watched threads."""
    undo = [
        watched.method(torch, "get_device_module", get_device_module),
        watched.method(torch, "set_default_tensor_type", set_default_tensor_type),
    ]
    return lambda: [back() for back in undo]


def get_device_module(own: Own, device: Any = None) -> Any:
    """``torch.get_device_module()``: that of the GPU."""
    return torch.cuda if device is None else own(device)


def set_default_tensor_type(own: Own, kind: Any, /) -> None:
    """``torch.set_default_tensor_type("torch.cuda.FloatTensor")``: the old way to set a default device."""
    name = kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__name__}"
    if name.startswith("torch.cuda."):
        own(_own_type(name))
        torch.set_default_device("cuda")
    else:
        own(_own_type(name))
        torch.set_default_device(None)


def _own_type(name: str) -> Any:
    """Torch's own ``torch.FloatTensor``, for which a stand-in may stand."""
    kind = getattr(torch, name.rpartition(".")[2])
    return getattr(kind, "stands_for", kind)
