"""A tensor's values going from one side to the other: what is copied, what it costs, where the copy is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.utils._python_dispatch import _pop_mode_temporarily

from syncscope.simcuda import forks, modes, watch
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs import table
from syncscope.simcuda.costs.copies import TO_DEVICE, TO_HOST, reason_of
from syncscope.simcuda.costs.layouts import is_moved_directly
from syncscope.simcuda.frames import Frame
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT, answers_itself, is_wrapper, parts
from syncscope.simcuda.places import CPU, CUDA
from syncscope.simcuda.reasons import reason
from syncscope.simcuda.watch import Watch

reason(
    "Tensor.cpu",
    "Tensor.tolist",
    "Tensor.numpy",
    "Tensor.to",
    "Tensor.type",
    "Tensor.type_as",
    why=TO_HOST,
    source="aten/src/ATen/native/TensorConversions.cpp, _to_copy; cuda/Copy.cu, copy_kernel_cuda",
    figures="1 DtoH, 1 wait for a tensor of any shape; 1 DtoH, 0 waits with non_blocking=True: the values "
    "are valid after a synchronize only; nothing where empty, or on the host already",
    instead="keep it on the device; or gather what the host wants into one tensor and fetch it once, late",
)
reason(
    "Tensor.cuda",
    "Tensor.to",
    "Tensor.type",
    "Tensor.type_as",
    "nn.Module.to",
    "nn.Module.cuda",
    why=TO_DEVICE,
    source="aten/src/ATen/native/cuda/Copy.cu, copy_kernel_cuda",
    figures="1 HtoD, 1 wait for each tensor, pinned or not; 1 HtoD, 0 waits with non_blocking=True: from "
    "pageable memory the driver may wait; nothing where empty, or on the device already",
    instead='make it there, device="cuda"; or pin the source and give non_blocking=True',
)


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
    """Copy the values and place the copy, or ask Python code that answers for it; charge the memcpy."""
    forks.refuse_bad() if move.cuda else forks.refuse_work()
    device = watch.active()
    if device is not None and modes.are_heard():
        return _crossed_by_mode(device, tensor, move)
    if is_wrapper(tensor):
        return _crossed_in_parts(tensor, move)
    if answers_itself(type(tensor)):
        return _answered(type(tensor), tensor, move)
    result = _copied(tensor, move)
    if device is not None:
        why = reason_of(to_device=bool(move.cuda), waits=not move.non_blocking)
        device.charge(_charges(tensor, move), op="aten::_to_copy", why=why)
        if torch._C._get_tracing_state() is not None:  # torch.jit.trace or the like
            device.charge([Charge("unknown")], op="aten::_to_copy", why=_TRACED)
    if move.cuda:
        PLACEMENT.put(result)
    elif move.non_blocking:
        PLACEMENT.pin(result)  # TensorConversions.cpp, _to_copy: pin_out
    return result


def _copied(tensor: Tensor, move: Move) -> Tensor:
    """The copy itself; in a graph that make_fx writes it names the side that it goes to."""
    with _aimed(move), unheard():
        return tensor.to(
            dtype=move.dtype or tensor.dtype,
            copy=True,
            memory_format=move.memory_format or torch.preserve_format,
        )


@contextmanager
def _aimed(move: Move) -> Iterator[None]:
    """Let what is made in here know where it goes."""
    device = watch.active()
    frames = [] if device is None else device.frames
    frames.append(Frame(None, (), {}, target=move.cuda))
    try:
        yield
    finally:
        frames.pop()


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


def _crossed_in_parts(tensor: Any, move: Move) -> Tensor:
    """Copy what a traceable subclass is made of."""
    converted = tensor if move.dtype is None else tensor.to(move.dtype)
    names, context = converted.__tensor_flatten__()
    inner = {name: getattr(converted, name) for name in names}
    alone = replace(move, dtype=None)
    inner = {name: _crossed(one, alone) if isinstance(one, Tensor) else one for name, one in inner.items()}
    size, stride = converted.size(), converted.stride()
    return type(tensor).__tensor_unflatten__(inner, context, size, stride)  # type: ignore[no-any-return]


def _crossed_by_mode(device: Watch, tensor: Tensor, move: Move) -> Tensor:
    """Ask the innermost dispatch mode for the copy, as the dispatcher does: it may pass the call on."""
    with _pop_mode_temporarily() as mode, device.kept_in_sight():
        return _answered(mode, tensor, move)


def _answered(asked: Any, tensor: Tensor, move: Move) -> Tensor:
    """The copy that a mode makes, or the class of ``tensor``, which alone knows what it wraps."""
    words = {
        "dtype": move.dtype,
        "device": CUDA if move.cuda else CPU,
        "non_blocking": move.non_blocking,
        "memory_format": move.memory_format,
    }
    said = {name: value for name, value in words.items() if value}
    types = (type(tensor),) if answers_itself(type(tensor)) else ()
    with _aimed(move):
        return asked.__torch_dispatch__(torch.ops.aten._to_copy.default, types, (tensor,), said)  # type: ignore[no-any-return]


def _charges(tensor: Tensor, move: Move) -> list[Charge]:
    """One copy for each plain tensor that ``tensor`` is made of: a sparse one has several."""
    with torch._C.DisableTorchFunctionSubclass(), _untraced():  # nobody is to hear of it
        charges = [_charge(part, move) for part in parts(tensor)]
    return [charge for charge in charges if charge is not None]


def _charge(tensor: Tensor, move: Move) -> Charge | None:
    waits = not move.non_blocking
    if not move.cuda:
        return table.fetch(tensor, waits, pinned=True)  # TensorConversions.cpp, _to_copy: pin_out
    # A source that has to be made contiguous first is copied from a pageable temporary (Copy.cu).
    direct = is_moved_directly(tensor, move.dtype or tensor.dtype, move.memory_format)
    return table.upload(tensor, waits, pinned=direct and PLACEMENT.is_pinned(tensor))


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
