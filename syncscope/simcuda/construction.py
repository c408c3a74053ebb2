"""Spellings that make a tensor out of Python data."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import device as devices
from syncscope.simcuda.costs import table
from syncscope.simcuda.face import Spoken
from syncscope.simcuda.frames import tensors
from syncscope.simcuda.listener import unheard
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.places import means_cuda
from syncscope.simcuda.spellings import spelling
from syncscope.simcuda.transfers import Move, moved

_READ = "a Python list is built from device tensors: each is read with item() (tensor_new.cpp)"
_UPLOAD = "the data is gathered in pageable host memory and copied to the device (tensor_new.cpp)"


@spelling(torch.tensor)
def tensor(spoken: Spoken) -> Any:
    """``torch.tensor(data, device=...)``."""
    (data,), words = spoken.args[:1], spoken.kwargs
    if isinstance(data, Tensor):
        return _copied(spoken, data)
    return _built(spoken, default=False, requires_grad=words.get("requires_grad", False))


@spelling(Tensor.new_tensor)
def new_tensor(spoken: Spoken) -> Any:
    """``t.new_tensor(data)``: on ``t``'s device where none is named."""
    like, data = spoken.args[0], spoken.args[1] if len(spoken.args) > 1 else spoken.kwargs["data"]
    if isinstance(data, Tensor):
        return _copied(spoken, data, like)
    return _built(spoken, default=PLACEMENT.is_on(like))


@spelling(Tensor.new)
def new(spoken: Spoken) -> Any:
    """``t.new([1., 2.])``, the old form."""
    return _built(spoken, default=PLACEMENT.is_on(spoken.args[0]))


@spelling(torch.as_tensor, torch.asarray)
def as_tensor(spoken: Spoken) -> Any:
    """``torch.as_tensor(data)`` and ``torch.asarray(data)``: a tensor is moved, not copied."""
    words = dict(zip(("data", "dtype", "device"), spoken.args, strict=False)) | spoken.kwargs
    data = words.get("data", words.get("obj"))
    if not isinstance(data, Tensor):
        return _built(spoken, default=False)
    target = _target(words.get("device"), PLACEMENT.is_on(data))
    copies = bool(words.get("copy"))
    if target == PLACEMENT.is_on(data):
        return data.to(dtype=words.get("dtype") or data.dtype, copy=copies)
    return moved(data, Move(target, words.get("dtype")))


def _target(device: Any, default: bool) -> bool:
    return default if device is None else bool(means_cuda(device))


def _built(spoken: Spoken, default: bool, requires_grad: bool = False) -> Any:
    """Build on the CPU from data in Python; charge the reads of tensors in it, then the upload."""
    read = [t for t in tensors(spoken.args[-1:], {}) if PLACEMENT.is_on(t)] if spoken.args else []
    pinned = bool(spoken.kwargs.get("pin_memory"))
    words = {k: v for k, v in spoken.kwargs.items() if k not in ("device", "pin_memory")}
    if spoken.func is not Tensor.new:
        words["device"] = "cpu"
    on_device = _target(spoken.kwargs.get("device"), default)
    with unheard():
        result = spoken.func(*spoken.args, **words)
    spoken.device.charge([table.read(t) for t in read], op="aten::_local_scalar_dense", why=_READ)
    if on_device:
        # The CPU may share the data's memory (NumPy's); a device never does.
        result = result if type(spoken.args[0]) in (list, tuple) else _owned(result)
        charge = table.upload(result)
        spoken.device.charge([charge] if charge else [], op="aten::_to_copy", why=_UPLOAD)
        PLACEMENT.put(result)
    elif pinned:
        PLACEMENT.pin(result)
    return result


def _owned(result: Tensor) -> Tensor:
    with unheard():
        return result.detach().clone().requires_grad_(result.requires_grad)


def _copied(spoken: Spoken, data: Tensor, like: Tensor | None = None) -> Any:
    """``torch.tensor(t)``: a copy of ``t`` without its history, on its own device or the one named."""
    words = spoken.kwargs
    on_device = PLACEMENT.is_on(data if like is None else like)
    target = _target(words.get("device"), on_device)
    dtype = words.get("dtype") or (data.dtype if like is None else like.dtype)
    with torch.no_grad():
        if target != PLACEMENT.is_on(data):
            result = moved(data, Move(target, dtype))
        else:
            result = data.detach().to(dtype=dtype, copy=True)
    return result.requires_grad_(bool(words.get("requires_grad", False)))


class _TensorType(type):
    """What ``torch.cuda.FloatTensor`` and its kind are: they make tensors, and tell theirs."""

    dtype: torch.dtype

    def __call__(cls, *args: Any) -> Any:
        """A tensor on the device, of data or of a size."""
        with unheard():
            made = getattr(torch, cls.__name__)(*args)
        PLACEMENT.put(made)
        device = devices.active()
        charge = table.upload(made) if args and not isinstance(args[0], int) else None
        if device is not None and charge is not None:
            device.charge([charge], op="aten::_to_copy", why=_UPLOAD, spelling=f"torch.cuda.{cls.__name__}")
        return made

    def __instancecheck__(cls, instance: Any) -> bool:
        """Whether ``instance`` is of this dtype, and on the device."""
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype and PLACEMENT.is_on(instance)


def tensor_type(name: str, dtype: torch.dtype) -> type:
    """``torch.cuda.FloatTensor`` (``name`` is its last part)."""
    return _TensorType(name, (), {"dtype": dtype, "__module__": "torch.cuda"})
