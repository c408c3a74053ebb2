"""The ear at the dispatcher: every ATen call of a watched thread passes here.

It is a boxed fallback on a dispatch key that eager mode gives to no tensor (``Fake``), switched on in the
thread-local include set. Unlike a ``TorchDispatchMode`` it changes none of PyTorch's own paths (an active
dispatch mode adds a copy to the backward of an index), and it hears what runs while a tensor is printed.
It lies below autograd, so what is heard are the operators that reach a backend.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor, _ops

from syncscope.simcuda import backward, forks, hearing, tangents, watch
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs import table
from syncscope.simcuda.costs.free import is_free
from syncscope.simcuda.dispatch import determinism, detours, mixing
from syncscope.simcuda.dispatch.growth import Growth
from syncscope.simcuda.frames import Frame, tensors
from syncscope.simcuda.hearing import KEY, below, switch, unheard
from syncscope.simcuda.operators import Operator, moves_no_bytes, operator, with_numbers
from syncscope.simcuda.placement import PLACEMENT, answers_itself, overrides
from syncscope.simcuda.places import CPU

_DisableTorchFunction = torch._C.DisableTorchFunction
_NUMBERS = (int, float, complex)


def listen() -> Callable[[], None]:
    """Hear this thread's ATen calls from now on; the function returned ends it."""
    _register()
    _let_higher_order_operators_pass()
    return hearing.begin()


def _let_higher_order_operators_pass() -> None:
    """``torch.cond``, ``flex_attention`` and their kind look for a kernel in Python: they have parts."""
    defaults = _ops._HIGHER_ORDER_OP_DEFAULT_FALLTHROUGH_DISPATCH_KEYS
    if KEY not in defaults:
        defaults.append(KEY)  # for those that are made later
        for made in list(_ops._higher_order_ops.values()):
            made.fallthrough(KEY)


@cache
def _register() -> tuple[torch.library.Library, torch.library.Library]:
    """Register the fallback, and let views pass it by: they share their base's storage."""
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(_hear, "Fake", with_keyset=True)
    views = torch.library.Library("aten", "IMPL")
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::") and _is_plain_view(name):
            views.impl(name, torch.library.fallthrough_kernel, "Fake")
    return everything, views


def _is_plain_view(name: str) -> bool:
    base, _, overload = name.removeprefix("aten::").partition(".")
    func = getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
    return func is not None and moves_no_bytes(func) and not operator(func).implicit


def _hear(keys: torch.DispatchKeySet, func: torch._ops.OpOverload, *args: Any, **kwargs: Any) -> Any:
    """The fallback: find out what the call costs, run it on the CPU, place what it made."""
    device = watch.active() or watch.inherited()
    if device is None:
        return func.redispatch(below(keys), *args, **kwargs)
    if kwargs and device.simulated and _names_cuda(kwargs.get("device")):
        return _made_unseen(device, func, args, kwargs)
    heard = _Hearing(device, below(keys), func, operator(func), args, kwargs)
    if not torch._C._len_torch_function_stack():
        return heard.run()
    with _DisableTorchFunction():  # what is asked about the tensors here is no call of the user's
        return heard.run()


def _made_unseen(
    device: watch.Watch, func: torch._ops.OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Make a tensor on the device where the face wasn't told to: torch functions are off."""
    device.frames.append(Frame(None, (), {}, target=True))
    try:
        return func(*args, **{**kwargs, "device": CPU})
    finally:
        device.frames.pop()


class _Hearing:
    """One ATen call being heard; ``keys`` are those that lie below the listener.

    ``numbers`` are the positions of numbers where the schema has a tensor: Python can't redispatch those.
    """

    __slots__ = ("device", "keys", "func", "op", "args", "kwargs", "numbers")

    def __init__(
        self,
        device: watch.Watch,
        keys: torch.DispatchKeySet,
        func: torch._ops.OpOverload,
        op: Operator,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        self.device, self.keys, self.func, self.op = device, keys, func, op
        self.args, self.kwargs = args, kwargs
        self.numbers = _numbers(op, args)

    def run(self) -> Any:
        """Pass composites on to what they are made of; look closer at the rest."""
        if self.op.implicit and not self._is_of_nested():
            return self._decomposed()
        inputs = tensors(self.args, self.kwargs)
        for tensor in inputs:
            if type(tensor) is not Tensor and answers_itself(type(tensor)):
                return self._answered_by_subclass()
        if any(map(overrides, map(type, inputs))):
            with torch._C.DisableTorchFunctionSubclass():  # nor is a class of the user's to hear of it
                return self._looked_into(inputs)
        return self._looked_into(inputs)

    def _is_of_nested(self) -> bool:
        """Whether a composite has another body for its arguments."""
        return self.op.nested and any(one.is_nested for one in tensors(self.args, self.kwargs))

    def _looked_into(self, inputs: list[Tensor]) -> Any:
        if not self._is_part_of_itself():
            self.device.operators[self.op.name] += 1
        on_device = list(map(PLACEMENT.is_on, inputs))
        if True in on_device or self._makes_device_tensor(inputs) or self._reads_what_was_built(inputs):
            return self._on_device(inputs, mixed=False in on_device)
        return self._quietly()

    def _is_part_of_itself(self) -> bool:
        """Whether one overload called another (``sum`` of all, ``sum`` over dimensions): it is one call."""
        frames = self.device.frames
        return bool(frames) and frames[-1].operator == self.op.name

    def _makes_device_tensor(self, inputs: list[Tensor]) -> bool:
        if (inputs or self.numbers) and not self.op.factory:
            return False
        if inputs and self.device.simulated and not self._is_asked_for_the_device():
            return self._takes_tangent_up()  # else made after the model of a tensor of the host
        if self.numbers:
            return False  # copies of a number stay the host's
        if self._is_tangent_of_the_host() or backward.are_of_the_host(self.op, self.args):
            return False
        return self.device.places_on_device() or _names_cuda(self.kwargs.get("device"))

    def _is_tangent_of_the_host(self) -> bool:
        frames = self.device.frames
        return bool(frames) and tangents.are_of_the_host(self.op, self.args, frames[-1])

    def _takes_tangent_up(self) -> bool:
        frames = self.device.frames
        return bool(frames) and "device" in self.kwargs and tangents.take_up(self.op, frames[-1])

    def _is_asked_for_the_device(self) -> bool:
        """Whether the call that runs names the device, as ``torch.zeros_like(c, device="cuda")`` does."""
        frames = self.device.frames
        return bool(frames) and frames[-1].target is True

    def _reads_what_was_built(self, inputs: list[Tensor]) -> bool:
        """Whether a 0-dim array as an index of a device tensor is read: the binding builds it there."""
        frames = self.device.frames
        if self.op.name != "_local_scalar_dense" or not frames or not frames[-1].by_brackets:
            return False
        return frames[-1].places_on_device and not frames[-1].was_given(inputs[0])

    def _answered_by_subclass(self) -> Any:
        """A tensor subclass says in Python what the call means: that is heard, and spoken to the face."""
        with self.device.kept_in_sight():
            return self._redispatched()

    def _decomposed(self) -> Any:
        """A composite that was called below autograd: run its parts, which are heard."""
        result = self.func.decompose(*self.args, **self.kwargs)
        return self._quietly() if result is NotImplemented else result

    def _quietly(self) -> Any:
        """Run the operator; what its CPU kernel calls is no business of CUDA's."""
        self.device.is_run_as_it_is(self.op.name)
        switch(KEY, False)  # unheard(), without its cost on every call
        try:
            if self.numbers:
                return with_numbers(self.func, self.numbers)(*self.args, **self.kwargs)
            return self._redispatched()
        finally:
            switch(KEY, True)

    def _redispatched(self) -> Any:
        """Run the kernel; should it call Python, then with the function modes that are on."""
        if not torch._C._len_torch_function_stack():
            return self.func.redispatch(self.keys, *self.args, **self.kwargs)
        with torch._C._EnableTorchFunction():
            return self.func.redispatch(self.keys, *self.args, **self.kwargs)

    def _entered(self) -> Any:
        """Run an operator that is made of others on every device: those are heard."""
        self.device.is_entered(self.op.name)
        self.device.frames.append(Frame(None, (), {}, target=True, operator=self.op.name))
        try:
            return self._redispatched()
        finally:
            self.device.frames.pop()

    def _on_device(self, inputs: list[Tensor], mixed: bool) -> Any:
        self.device.touched = True
        forks.refuse_work()
        entry = self._entry(inputs)
        if mixed and self.device.simulated and not self._takes_both(entry):
            mixing.refuse_two_devices(self.op, self.args, self.kwargs)
        if self.device.simulated and torch.are_deterministic_algorithms_enabled():
            determinism.refuse(self.op, self.args, self.kwargs)
        charges = self._charges_before(entry, inputs)
        growth = Growth(self.op, self.args, self.kwargs) if self._may_resize() else None
        try:
            result = self._run(entry)
        except Exception:
            if entry is not None and entry.fails_late:
                self._report(entry, charges)
            raise
        if entry is not None and entry.after:
            charges = entry.charges(self._call(result))
        if growth is not None:
            charges += growth.charges()
        if self.device.simulated and not (entry is not None and entry.enters):
            self._place(result, entry.host_results if entry is not None else ())
        self._report(entry, charges)
        return result

    def _takes_both(self, entry: table.Entry | None) -> bool:
        """Whether host and device may meet here; a form that clones leaves it to the one in place."""
        if entry is not None:
            return entry.mixes
        return self.op.explicit and hasattr(torch.ops.aten, f"{self.op.name}_")

    def _may_resize(self) -> bool:
        """Whether what it writes to may grow: told once where an operator is made of others.

        ``resize`` is made of ``resize_`` on a copy, which only that one sees grow.
        """
        outer = self.device.frames[-1].operator if self.device.frames else ""
        return self.op.resizes and (not outer or self.op.name == f"{outer}_")

    def _entry(self, inputs: list[Tensor]) -> table.Entry | None:
        for tensor in inputs:
            if tensor.layout is not torch.strided:
                return table.sparse_entry(self.op) or table.entry(self.op)
        return table.entry(self.op)

    def _run(self, entry: table.Entry | None) -> Any:
        if entry is not None and entry.stand_in is not None and self.device.simulated:
            self.device.is_run_as_it_is(self.op.name)
            with unheard():
                return entry.stand_in(table.Call(self.op, self.args, self.kwargs), self.func)
        return self._entered() if self._is_made_of_others(entry) else self._quietly()

    def _is_made_of_others(self, entry: table.Entry | None) -> bool:
        """Whether the operator's parts are to be charged in its place."""
        made_of_others = self.op.explicit or self.op.implicit if entry is None else entry.enters
        return made_of_others and not self.numbers

    def _charges_before(self, entry: table.Entry | None, inputs: list[Tensor]) -> tuple[Charge, ...]:
        """The charges that the arguments alone decide, taken before the operator changes them."""
        if entry is None:
            sparse = any(one.layout is not torch.strided for one in inputs)
            return () if is_free(self.op, sparse) else (Charge("unknown"),)
        return () if entry.after or entry.rule is table.free else entry.charges(self._call())

    def _call(self, result: Any = None) -> table.Call:
        """The call as a rule sees it: with a tensor wherever the schema has one."""
        args = self.args
        if self.numbers:
            args = tuple(torch.tensor(v) if i in self.numbers else v for i, v in enumerate(args))
        return table.Call(self.op, args, self.kwargs, result, self.numbers)

    def _report(self, entry: table.Entry | None, charges: tuple[Charge, ...]) -> None:
        device, op = self.device, self.op
        if charges and not (device.simulated and detours.only_on_cpu(op.name, device.frames)):
            device.charge(charges, op=op.full_name, why=entry.why if entry is not None else _UNKNOWN)
        family = device.families.get(op.name)
        if family is not None and not self._is_part_of_itself():
            device.launched(op.full_name, family)

    def _place(self, result: Any, host: tuple[int, ...]) -> None:
        """Put what the operator made on the device; what it changed was there already, or is the host's."""
        if type(result) is Tensor:
            if not host and result.is_cpu and not self._is_written(result):
                PLACEMENT.put(result)
            return
        if host:
            result = [made for i, made in enumerate(result) if i not in host]
        if self.op.name.startswith("_foreach_") and isinstance(result, (list, tuple)):
            given = next(value for value in self.args if isinstance(value, (list, tuple)))
            result = [made for made, of in zip(result, given, strict=False) if PLACEMENT.is_on(of)]
        for tensor in tensors((result,), {}):
            if tensor.is_cpu and not self._is_written(tensor):
                PLACEMENT.put(tensor)

    def _is_written(self, tensor: Tensor) -> bool:
        """Whether the call was given ``tensor`` to change it."""
        return any(i < len(self.args) and self.args[i] is tensor for i in self.op.written)


def _names_cuda(device: torch.device | None) -> bool:
    """Whether a real GPU is named: on a simulated device the face has put the CPU in its place."""
    return device is not None and device.type == "cuda"


def _numbers(op: Operator, args: tuple[Any, ...]) -> tuple[int, ...]:
    """Positions of numbers where the schema has a tensor."""
    for i in op.tensors:
        if i < len(args) and isinstance(args[i], _NUMBERS):
            return tuple(i for i in op.tensors if i < len(args) and isinstance(args[i], _NUMBERS))
    return ()


_UNKNOWN = (
    "nothing is known of what this operator does on the host: it may wait; ask for an entry in the cost table"
)
