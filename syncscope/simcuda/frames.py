"""The Python calls into torch that are running now: what an ATen call was made for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from torch import Tensor
from torch.overrides import resolve_name

from syncscope.simcuda.placement import PLACEMENT

_BRACKETS = (Tensor.__getitem__, Tensor.__setitem__)


@dataclass(slots=True)
class Frame:
    """One call of a torch function with its arguments; of None, where an ``operator`` is made of others.

    ``target`` says where tensors made in this call are to live, as its ``device`` argument asked: on the
    device (True), on the host (False), or nothing was asked (None). ``tangentless``: in forward-mode AD, the
    operands that have no tangent; ``zeros_on_host`` says of each zero tensor made for one where it lives.
    """

    func: Callable[..., Any] | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    caller: FrameType | None = None
    target: bool | None = None
    operator: str = ""
    tangentless: tuple[Tensor, ...] = ()
    zeros_on_host: list[bool] = field(default_factory=list)
    _inputs_on_device: bool | None = field(default=None, init=False, repr=False)

    @property
    def spelling(self) -> str:
        """How the user spells the function; empty where there is none."""
        return "" if self.func is None else _spelled(self.func)

    @property
    def by_brackets(self) -> bool:
        """Whether this is ``x[i]`` or ``x[i] = v``: the binding makes tensors of lists, where ``x`` lives."""
        return self.func in _BRACKETS

    def was_given(self, tensor: Tensor) -> bool:
        """Whether the caller gave this very ``tensor``: the Python binding makes some itself."""
        return any(tensor is given for given in tensors(self.args, self.kwargs))

    @property
    def inputs_on_device(self) -> bool:
        """Whether any tensor among the arguments lives on the device, as it was when this was first asked."""
        if self._inputs_on_device is None:
            self._inputs_on_device = any(map(PLACEMENT.is_on, tensors(self.args, self.kwargs)))
        return self._inputs_on_device

    @property
    def places_on_device(self) -> bool:
        """Whether a tensor that is made in this call from nothing belongs on the device."""
        if self.target is not None:
            return self.target
        return PLACEMENT.is_on(self.args[0]) if self.by_brackets else self.inputs_on_device


def called(frames: Sequence[Frame]) -> Frame | None:
    """The innermost call of a torch function among ``frames``."""
    for frame in reversed(frames):
        if frame.func is not None:
            return frame
    return None


def tensors(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """The tensors among some arguments, those in lists, tuples, dicts and slices too."""
    found: list[Tensor] = []
    _collect(args, found)
    if kwargs:
        _collect(kwargs.values(), found)
    return found


def _collect(values: Iterable[object], found: list[Tensor]) -> None:
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            _collect(value, found)
        elif isinstance(value, dict):
            _collect(value.values(), found)
        elif isinstance(value, slice):
            _collect((value.start, value.stop, value.step), found)


@functools.cache
def _spelled(func: Callable[..., Any]) -> str:
    """``Tensor.item``, ``torch.topk``."""
    known = resolve_name(func) or getattr(func, "__qualname__", None)
    name = str(known or getattr(func, "_name", None) or repr(func))
    name = name.replace("_VariableFunctionsClass.", "torch.").replace("torch.functional.", "torch.")
    name = name.removesuffix(".__get__").replace("TensorBase.", "torch.Tensor.")
    return name.removeprefix("torch.") if name.startswith("torch.Tensor.") else name
