"""Transfers that are called as operators, ``torch.ops.aten._to_copy``, as graphs of fx and AOT do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.face.construction import as_tensor, tensor
from syncscope.simcuda.face.crossing import Move
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.face.transfers import carried, cpu, cuda, to, type_as
from syncscope.simcuda.places import means_cuda

_ATEN, _PRIMS = torch.ops.aten, torch.ops.prims
_TO = _ATEN.to


def _all(packet: Any) -> list[Any]:
    return [getattr(packet, name) for name in packet.overloads()]


_OVERLOADS = [
    overload
    for overload in (*_all(_TO), *_all(_ATEN._to_copy))
    if overload._schema.overload_name != "out" and overload._schema.arguments[0].name == "self"
]

spelling(_TO)(to)
spelling(_ATEN.cpu, *_all(_ATEN.cpu))(cpu)
spelling(_ATEN.cuda, *_all(_ATEN.cuda))(cuda)
spelling(_ATEN.type_as, *_all(_ATEN.type_as))(type_as)
spelling(_ATEN.tensor, *_all(_ATEN.tensor))(tensor)
spelling(_ATEN.as_tensor, *_all(_ATEN.as_tensor))(as_tensor)
spelling(_PRIMS.device_put, *_all(_PRIMS.device_put))(to)


@spelling(_ATEN._to_copy, *_OVERLOADS)
def to_overload(spoken: Spoken) -> Any:
    """An overload of ``to`` or ``_to_copy``, with its arguments by the schema's names."""
    func: Any = spoken.func
    schema = getattr(func, "default", func)._schema
    words = dict(zip((argument.name for argument in schema.arguments), spoken.args, strict=False))
    words |= spoken.kwargs
    given, other, device = words["self"], words.get("other"), words.get("device")
    if isinstance(other, Tensor):
        return to(Spoken(Tensor.to, (given, other), {}, spoken.caller, device=spoken.device))
    cuda = None if device is None else means_cuda(device)
    if not isinstance(given, Tensor) or (device is not None and cuda is None):
        return spoken.run(*spoken.args, **spoken.kwargs)
    copies = schema.name.endswith("_to_copy") or bool(words.get("copy"))
    move = Move(cuda, words.get("dtype"), bool(words.get("non_blocking")), copies, words.get("memory_format"))
    return carried(given, move)


@spelling(_PRIMS.copy_to, *_all(_PRIMS.copy_to))
def copy_to(spoken: Spoken) -> Any:
    """``torch.ops.prims.copy_to(a, b)``: ``a.copy_(b)``, whatever is where."""
    return torch.Tensor.copy_(*spoken.args, **spoken.kwargs)


@spelling(_ATEN._to_copy.out)
def to_out(spoken: Spoken) -> Any:
    """``torch.ops.aten._to_copy(t, out=o)``: ``o.copy_(t)``, whatever is where."""
    words = dict(spoken.kwargs)
    return words.pop("out").copy_(spoken.args[0], bool(words.get("non_blocking")))


@spelling(_PRIMS.where, *_all(_PRIMS.where))
def where(spoken: Spoken) -> Any:
    """``torch.ops.prims.where(mask, a, b)``: ``torch.where``."""
    return torch.where(*spoken.args, **spoken.kwargs)


@spelling(torch._to_cpu, _ATEN._to_cpu, *_all(_ATEN._to_cpu))
def to_cpu(spoken: Spoken) -> list[Any]:
    """``torch._to_cpu(tensors)``."""
    return list(_fetched(spoken.args[0]))


def _fetched(tensors: list[Tensor]) -> Iterator[Any]:
    yield from (carried(tensor, Move(cuda=False)) for tensor in tensors)
