"""What the simulated device has to know of an ATen overload, read once from its schema."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

_BUILTIN_NAMESPACES = frozenset({"aten", "prim", "prims", "profiler", "quantized", "_quantized", "mkldnn"})
_RESIZE = frozenset({"aten::resize_", "aten::resize_as_"})
_VALUE_DECIDES = frozenset({torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape})


@dataclass(frozen=True, eq=False)
class Operator:
    """One overload.

    ``name`` is as in PyTorch's ``native_functions.yaml`` (``topk``, without namespace and overload).
    ``implicit``: made of other operators on every device, above autograd. ``explicit``: made of other
    operators on every device, below autograd. ``factory``: has a ``device`` argument. ``pointwise``: an
    elementwise operator, which takes 0-dim host values beside device tensors. ``written``: positions of the
    arguments it changes; ``tensors``: of those that the schema wants as a tensor. ``value_decides``:
    PyTorch's tags say that values decide its output or its shape. ``resizes``: what it writes to may grow.
    ``nested``: strided nested tensors have a kernel of their own, on the CPU the one of CUDA. ``view``: it
    moves no bytes.
    """

    full_name: str
    namespace: str
    name: str
    overload: str
    arguments: tuple[str, ...]
    defaults: tuple[Any, ...]
    tensors: tuple[int, ...]
    written: tuple[int, ...]
    implicit: bool
    explicit: bool
    factory: bool
    pointwise: bool
    value_decides: bool
    resizes: bool
    nested: bool
    view: bool

    @property
    def takes_out(self) -> bool:
        """Whether the result is written to tensors that are given last: ``torch.add(x, y, out=z)``."""
        written = len(self.written)
        return written > 0 and self.written[-1] == len(self.arguments) - 1 > written - 1

    @property
    def custom(self) -> bool:
        """Whether the operator isn't PyTorch's own: nothing is known of what it does on the host."""
        return self.namespace not in _BUILTIN_NAMESPACES


def _has_kernel(name: str, key: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, key))


@functools.cache
def operator(func: torch._ops.OpOverload) -> Operator:
    """Describe ``func`` (``torch.ops.aten.topk.default``)."""
    schema = func._schema
    name = func.name()
    own_kernel = _has_kernel(name, "CPU") or _has_kernel(name, "CUDA")
    return Operator(
        full_name=name,
        namespace=func.namespace,
        name=schema.name.split("::")[1],
        overload=schema.overload_name,
        arguments=tuple(argument.name for argument in schema.arguments),
        defaults=tuple(argument.default_value for argument in schema.arguments),
        tensors=tuple(i for i, argument in enumerate(schema.arguments) if str(argument.type) == "Tensor"),
        written=tuple(
            position
            for position, argument in enumerate(schema.arguments)
            if argument.alias_info is not None and argument.alias_info.is_write
        ),
        implicit=_has_kernel(name, "CompositeImplicitAutograd") and not own_kernel,
        explicit=not own_kernel
        and any(_has_kernel(name, f"CompositeExplicitAutograd{k}") for k in ("", "NonFunctional")),
        factory=any(argument.name == "device" for argument in schema.arguments),
        pointwise=torch.Tag.pointwise in func.tags,
        value_decides=bool(_VALUE_DECIDES & set(func.tags)),
        resizes=schema.name in _RESIZE or any(argument.is_out for argument in schema.arguments),
        nested=_has_kernel(name, "NestedTensorCPU"),
        view=moves_no_bytes(func),
    )


def without_out(op: Operator) -> list[Operator]:
    """The overloads that return what ``op`` writes to its ``out`` arguments."""
    if op.namespace != "aten" or not op.takes_out:
        return []
    packet = getattr(torch.ops.aten, op.name)
    overloads = [getattr(packet, name) for name in packet.overloads()]
    eager = [one for one in overloads if torch._C._dispatch_has_kernel(one.name())]  # TorchScript has others
    given = op.arguments[: op.written[0]]
    return [other for other in map(operator, eager) if other.arguments == given and not other.written]


def moves_no_bytes(func: torch._ops.OpOverload) -> bool:
    """Whether ``func`` only makes a view: its result shares its input's storage, and so its placement."""
    returns = func._schema.returns
    return any(r.alias_info is not None and not r.alias_info.is_write for r in returns)


@functools.cache
def with_numbers(func: torch._ops.OpOverload, numbers: tuple[int, ...]) -> Callable[..., Any]:
    """``func`` for calls that have numbers in the places ``numbers``, where its schema has tensors.

    PyTorch hands a "wrapped number" to Python as the number, and takes it back for some operators only
    (python_arg_parser.cpp, should_allow_numbers_as_tensors); an overload for numbers in those places wraps
    it again.
    """
    name = operator(func).name
    if torch._C._should_allow_numbers_as_tensors(name):
        return func
    packet = getattr(getattr(torch.ops, func.namespace), name)
    others = (getattr(packet, overload) for overload in packet.overloads())
    fitting = (other for other in others if _takes_numbers(other, func, numbers))
    return next(fitting, _tensors_of_numbers(func, numbers))


def _takes_numbers(
    other: torch._ops.OpOverload, func: torch._ops.OpOverload, numbers: tuple[int, ...]
) -> bool:
    """Whether ``other`` is ``func`` with numbers in the places ``numbers``, and tensors in its others."""
    mine, theirs = func._schema.arguments, other._schema.arguments
    if [argument.name for argument in mine] != [argument.name for argument in theirs]:
        return False
    return all((str(theirs[i].type) == "Tensor") == (i not in numbers) for i in operator(func).tensors)


def _tensors_of_numbers(func: torch._ops.OpOverload, numbers: tuple[int, ...]) -> Callable[..., Any]:
    """``func`` with 0-dim tensors for the numbers, of the dtype to which the number would promote."""

    def call(*args: Any, **kwargs: Any) -> Any:
        others = [value for value in args if isinstance(value, torch.Tensor)]
        return func(*(_tensor_of(v, others) if i in numbers else v for i, v in enumerate(args)), **kwargs)

    return call


def _tensor_of(number: Any, others: list[torch.Tensor]) -> torch.Tensor:
    wide = torch.tensor(number, dtype=torch.float64 if isinstance(number, float) else None)
    if others and torch.result_type(others[0], wide) != torch.result_type(others[0], number):
        return wide.to(torch.result_type(others[0], number))
    return wide
