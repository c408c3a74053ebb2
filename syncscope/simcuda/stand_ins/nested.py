"""``torch.nested.nested_tensor``, which asks no function mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import watch, watched
from syncscope.simcuda.face.construction import read_elements
from syncscope.simcuda.face.nested import at


def show() -> watched.Undo:
    """Let it make tensors on the device, for watched threads."""
    return watched.method(torch._C._nested, "nested_tensor", nested_tensor)  # type: ignore[attr-defined]


def nested_tensor(own: Callable[..., Any], data: Any, *, device: Any = None, **options: Any) -> Any:
    """``torch.nested.nested_tensor(data, device=...)``: a leaf, of lists or tensors."""
    here = watch.active()
    if here is not None:
        for part in data:
            if not isinstance(part, Tensor):
                read_elements(here, part, "torch.nested.nested_tensor")
    wants_gradient = bool(options.pop("requires_grad", False))
    with torch.no_grad():
        made = at(own(data, **options), device)
    return made.requires_grad_(wants_gradient)
