"""Spellings that take a tensor's values from one side to the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.face.crossing import Move, moved
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT, answers_itself
from syncscope.simcuda.places import means_cuda


def carried(tensor: Tensor, move: Move) -> Any:
    """Answer a spelling of ``to``: cross where that was asked, else convert where the tensor lives."""
    if move.crosses(tensor):
        return moved(tensor, move)
    arguments: dict[str, Any] = {"dtype": move.dtype or tensor.dtype, "copy": move.copy}
    if move.memory_format is not None:
        arguments["memory_format"] = move.memory_format
    return tensor.to(**arguments)


@spelling(Tensor.to)
def to(spoken: Spoken) -> Any:
    """``t.to(device)``, ``t.to(dtype)``, ``t.to(other)`` and what they have in common."""
    tensor, *rest = spoken.args
    names = {"device", "dtype", "non_blocking", "copy", "memory_format", "other"}
    if not set(spoken.kwargs) <= names:
        return spoken.run(*spoken.args, **spoken.kwargs)  # PyTorch's own message
    asked = _asked(rest, spoken.kwargs)
    if asked is None:
        return spoken.run_unheard(*spoken.args, **spoken.kwargs)  # to "meta": nothing is copied
    return carried(tensor, asked)


def _asked(rest: list[Any], kwargs: dict[str, Any]) -> Move | None:
    """Read the three signatures of ``Tensor.to``; None where the device is neither host nor GPU."""
    words = dict(kwargs)
    rest = list(rest)
    if rest and isinstance(rest[0], Tensor):
        words["other"] = rest.pop(0)
    elif rest and isinstance(rest[0], torch.dtype):
        words["dtype"] = rest.pop(0)
    elif rest:
        words["device"] = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], torch.dtype)):
            words["dtype"] = rest.pop(0)
    words.update(zip(("non_blocking", "copy"), rest, strict=False))
    other = words.pop("other", None)
    device = words.pop("device", None)
    cuda = None if device is None else means_cuda(device)
    if device is not None and cuda is None:
        return None
    if other is not None:
        cuda, words["dtype"] = PLACEMENT.is_on(other), other.dtype
    return Move(cuda=cuda, **words)


@spelling(Tensor.cuda)
def cuda(spoken: Spoken) -> Any:
    """``t.cuda()``.

    Raises:
        RuntimeError: another device is named; as PyTorch words it (python_variable_methods.cpp).
    """
    move = _side(spoken, ("device", "non_blocking", "memory_format"))
    if not move.cuda:
        raise RuntimeError("Invalid device, must be cuda device")
    return carried(spoken.args[0], move)


@spelling(Tensor.cpu)
def cpu(spoken: Spoken) -> Any:
    """``t.cpu()``."""
    move = _side(spoken, ("memory_format",))
    return carried(spoken.args[0], replace(move, cuda=False))


def _side(spoken: Spoken, names: tuple[str, ...]) -> Move:
    words = dict(zip(names, spoken.args[1:], strict=False)) | spoken.kwargs
    device = words.pop("device", None)
    return Move(cuda=True if device is None else means_cuda(device), **words)


@spelling(Tensor.type)
def type_(spoken: Spoken) -> Any:
    """``t.type()``, ``t.type(dtype)`` and ``t.type("torch.cuda.FloatTensor")``."""
    tensor, *rest = spoken.args
    words = dict(zip(("dtype", "non_blocking"), rest, strict=False)) | spoken.kwargs
    wanted = words.get("dtype")
    if wanted is None:
        name = str(spoken.run_unheard(tensor))
        return name.replace("torch.", "torch.cuda.") if PLACEMENT.is_on(tensor) else name
    if isinstance(wanted, torch.dtype):
        return carried(tensor, Move(dtype=wanted))
    name = wanted if isinstance(wanted, str) else f"{wanted.__module__}.{wanted.__name__}"
    cuda_named = name.startswith("torch.cuda.")
    dtype = getattr(torch, name.replace(".cuda", "").removeprefix("torch.")).dtype
    return carried(tensor, Move(cuda_named, dtype, bool(words.get("non_blocking", False))))


@spelling(Tensor.type_as)
def type_as(spoken: Spoken) -> Any:
    """``t.type_as(other)``: its dtype, where it lives."""
    tensor, other = (*spoken.args, *spoken.kwargs.values())
    return carried(tensor, Move(cuda=PLACEMENT.is_on(other), dtype=other.dtype))


@spelling(Tensor.tolist)
def tolist(spoken: Spoken) -> Any:
    """``t.tolist()``: the whole tensor in one copy, of whatever shape.

    Raises:
        RuntimeError: a class answers for the tensor; from PyTorch, before anything is read.
    """
    tensor: Tensor = spoken.args[0]
    if answers_itself(type(tensor)):
        return spoken.run_unheard(tensor)
    with torch.no_grad():
        return spoken.run_unheard(_fetched(tensor))


@spelling(Tensor.numpy)
def numpy(spoken: Spoken) -> Any:
    """``t.numpy()`` refuses a tensor on the device; ``t.numpy(force=True)`` fetches it.

    Raises:
        RuntimeError: a class answers for the tensor; from PyTorch, before anything is read.
        TypeError: the tensor is on the device; as PyTorch words it (tensor_numpy.cpp).
    """
    tensor: Tensor = spoken.args[0]
    if not PLACEMENT.is_on(tensor) or answers_itself(type(tensor)):
        return spoken.run(*spoken.args, **spoken.kwargs)
    if not spoken.kwargs.get("force", False):
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )
    return spoken.run_unheard(_fetched(tensor.detach()), force=True)


@spelling(Tensor.pin_memory, torch.ops.aten.pin_memory, torch.ops.aten._pin_memory)
def pin_memory(spoken: Spoken) -> Tensor:
    """``t.pin_memory()``: a copy in page-locked memory.

    Raises:
        RuntimeError: the tensor is on the device, or expanded; as PyTorch words it.
    """
    tensor = spoken.args[0]
    if PLACEMENT.is_on(tensor):
        raise RuntimeError(
            f"cannot pin 'torch.cuda.{tensor.type()[6:]}' only dense CPU tensors can be pinned"
        )
    if PLACEMENT.is_pinned(tensor):
        return tensor  # type: ignore[no-any-return]
    with unheard():
        copy = _copied(tensor)
    PLACEMENT.pin(copy)
    return copy


def _copied(tensor: Tensor) -> Tensor:
    """A copy with the strides of the original, where that has any."""
    if tensor.layout is not torch.strided or tensor.is_nested:
        return tensor.clone()
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).copy_(tensor)


def _fetched(tensor: Tensor) -> Tensor:
    """``tensor``, or what the host gets of it."""
    return moved(tensor, Move(cuda=False)) if PLACEMENT.is_on(tensor) else tensor
