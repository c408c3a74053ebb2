"""Forward-mode AD: where the zeros live that a formula takes for the tangent of an operand without one.

They are made with the operand's options, as a tensor without memory (``_efficientzerotensor``) that gets
memory once an operator has to read it (``zeros``). Neither call names the operand: it is one of the Python
call's. Source: tools/autograd/gen_variable_type.py; aten/src/ATen/ZeroTensorFallback.cpp.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from syncscope.simcuda.frames import Frame, tensors
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.operators import Operator
from syncscope.simcuda.placement import PLACEMENT


def of_none(frame: Frame) -> tuple[Tensor, ...]:
    """The operands of ``frame`` that could have a tangent and have none; nothing outside of forward mode."""
    if forward_ad._current_level < 0 or _is_below_autograd():
        return ()
    with unheard():
        return tuple(one for one in _operands(frame) if _tangent(one) is None)


def _is_below_autograd() -> bool:
    """Whether Python is called by an operator's kernel: no formula applies, nor can tangents be asked for."""
    return torch._C._dispatch_tls_is_dispatch_key_excluded(torch._C.DispatchKey.AutogradOther)


def are_taken(frame: Frame) -> bool:
    """Whether some operand of ``frame`` has a tangent, so that the result's is computed as well."""
    if forward_ad._current_level < 0 or _is_below_autograd():
        return False
    return len(frame.tangentless) < len(_operands(frame))


def _operands(frame: Frame) -> list[Tensor]:
    return list(filter(_is_number, tensors(frame.args, frame.kwargs)))


def _is_number(tensor: Tensor) -> bool:
    return tensor.dtype is not torch.bool


def _tangent(tensor: Tensor) -> Tensor | None:
    while torch._C._functorch.is_batchedtensor(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)  # vmap has no rule for the question
    if torch._C._functorch.is_legacy_batchedtensor(tensor):
        return tensor  # nor has the old one, whose tensors are the tangents themselves
    return torch._VF._unpack_dual(tensor, level=forward_ad._current_level)[1]


def are_of_the_host(op: Operator, args: tuple[Any, ...], frame: Frame) -> bool:
    """Whether ``op`` makes zeros for operands that live on the host, and for those alone."""
    if op.name == "_efficientzerotensor":
        meant = [one for one in frame.tangentless if list(one.shape) == args[0]]
        frame.zeros_on_host.append(bool(meant) and not any(map(PLACEMENT.is_on, meant)))
        return frame.zeros_on_host[-1]
    return op.name == "zeros" and bool(frame.zeros_on_host) and all(frame.zeros_on_host)


def take_up(op: Operator, frame: Frame) -> bool:
    """Whether ``op`` copies a tangent of the host to where the zeros live that it is added to.

    Source: aten/src/ATen/native/BinaryOps.cpp, maybe_add_maybe_sub.
    """
    return op.name == "_to_copy" and any(map(PLACEMENT.is_on, frame.tangentless))
