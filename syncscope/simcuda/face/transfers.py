"""Spellings that take a tensor's values from one side to the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from syncscope.simcuda import watch
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs import table
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.frames import Frame
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT, answers_itself, is_wrapper, parts
from syncscope.simcuda.places import CPU, CUDA, means_cuda
from syncscope.simcuda.reasons import reason

_READS = reason(
    "Tensor.cpu",
    "Tensor.tolist",
    "Tensor.numpy",
    "Tensor.to",
    "Tensor.type",
    "Tensor.type_as",
    why="the host obtains the values, and waits for all that was launched before",
    source="aten/src/ATen/native/TensorConversions.cpp, _to_copy; cuda/Copy.cu, copy_kernel_cuda",
    figures="1 DtoH, 1 wait for a tensor of any shape; 1 DtoH, 0 waits with non_blocking=True: the values "
    "are valid after a synchronize only; nothing where empty, or on the host already",
    instead="keep it on the device; or gather what the host wants into one tensor and fetch it once, late",
)
_UPLOADS = reason(
    "Tensor.cuda",
    "Tensor.to",
    "Tensor.type",
    "Tensor.type_as",
    "nn.Module.to",
    "nn.Module.cuda",
    why="values of the host go to the device, and the host waits until they are there",
    source="aten/src/ATen/native/cuda/Copy.cu, copy_kernel_cuda",
    figures="1 HtoD, 1 wait for each tensor, pinned or not; 1 HtoD, 0 waits with non_blocking=True: from "
    "pageable memory the driver may wait; nothing where empty, or on the device already",
    instead='make it there, device="cuda"; or pin the source and give non_blocking=True',
)
_READS_LATER = "the values go to the host, which doesn't wait: they are valid after a synchronize only"
_UPLOADS_LATER = "values of the host go to the device, and the host doesn't wait"


@dataclass(frozen=True)
class Move:
    """What ``Tensor.to`` was asked for; None where it was asked for nothing."""

    cuda: bool | None = None
    dtype: torch.dtype | None = None
    non_blocking: bool = False
    copy: bool = False
    memory_format: torch.memory_format | None = None

    def crosses(self, tensor: Tensor) -> bool:
        """Whether ``tensor`` has to leave the side where it lives."""
        return self.cuda is not None and self.cuda != PLACEMENT.is_on(tensor)


def moved(tensor: Tensor, move: Move) -> Tensor:
    """``tensor`` after a crossing, which autograd makes in the other direction when it comes back.

    Raises:
        NotImplementedError: a meta tensor has no values; as PyTorch words it.
    """
    if tensor.is_meta:
        raise NotImplementedError("Cannot copy out of meta tensor; no data!")
    if _is_differentiated(tensor):
        return _Crossing.apply(tensor, move)  # type: ignore[no-any-return, no-untyped-call]
    return _crossed(tensor, move)


def _is_differentiated(tensor: Tensor) -> bool:
    """Whether a gradient may come back, or a tangent goes along."""
    if torch._is_functional_tensor(tensor):
        return False  # functionalize takes no function of ours, and hands on what it wraps
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor) or forward_ad._current_level >= 0:
        return True
    return torch.is_grad_enabled() and tensor.requires_grad


_TRACED = (
    "a graph is traced of this code on a simulated device, and is written without this transfer: calls "
    "of the graph won't show it; trace outside of the scope, or call the function itself"
)


def _crossed(tensor: Tensor, move: Move) -> Tensor:
    """Copy the values and place the copy; charge the memcpy."""
    if is_wrapper(tensor):
        return _crossed_in_parts(tensor, move)
    if answers_itself(type(tensor)):
        return _crossed_by_itself(tensor, move)
    with unheard():
        result = tensor.to(
            dtype=move.dtype or tensor.dtype,
            copy=True,
            memory_format=move.memory_format or torch.preserve_format,
        )
    device = watch.active()
    if device is not None:
        device.charge(_charges(tensor, move), op="aten::_to_copy", why=_why(move))
        if _is_being_traced():
            device.charge([Charge("unknown")], op="aten::_to_copy", why=_TRACED)
    if move.cuda:
        PLACEMENT.put(result)
    elif move.non_blocking:
        PLACEMENT.pin(result)  # TensorConversions.cpp, _to_copy: pin_out
    return result


def _is_being_traced() -> bool:
    """Whether make_fx, ``torch.jit.trace`` or the like writes a graph of what runs."""
    key = torch._C._TorchDispatchModeKey.PROXY
    return torch._C._get_dispatch_mode(key) is not None or torch._C._get_tracing_state() is not None


@contextmanager
def _untraced() -> Iterator[None]:
    """Keep what is asked about a tensor out of the graph that ``torch.jit.trace`` writes."""
    state = torch._C._get_tracing_state()
    if state is None:
        yield  # below autograd it may not even be set to what it is
        return
    torch._C._set_tracing_state(None)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        torch._C._set_tracing_state(state)  # type: ignore[attr-defined]


def _why(move: Move) -> str:
    if move.non_blocking:
        return _UPLOADS_LATER if move.cuda else _READS_LATER
    return _UPLOADS.why if move.cuda else _READS.why


def _crossed_in_parts(tensor: Any, move: Move) -> Tensor:
    """Copy what a traceable subclass is made of."""
    converted = tensor if move.dtype is None else tensor.to(move.dtype)
    names, context = converted.__tensor_flatten__()
    inner = {name: getattr(converted, name) for name in names}
    alone = replace(move, dtype=None)
    inner = {name: _crossed(one, alone) if isinstance(one, Tensor) else one for name, one in inner.items()}
    size, stride = converted.size(), converted.stride()
    return type(tensor).__tensor_unflatten__(inner, context, size, stride)  # type: ignore[no-any-return]


def _crossed_by_itself(tensor: Tensor, move: Move) -> Tensor:
    """Ask the class of ``tensor`` for the copy: it alone knows what it wraps."""
    words = {
        "dtype": move.dtype,
        "device": CUDA if move.cuda else CPU,
        "non_blocking": move.non_blocking,
        "memory_format": move.memory_format,
    }
    asked = {name: value for name, value in words.items() if value}
    kind: Any = type(tensor)
    device = watch.active()
    frames = [] if device is None else device.frames
    frames.append(Frame(None, (), {}, target=move.cuda))
    try:
        return kind.__torch_dispatch__(torch.ops.aten._to_copy.default, (kind,), (tensor,), asked)  # type: ignore[no-any-return]
    finally:
        frames.pop()


def _charges(tensor: Tensor, move: Move) -> list[Charge]:
    """One copy for each plain tensor that ``tensor`` is made of: a sparse one has several."""
    with torch._C.DisableTorchFunctionSubclass(), _untraced():  # nobody is to hear of it
        charges = [_charge(part, move) for part in parts(tensor)]
    return [charge for charge in charges if charge is not None]


def _charge(tensor: Tensor, move: Move) -> Charge | None:
    waits = not move.non_blocking
    if not move.cuda:
        return table.fetch(tensor, waits)
    # A source that has to be made contiguous first is copied from a pageable temporary (Copy.cu).
    pinned = PLACEMENT.is_pinned(tensor) and tensor.is_contiguous()
    return table.upload(tensor, waits, pinned)


class _Crossing(torch.autograd.Function):
    """A crossing whose gradient crosses back, and whose tangent goes along."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tensor: Tensor, move: Move) -> Tensor:
        return _crossed(tensor, move)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Move], output: Tensor) -> None:
        tensor, ctx.move = inputs
        ctx.back = Move(cuda=not ctx.move.cuda, dtype=tensor.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return (moved(gradient, ctx.back) if ctx.back.crosses(gradient) else gradient), None

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor, _: None) -> Tensor:
        return moved(tangent, ctx.move) if ctx.move.crosses(tangent) else tangent


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
    """``t.tolist()``: the whole tensor in one copy, of whatever shape."""
    (tensor,) = spoken.args
    values = spoken.run_unheard(tensor)
    _charge_fetch(spoken, tensor)
    return values


@spelling(Tensor.numpy)
def numpy(spoken: Spoken) -> Any:
    """``t.numpy()`` refuses a tensor on the device; ``t.numpy(force=True)`` fetches it.

    Raises:
        TypeError: the tensor is on the device; as PyTorch words it (tensor_numpy.cpp).
    """
    tensor, *rest = spoken.args
    if not PLACEMENT.is_on(tensor):
        return spoken.run(tensor, *rest, **spoken.kwargs)
    if not spoken.kwargs.get("force", False):
        raise TypeError(
            "can't convert cuda:0 device type tensor to numpy. "
            "Use Tensor.cpu() to copy the tensor to host memory first."
        )
    _charge_fetch(spoken, tensor)
    return spoken.run_unheard(tensor.detach(), force=True).copy()


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
        copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).copy_(tensor)
    PLACEMENT.pin(copy)
    return copy


def _charge_fetch(spoken: Spoken, tensor: Tensor) -> None:
    charge = table.fetch(tensor) if PLACEMENT.is_on(tensor) else None
    spoken.device.charge([charge] if charge else [], op="aten::_to_copy", why=_READS.why)
