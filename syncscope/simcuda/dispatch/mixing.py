"""Which operators take 0-dim host tensors beside device tensors, and in which arguments.

A TensorIterator takes them as kernel arguments; a kernel whose wrapper checks devices first
(``native_functions.yaml``: no ``device_check: NoCheck``) refuses them, whatever their size.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from torch import Tensor

from syncscope.simcuda.operators import Operator
from syncscope.simcuda.placement import PLACEMENT

_NOWHERE: frozenset[str] = frozenset()

_CHECKED = frozenset({
    "clamp", "clamp_max", "clamp_min", "gcd", "lcm", "logaddexp", "logaddexp2", "igamma", "igammac",
    "nextafter", "addcdiv", "equal", "native_dropout_backward", "gelu_backward", "silu_backward",
    "threshold_backward", "sigmoid_backward", "logit_backward", "tanh_backward", "stack",
})  # fmt: skip
"""Operators that would seem to take host scalars, and whose wrapper or iterator refuses them."""

_UNCHECKED = frozenset({
    "copysign", "floor_divide", "rsub", "heaviside", "eq", "ne", "ge", "le", "gt", "lt", "add", "sub",
    "mul", "div", "mse_loss", "smooth_l1_loss", "huber_loss", "__ilshift__", "__irshift__",
    "_amp_update_scale",
})  # fmt: skip
"""Operators without the tag ``pointwise`` that are TensorIterators all the same."""

_ARGUMENTS = {
    "masked_fill": frozenset({"value"}),
    "index_fill": frozenset({"value"}),
    "addcmul": frozenset({"tensor2"}),
    "lerp.Tensor": frozenset({"weight"}),
    "lerp.Scalar": _NOWHERE,
    **dict.fromkeys(("logical_and.", "logical_or.", "logical_xor."), frozenset({"other"})),
    **dict.fromkeys(("_fused_adam", "_fused_adamw", "_fused_sgd", "_fused_adagrad"), frozenset({"lr"})),
}


def _takes_host_scalar(operator: Operator, argument: str) -> bool:
    base = operator.name.removesuffix("_")
    named = _ARGUMENTS.get(base, _ARGUMENTS.get(f"{base}.{operator.overload}"))
    if named is not None:
        return argument in named
    if base in _CHECKED or operator.namespace != "aten":
        return operator.custom
    return operator.pointwise or operator.explicit or base in _UNCHECKED or base.startswith("_foreach_")


def refuse_two_devices(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse what CUDA refuses: tensors on two devices, but for host scalars where they are taken.

    Raises:
        RuntimeError: as PyTorch words it (TensorIterator.cpp, compute_types).
    """
    for group in _groups(operator, args, kwargs):
        host = [(name, one) for name, one in group if not PLACEMENT.is_on(one) and one.device.type == "cpu"]
        if len(host) == len(group):
            continue
        for name, one in host:
            written = name in (operator.arguments[i] for i in operator.written)
            if written or one.dim() > 0 or not _takes_host_scalar(operator, name):
                raise RuntimeError(
                    "Expected all tensors to be on the same device, but found at least two devices, "
                    f"cuda:0 and cpu! (argument {name} of {operator.full_name} is on cpu)"
                )


def _groups(
    operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Iterator[list[tuple[str, Tensor]]]:
    """The tensors that meet in one kernel: all, or of lists of tensors those at the same place."""
    named = [*zip(operator.arguments, args, strict=False), *kwargs.items()]
    if not operator.name.startswith("_foreach_"):
        yield [(name, one) for name, value in named for one in _tensors(value)]
        return
    lists = [(name, _tensors(value)) for name, value in named if isinstance(value, (list, tuple))]
    for places in zip_longest(*(tensors for _, tensors in lists)):
        yield [(name, one) for (name, _), one in zip(lists, places, strict=True) if one is not None]


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    return [one for one in value if isinstance(one, Tensor)] if isinstance(value, (list, tuple)) else []
