"""Inputs made by a function of the user's, ``make_inputs`` for one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from inspect import Parameter
from typing import Any

from syncscope.subjects import UnusableInputs
from syncscope.subjects.cases import Case, Sweep, place
from syncscope.subjects.loader import Subject
from syncscope.subjects.raised import told_as
from syncscope.subjects.seeds import seed_again, seeded

Arguments = tuple[tuple[Any, ...], dict[str, Any]]
"""Positional and keyword arguments of one call."""


@dataclass(frozen=True)
class MadeInputs:
    """Inputs made by a function whose parameters are the sweep's variables, ``device`` and ``seed``.

    ``subject`` is the file that has the function. What it returns are positional arguments (a tuple or a
    list), keyword arguments (a dict), or else the only argument. Where it doesn't take ``device`` and leaves
    all tensors on the host, they are moved to the device.
    """

    subject: Subject
    function: Callable[..., Any]
    name: str = "make_inputs"
    note: str = ""

    def describe(self) -> str:
        """Who makes them: ``make_inputs of old.py``."""
        return f"{self._called}{self.note}"

    @property
    def _called(self) -> str:
        return f"{self.name} of {self.subject.file}"

    @cached_property
    def _parameters(self) -> dict[str, Parameter]:
        return dict(inspect.signature(self.function).parameters)

    def check(self, sweep: Sweep) -> None:
        """Compare the function's parameters with the sweep's variables.

        Raises:
            UnusableInputs: a parameter has no value, or a variable no parameter.
        """
        for name, parameter in self._parameters.items():
            if _is_required(parameter) and name not in (*sweep.names, "device", "seed"):
                has = f", the sweep has only {', '.join(sweep.names)}" if sweep.names else ""
                raise UnusableInputs(f"{self._called} needs `{name}`{has}: give --sweep {name}=4,8,12")
        for name in sweep.names:
            if not self._takes(name):
                takes = ", ".join(self._parameters) or "no parameters"
                raise UnusableInputs(
                    f"{self._called} doesn't take `{name}`, which is swept: it takes {takes}"
                )

    def _takes(self, name: str) -> bool:
        """Whether the function takes ``name``, or anything."""
        return name in self._parameters or any(
            parameter.kind is Parameter.VAR_KEYWORD for parameter in self._parameters.values()
        )

    def inputs(self, case: Case, seed: int, device: str) -> Arguments:
        """Call the function anew, with torch's, numpy's and Python's generators seeded.

        Raises:
            UnusableInputs: the function raises, exits or returns nothing; with the case and the user's line.
        """
        return self.series(case, [seed], device)[0]

    def series(self, case: Case, seeds: Sequence[int], device: str) -> list[Arguments]:
        """As ``inputs`` for each seed in turn; the generators' states are kept and put back once for all.

        Raises:
            UnusableInputs: as ``inputs``.
        """
        wanted = [int(case.get("seed", seed)) for seed in seeds]
        with seeded(wanted[0]):
            return [self._seeded_inputs(case, seed, device) for seed in wanted]

    def _seeded_inputs(self, case: Case, seed: int, device: str) -> Arguments:
        offered = {"device": device, **case, "seed": seed}
        given = {name: value for name, value in offered.items() if self._takes(name)}
        seed_again(seed)
        with told_as(lambda error: UnusableInputs(f"{failed(case)}: {self.subject.describe(error)}")):
            made = self.function(**given)
        if made is None:
            raise UnusableInputs(
                f"{failed(case)}: {self._called} returns nothing: return the arguments in a tuple"
            )
        return _arguments(made if "device" in given else _on_device(made, device))


def _is_required(parameter: Parameter) -> bool:
    variadic = parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return parameter.default is Parameter.empty and not variadic


def failed(case: Case) -> str:
    """How messages begin where the inputs of a case can't be made."""
    return f"inputs can't be made for {place(case)}"


def _arguments(made: Any) -> Arguments:
    if isinstance(made, dict):
        return (), made
    return (tuple(made), {}) if isinstance(made, (tuple, list)) else ((made,), {})


def _on_device(made: Any, device: str) -> Any:
    """Move tensors and modules to the device, unless the function has put some on a device itself."""
    import torch
    from torch.utils import _pytree as pytree

    kinds = (torch.Tensor, torch.nn.Module)
    movable = [value for value in pytree.tree_leaves(made) if isinstance(value, kinds)]
    if device == "cpu" and all(getattr(value, "is_leaf", True) for value in movable):
        return made  # the common case, and walking them once more takes longer than making them
    if all(_is_on_host(value) for value in movable):
        return pytree.tree_map_only(kinds, lambda value: _moved(value, device), made)
    return made


def _is_on_host(value: Any) -> bool:
    tensors = value.parameters() if hasattr(value, "parameters") else [value]
    return all(tensor.device.type == "cpu" for tensor in tensors)


def _moved(value: Any, device: str) -> Any:
    """On the device, and for a tensor a leaf of the graph there as it was on the host."""
    if hasattr(value, "parameters"):
        return value.to(device)
    return value.detach().to(device).requires_grad_(value.requires_grad)
