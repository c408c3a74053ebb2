"""The old constructors, ``torch.Tensor([..])`` and ``torch.range(0, 3)``, which no function mode hears."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import watch, watched
from syncscope.simcuda.costs.table import is_on
from syncscope.simcuda.face.construction import read_elements
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.places import means_cuda

_own_new = Tensor.__new__
_NAMES = (
    "FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "ByteTensor", "CharTensor",
    "ShortTensor", "IntTensor", "LongTensor", "BoolTensor",
)  # fmt: skip


def show() -> watched.Undo:
    """Let them tell what they read, in watched threads; the function returned ends it."""
    undo = [watched.attribute(Tensor, "__new__", staticmethod(_new))]
    undo += [watched.attribute(torch, name, kind) for name, kind in _stand_ins().items()]
    undo.append(watched.method(torch, "range", range_))
    return lambda: [back() for back in reversed(undo)]


def range_(own: Callable[..., Tensor], *args: Any, device: Any = None, **kwargs: Any) -> Tensor:
    """``torch.range(0, 3, device="cuda")``: no mode hears it."""
    on_device = means_cuda(torch.get_default_device() if device is None else device)
    made = own(*args, device="cpu" if on_device else device, **kwargs)
    if on_device:
        PLACEMENT.put(made)
    return made


@cache
def _stand_ins() -> dict[str, type]:
    owns = {name: getattr(torch, name) for name in _NAMES}
    return {name: watched.stand_in(own, partial(_made, own), has=_is_hosts) for name, own in owns.items()}


def _is_hosts(tensor: Tensor) -> bool:
    """Whether a tensor of the right dtype is a ``torch.FloatTensor``, not a ``torch.cuda.FloatTensor``."""
    return not is_on(tensor)


def _new(*args: Any, **kwargs: Any) -> Any:
    """``torch.Tensor(data)``; a subclass makes itself. No name in the signature: Dynamo looks at it."""
    if watch.active() is None:
        return _own_new(*args, **kwargs)
    if args[0] is Tensor:
        return _told("torch.Tensor", partial(_own_new, Tensor), *args[1:], **kwargs)
    if len(args) == 2 and not isinstance(args[1], (int, torch.Size)):
        return _told("torch.Tensor", partial(_unseen, args[0]), *args[1:], **kwargs)
    sizes = [size.__index__() if isinstance(size, Tensor) else size for size in args[1:]]
    return _unseen(args[0], *sizes, **kwargs)


def _unseen(kind: type[Tensor], *args: Any, **kwargs: Any) -> Tensor:
    """PyTorch refuses to make a subclass of what a listener has seen."""
    with unheard():
        return _own_new(kind, *args, **kwargs)


def _made(own: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``torch.FloatTensor(data)``."""
    return _told(f"torch.{getattr(own, '__name__', '')}", own, *args, **kwargs)


def _told(spelling: str, make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Make the tensor on the host, and charge the elements of device tensors that it is made of.

    Raises:
        TypeError: a typed one is to be made of a device tensor; as PyTorch words it (tensor_new.cpp).
    """
    device = watch.active()
    if device is not None and len(args) == 1:  # the numbers of a size are heard as they are read
        if not isinstance(args[0], Tensor):
            read_elements(device, args[0], spelling)
        elif is_on(args[0]) and spelling != "torch.Tensor":
            raise TypeError("expected CPU (got CUDA)")
    return make(*args, **kwargs)
