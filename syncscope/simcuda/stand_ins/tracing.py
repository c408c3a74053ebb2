"""Tensors without values: what a fake mode answers reaches no device, and copies and waits for nothing.

Tracers (``torch.export``, ``make_fx``, AOTAutograd) run code with such tensors to write a graph of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.fx
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch._subclasses.functional_tensor import FunctionalTensorMode

from syncscope.simcuda import watch, watched
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.places import CPU, CUDA
from syncscope.simcuda.reasons import reason

Own = Callable[..., Any]
_DisableTorchFunction = torch._C.DisableTorchFunction

_TRACED = reason(
    "torch.export",
    "torch.export.export",
    "FakeTensorMode",
    "FakeTensorMode.from_tensor",
    why="a graph is traced of this code with tensors that have no values: what it copies and waits for when "
    "it runs isn't heard, and the graph says CPU where the code says cuda",
    source="torch/_subclasses/fake_tensor.py, FakeTensorMode.from_tensor",
    figures="1 unknown for each device tensor that a fake one is modelled after",
    instead="trace outside of the scope; call the function itself to have it counted",
)


def show() -> watched.Undo:
    """Let fake modes answer undisturbed, and know where real tensors live, in watched threads."""
    undo = [
        *(
            watched.method(mode, "__torch_dispatch__", dispatch)
            for mode in (FakeTensorMode, FunctionalTensorMode)
        ),
        watched.method(FakeTensorMode, "from_tensor", model),
        watched.method(torch.fx.Graph, "create_node", written),
    ]
    return lambda: [back() for back in undo]


def dispatch(own: Own, *args: Any, **kwargs: Any) -> Any:
    """What a mode of a tracer does with a call: its own are of meta tensors."""
    with unheard():
        return own(*args, **kwargs)


def written(own: Own, self: torch.fx.Graph, op: str, target: Any, *rest: Any, **named: Any) -> torch.fx.Node:
    """What ``make_fx`` writes for one call: with the device that the code names, not the CPU in its place."""
    arguments = dict(zip(("args", "kwargs", "name", "type_expr"), rest, strict=False)) | named
    device, words = watch.active(), arguments.get("kwargs") or {}
    if device is not None and device.frames and isinstance(target, torch._ops.OpOverload):
        if target is _COPY and device.frames[-1].func is None:
            words = {**words, "device": CUDA if device.frames[-1].target else CPU}
        arguments["kwargs"] = device.as_named(words)
    return own(self, op, target, **arguments)  # type: ignore[no-any-return]


_COPY = torch.ops.aten._to_copy.default


def model(own: Own, self: FakeTensorMode, tensor: Any, *rest: Any, **options: Any) -> Any:
    """``fake_mode.from_tensor(t)``: code that runs with the result is traced, and none of it is heard."""
    device = watch.active()
    if device is not None and not isinstance(tensor, FakeTensor) and PLACEMENT.is_on(tensor):
        device.charge([Charge("unknown")], why=_TRACED.why, spelling="torch.export")
    with unheard(), _DisableTorchFunction():  # the tensor is to look like the CPU's that it is
        return own(self, tensor, *rest, **options)
