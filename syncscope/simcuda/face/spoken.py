"""One call of a torch function from Python, and the ways to answer it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from syncscope.simcuda.face import bodies, generators, gradients
from syncscope.simcuda.frames import Frame
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.places import means_cuda
from syncscope.simcuda.watch import Watch

_PLACING = frozenset({"device", "pin_memory", "generator"})


@dataclass(slots=True)
class Spoken(Frame):
    """One call of a torch function from Python, while ``device`` answers it."""

    func: Callable[..., Any]
    device: Watch = field(kw_only=True)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself; if it is torch's Python, with the device in sight."""
        written = bodies.python_of(self.func)
        if written is None or self._is_its_own_caller():
            return self.func(*args, **kwargs)
        with self.device.in_sight():
            return bodies.body(written)(*args, **kwargs)

    def _is_its_own_caller(self) -> bool:
        """Whether the body asked in another way (``torch.overrides.has_...``) and came back to the mode."""
        outer = self.device.frames[-2:-1]
        return bool(outer) and outer[0].func == self.func

    def run_unheard(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function for its value alone: nothing that it does is charged."""
        with unheard():
            return self.func(*args, **kwargs)

    def plainly(self) -> Any:
        """Answer a call that means what it says, but for where its result is to live."""
        args, kwargs = self.args, self.kwargs
        if len(args) + len(kwargs) > 1 and torch.is_grad_enabled():
            args = gradients.returning(self)
        if kwargs and not _PLACING.isdisjoint(kwargs):
            return self._made(args)
        return self.run(*args, **kwargs)

    def _made(self, args: tuple[Any, ...]) -> Any:
        """Answer a call that says where its result is to live, or where its random numbers come from.

        Raises:
            RuntimeError: memory of the device is to be pinned; as PyTorch words it.
        """
        kwargs = self.placed()
        pinned = self.kwargs.get("pin_memory")
        if pinned and self.places_on_device:
            raise RuntimeError("Only dense CPU tensors can be pinned")
        if kwargs.get("generator") is not None and bodies.python_of(self.func) is None:
            kwargs["generator"] = generators.of_the_cpu(kwargs["generator"], self.places_on_device)
        result = self.run(*args, **kwargs)
        if pinned:
            PLACEMENT.pin(result)
        if self.target is False and self.inputs_on_device and _is_modelled(self.func):
            PLACEMENT.take_back(result)
        return result

    def placed(self) -> dict[str, Any]:
        """The keyword arguments for a CPU call; where the result is to live is noted here."""
        kwargs = {name: value for name, value in self.kwargs.items() if name != "pin_memory"}
        if kwargs.get("device") is not None:
            target = means_cuda(kwargs["device"])
            if target is not None:
                self.target = target
                kwargs["device"] = "cpu"
        return kwargs


def _is_modelled(func: Callable[..., Any]) -> bool:
    """Whether ``func`` makes a new tensor after the model of another (``zeros_like``, ``new_zeros``)."""
    name = getattr(func, "__name__", "").partition(".")[0]  # that of an operator names its overload as well
    return name.endswith("_like") or name.startswith("new_")
