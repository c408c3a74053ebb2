"""Gradients that Python code hands to the engine: each lives where its tensor does, or is taken there.

Raises:
    RuntimeError: one that isn't 0-dim doesn't; as PyTorch words it (torch/csrc/autograd/engine.cpp,
        validate_outputs).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import BackwardCFunction

from syncscope.simcuda import watch, watched
from syncscope.simcuda.face.crossing import Move, moved
from syncscope.simcuda.face.gradients import Fetching
from syncscope.simcuda.placement import PLACEMENT

Own = Callable[..., Any]


def show() -> watched.Undo:
    """Look at them in watched threads; the function returned ends it."""
    undo = [
        watched.method(torch.autograd, "_make_grads", of_roots),
        watched.attribute(torch.autograd.Function, "apply", classmethod(_applied)),
        watched.method(BackwardCFunction, "apply", of_function),
    ]
    return lambda: [back() for back in undo]


def of_roots(own: Own, outputs: Sequence[Any], grads: Sequence[Any], *rest: Any, **options: Any) -> Any:
    """What ``t.backward(g)`` and ``torch.autograd.grad(t, inputs, g)`` begin with."""
    made = own(outputs, grads, *rest, **options)
    return _at(made, _places(outputs), "invalid gradient")


_own_apply = torch.autograd.Function.__dict__["apply"].__func__


def _applied(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """``Function.apply(...)``: where the arguments and the results live is kept for the backward."""
    result = _own_apply(cls, *args, **kwargs)
    if watch.active() is None:
        return result
    results = result if isinstance(result, tuple) else (result,)
    for one in results:
        node = one.grad_fn if isinstance(one, Tensor) else None
        if isinstance(node, BackwardCFunction):
            node._places = _places(args)
            node._made_at = [] if cls is Fetching else _places(results)
    return result


def _places(values: Sequence[Any]) -> list[bool | None]:
    return [PLACEMENT.is_on(one) if isinstance(one, Tensor) else None for one in values]


def of_function(own: Own, node: Any, *args: Any) -> Any:
    """What a user's ``backward`` is given (zeros for a result that has no gradient) and what it returns."""
    for gradient, place in zip(args, getattr(node, "_made_at", ()), strict=False):
        if isinstance(gradient, Tensor) and place is not None and PLACEMENT.is_on(gradient) != place:
            (PLACEMENT.put if place else PLACEMENT.take_back)(gradient)
    made = own(node, *args)
    places = getattr(node, "_places", None)
    if places is None:
        return made
    blame = f"Function {type(node).__name__} returned an invalid gradient"
    return _at(made, places, blame) if isinstance(made, tuple) else _at((made,), places, blame)[0]


def _at(gradients: Sequence[Any], places: Sequence[bool | None], blame: str) -> tuple[Any, ...]:
    beyond = tuple(gradients[len(places) :])
    pairs = enumerate(zip(gradients, places, strict=False))
    return tuple(_one_at(one, place, f"{blame} at index {i}") for i, (one, place) in pairs) + beyond


def _one_at(gradient: Any, on_device: bool | None, blame: str) -> Any:
    if not isinstance(gradient, Tensor) or on_device is None or PLACEMENT.is_on(gradient) == on_device:
        return gradient
    if gradient.dim():
        sides = ("cuda:0", "cpu") if on_device else ("cpu", "cuda:0")
        raise RuntimeError("{} - expected device {} but got {}".format(blame, *sides))
    return moved(gradient, Move(on_device))
