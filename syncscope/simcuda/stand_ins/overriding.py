"""Python that answers for ATen calls, ``__torch_dispatch__``: it runs with the device in sight.

While the face answers a call it is off, and so it would be for a class that answers below it. Tensor classes
and dispatch modes are found by the classes that they derive from: those that exist when a scope begins, and
those that are made meanwhile. What torch's tracers answer is left alone: it has no values.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch._subclasses.functional_tensor import FunctionalTensor
from torch.utils._python_dispatch import TorchDispatchMode

from syncscope.simcuda import watch, watched
from syncscope.simcuda.costs.indexing import built
from syncscope.simcuda.placement import PLACEMENT, is_wrapper
from syncscope.simcuda.places import CPU, names_cuda
from syncscope.simcuda.watch import Watch

_NAME = "__torch_dispatch__"
_TRACED = (FakeTensor, FunctionalTensor)

_lock = threading.Lock()
_scopes = 0
_undo: list[watched.Undo] = []


def show() -> Callable[[], None]:
    """Let classes that answer ATen calls see the device, in watched threads; what is returned ends it."""
    global _scopes
    with _lock:
        if _scopes == 0:
            for kind in (*_derived(Tensor), *_derived(TorchDispatchMode)):
                _show(kind)
            _undo.append(watched.attribute(Tensor, "__init_subclass__", _announcing(Tensor)))
            _undo.append(
                watched.attribute(TorchDispatchMode, "__init_subclass__", _announcing(TorchDispatchMode))
            )
            _undo.append(watched.attribute(Tensor, "_make_wrapper_subclass", staticmethod(_made)))
        _scopes += 1
    return _hide


def _hide() -> None:
    global _scopes
    with _lock:
        _scopes -= 1
        while _scopes == 0 and _undo:
            _undo.pop()()


def _derived(kind: type) -> Iterator[type]:
    one: type
    for one in type.__subclasses__(kind):
        yield one
        yield from _derived(one)


def _show(kind: type) -> None:
    own = vars(kind).get(_NAME)
    if own is None or own is torch._C._disabled_torch_dispatch_impl or not _is_heard(kind):
        return
    if not getattr(_function(own), "shows_the_device", False):  # a class may have been found before
        _undo.append(watched.attribute(kind, _NAME, _in_sight(own)))


def _is_heard(kind: type) -> bool:
    """Whether what ``kind`` answers has values: torch's own modes trace, or pass calls on as they are."""
    if issubclass(kind, TorchDispatchMode):
        return kind.__module__.partition(".")[0] != "torch"
    return not issubclass(kind, _TRACED)


def _function(own: Any) -> Any:
    return getattr(own, "__func__", own)


def _announcing(base: Any) -> Any:
    """``base.__init_subclass__``, which shows the device to the class that is made."""
    own = base.__init_subclass__.__func__ if "__init_subclass__" in vars(base) else None

    def announced(cls: Any, /, **kwargs: Any) -> None:
        if own is None:
            super(base, cls).__init_subclass__(**kwargs)
        else:
            own(cls, **kwargs)
        with _lock:
            if _scopes:
                _show(cls)

    return classmethod(announced)


def _in_sight(own: Any) -> Any:
    """The method ``own``, of whichever kind, with the device in sight."""

    def dispatch(this: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        answer = own.__get__(None, this) if isinstance(this, type) else own.__get__(this)
        device = watch.active()
        if device is None:
            return answer(func, types, args, kwargs)
        if func is _LIFT:
            _built_in_brackets(device, args[0])
        with device.handing_over(func, is_mode=isinstance(this, TorchDispatchMode)):
            return answer(func, types, args, device.as_named(kwargs or {}))

    dispatch.shows_the_device = True  # type: ignore[attr-defined]
    return dispatch if not isinstance(own, (classmethod, staticmethod)) else classmethod(dispatch)


_LIFT = torch.ops.aten.lift_fresh.default


def _built_in_brackets(device: Watch, made: Tensor) -> None:
    """A list in ``x[[0, 1]]`` is where ``x`` is when a mode sees it; the number in ``x[0] = 3`` isn't yet."""
    frame = device.frames[-1] if device.frames else None
    if frame is None or not frame.by_brackets or not frame.places_on_device:
        return
    if made.dim() == 0 or PLACEMENT.is_on(made):
        return
    device.charge(list(built(made)), op="aten::index")


def _on_cpu(value: Any) -> Any:
    return CPU if names_cuda(value) else value


_own_made: Callable[..., Tensor] = Tensor._make_wrapper_subclass


def _made(*args: Any, **kwargs: Any) -> Tensor:
    """``Tensor._make_wrapper_subclass``: a wrapper is where it says, or where what it wraps is."""
    if watch.active() is None or not any(map(names_cuda, (*args, *kwargs.values()))):
        return _own_made(*args, **kwargs)
    made = _own_made(*map(_on_cpu, args), **{name: _on_cpu(value) for name, value in kwargs.items()})
    if not is_wrapper(made):
        PLACEMENT.put_wrapper(made)
    return made
