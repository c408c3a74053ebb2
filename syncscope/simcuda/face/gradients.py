"""Gradients of host tensors that are used beside device tensors: they come back over the border."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import Parameter

from syncscope.simcuda import watch
from syncscope.simcuda.costs import table
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.frames import Frame
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.reasons import reason

if TYPE_CHECKING:
    from syncscope.simcuda.face.spoken import Spoken


@spelling(Tensor.grad.__set__, Tensor._grad.__set__)  # type: ignore[union-attr]
def set_gradient(spoken: Spoken) -> Any:
    """``t.grad = gradient``.

    Raises:
        RuntimeError: they are on two devices; as PyTorch words it (THPVariable_set_grad).
    """
    tensor, gradient = spoken.args
    if isinstance(gradient, Tensor) and PLACEMENT.is_on(gradient) != PLACEMENT.is_on(tensor):
        kinds = [_kind(gradient), _kind(tensor)]
        raise RuntimeError(
            "attempting to assign a gradient with device type '{}' to a tensor with device type '{}'. Please "
            "ensure that the gradient and the tensor are on the same device".format(*kinds)
        )
    return spoken.run(tensor, gradient)


def _kind(tensor: Tensor) -> str:
    return "cuda" if PLACEMENT.is_on(tensor) else tensor.device.type


@spelling(Tensor.register_hook)
def register_hook(spoken: Spoken) -> Any:
    """``t.register_hook(hook)``: what the hook returns lives where the gradient does."""
    tensor, hook = (*spoken.args, spoken.kwargs.get("hook"))[:2]
    return spoken.run(tensor, _checked(hook))


def _checked(hook: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
    """``hook``; a gradient of the other side is refused (csrc/autograd/python_hook.cpp, check_result)."""

    @functools.wraps(hook, updated=())
    def asked(gradient: Tensor) -> Any:
        given = hook(gradient)
        if isinstance(given, Tensor) and PLACEMENT.is_on(given) != PLACEMENT.is_on(gradient):
            name = getattr(hook, "__name__", "<unknown>")
            kinds = f"was {gradient.type()} got {given.type()}"
            raise RuntimeError(f"hook '{name}' has changed the type of value ({kinds})")
        return given

    return asked


_GRADIENT = reason(
    "Tensor.backward",
    "torch.autograd.grad",
    why="the gradient of a 0-dim tensor of the host is made on the device, and fetched",
    source="torch/csrc/autograd/engine.cpp, validate_outputs",
    figures="1 DtoH, 1 wait for each 0-dim tensor of the host that wants a gradient; nothing for tensors "
    "on the device",
    instead="keep the parameter on the device",
)


def returning(call: Frame) -> tuple[Any, ...]:
    """Its arguments; 0-dim host tensors that want a gradient, beside device tensors, are made to fetch it."""
    if any(map(_is_host_scalar, call.args)) and call.inputs_on_device:
        kept = 1 if _changes_the_first(call.func) else 0
        return (*call.args[:kept], *map(_fetching, call.args[kept:]))
    return call.args


def _changes_the_first(func: Any) -> bool:
    """Whether ``func`` changes its first argument, which then has to be the user's own tensor."""
    name = getattr(func, "__name__", "")
    return name in ("__set__", "__setitem__") or (name.endswith("_") and not name.endswith("__"))


def _fetching(value: object) -> object:
    return Fetching.apply(value) if _is_host_scalar(value) else value  # type: ignore[no-untyped-call]


def _is_host_scalar(value: object) -> bool:
    return (
        (type(value) is Tensor or type(value) is Parameter)
        and value.requires_grad
        and value.dim() == 0
        and value.device.type == "cpu"
        and not torch._C._functorch.is_functorch_wrapped_tensor(value)
        and not PLACEMENT.is_on(value)
    )


class Fetching(torch.autograd.Function):
    """The tensor itself; its gradient is fetched from the device."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        """A view of it."""
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        """The gradient on the host."""
        if not PLACEMENT.is_on(gradient):
            return gradient
        with unheard():
            fetched = gradient.clone()
        device = watch.active()
        charge = table.fetch(gradient)
        if device is not None and charge is not None:
            device.charge([charge], op="aten::_to_copy", why=_GRADIENT.why)
        return fetched
