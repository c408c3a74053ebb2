"""A watch over one thread: what it is doing in torch, and the record of what that costs."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from typing_extensions import Self

from syncscope import sites
from syncscope.events import Event
from syncscope.simcuda import debug_mode, hearing, modes
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.frames import Frame
from syncscope.simcuda.places import CPU, CUDA
from syncscope.sites import Site

Sink = Callable[[Event], None]


class _Here(threading.local):
    """The watch over this thread."""

    watch: Watch | None = None


_here = _Here()


def active() -> Watch | None:
    """The watch over this thread, if there is one."""
    return _here.watch


def inherited() -> Watch | None:
    """The watch in whose name a thread of autograd works: it has the dispatch keys of its caller."""
    return _over_gpus[-1] if _over_gpus else None


_over_gpus: list[Watch] = []
"""The watches over a real GPU, whose backward runs in autograd's own threads."""


@dataclass(frozen=True)
class Handed:
    """A call that Python code below the dispatcher is asked for, and whether it is to be heard."""

    func: Callable[..., Any]
    heard: bool


class Watch(ABC):
    """A context in which every event of the thread that enters it goes to ``sink``.

    ``families`` maps an ATen operator's name to the family that its launches are counted under. ``operators``
    counts every ATen call that was heard, by name and on whichever device: what torch.profiler counts as
    well. ``kernels`` names those that were run as they are: what their kernels call was not heard. Not among
    them are those that were ``entered`` as well (``index_fill`` with a tensor, beside one with a number).
    ``handed`` is what code of the user's below the dispatcher is asked for.
    ``notes`` say what was not done as on a GPU; ``touched`` whether a tensor on the device was made, or given
    to a call.

    On every way out the thread's modes are those it came in with, and torch is as it was. A watch may stand
    inside of another in the same thread: its events are the other's too.
    """

    simulated: bool
    """Whether tensors are placed on a device that isn't there."""

    def __init__(self, sink: Sink, families: dict[str, str] | None = None, stack_depth: int = 1) -> None:
        """Prepare; nothing is changed before the context is entered."""
        self.sink = sink
        self.families = self._counted = families or {}
        self.stack_depth = stack_depth
        self.frames: list[Frame] = []
        self.operators: Counter[str] = Counter()
        self.notes: list[str] = []
        self.kernels: set[str] = set()
        self.entered: set[str] = set()
        self.touched = False
        self.handed: Handed | None = None
        self._undo: list[Callable[[], Any]] = []
        self._outer: Watch | None = None

    @abstractmethod
    def _function_mode(self) -> TorchFunctionMode:
        """What calls from Python pass through."""

    @abstractmethod
    def _changes(self) -> Iterator[Callable[[], Any]]:
        """Make each change that is needed while the watch is on, and yield what takes it back."""

    def __enter__(self) -> Self:
        """Watch this thread from now on."""
        self._outer = _here.watch
        self.families = {**(self._outer.families if self._outer else {}), **self._counted}
        self._modes = modes.current()
        self._mode = self._function_mode()
        try:
            self._undo.extend(self._changes())
            _here.watch = self
            if not self.simulated:
                _over_gpus.append(self)
            torch._C._push_on_torch_function_stack(self._mode)
        except BaseException:  # an interrupt may come in between
            self._leave()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put everything back, modes that the watched code left behind too."""
        self._leave()
        if self._outer is not None:
            self._outer.operators.update(self.operators)
            self._outer.entered.update(self.entered)
            self._outer.kernels.update(self.kernels)
            self._outer.kernels.difference_update(self._outer.entered)
            self._outer.touched |= self.touched

    def is_run_as_it_is(self, operator: str) -> None:
        """What the kernel of ``operator`` calls isn't heard."""
        if operator not in self.entered:
            self.kernels.add(operator)

    def is_entered(self, operator: str) -> None:
        """What ``operator`` is made of is heard."""
        self.entered.add(operator)
        self.kernels.discard(operator)

    def _leave(self) -> None:
        inner = self._inner()
        if inner:
            self._leave_from_between(inner)
        else:
            _here.watch = self._outer
            modes.restore(self._modes)
        if self in _over_gpus:
            _over_gpus.remove(self)
        while self._undo:
            self._undo.pop()()
        if inner:
            inner[0]._undo.insert(0, hearing.begin())  # leaving has ended it for the thread
        self.frames.clear()

    def _inner(self) -> list[Watch]:
        """The watches that were entered in this one and are still on, innermost first.

        A generator that is left in the middle may be left before those that came later.
        """
        found: list[Watch] = []
        one = _here.watch
        while one is not None and one is not self:
            found.append(one)
            one = one._outer
        return found if one is self else []

    def _leave_from_between(self, inner: list[Watch]) -> None:
        """Take this watch out from under those that it stands around: they go on as they are."""
        inner[-1]._outer = self._outer
        for one in inner:
            one._modes = modes.without(one._modes, self._mode)
        modes.restore(modes.without(modes.current(), self._mode))

    def is_in_sight(self) -> bool:
        """Whether calls from Python pass the device: not while it is answering one."""
        return any(mode is self._mode for mode in modes.current().function)

    @contextmanager
    def kept_in_sight(self) -> Iterator[None]:
        """Let calls from Python code below the dispatcher pass the watch as well."""
        if self.is_in_sight():
            yield
            return
        with self.in_sight(), torch._C._EnableTorchFunction():
            yield

    @contextmanager
    def handing_over(self, func: Callable[..., Any], is_mode: bool) -> Iterator[None]:
        """Ask code of the user's for ``func``: should a mode call it, that is part of the call that asks.

        The code is heard even where the call that it is asked for is not.
        """
        before, heard = self.handed, hearing.included().has(hearing.KEY)
        self.handed = Handed(func, heard) if is_mode or not heard else None
        hearing.switch(hearing.KEY, True)
        try:
            with self.kept_in_sight():
                yield
        finally:
            hearing.switch(hearing.KEY, heard)
            self.handed = before

    @contextmanager
    def in_sight(self) -> Iterator[None]:
        """Let calls from Python pass the device, in the middle of one that it is answering."""
        torch._C._push_on_torch_function_stack(self._mode)
        try:
            yield
        finally:
            torch._C._pop_torch_function_stack()

    def places_on_device(self) -> bool:
        """Whether a tensor made from nothing just now belongs on the device."""
        return bool(self.frames) and self.frames[-1].places_on_device

    def as_named(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of an ATen call as a GPU build has them: the face put the CPU in its place."""
        if kwargs.get("device") == CPU and self.places_on_device():
            return {**kwargs, "device": CUDA}
        return kwargs

    def charge(self, charges: Collection[Charge], op: str = "", why: str = "", spelling: str = "") -> None:
        """Record ``charges`` of the operator ``op`` against the user's line that is running.

        ``why`` is the reason of those that bring none of their own; ``spelling`` is what the user calls
        where no torch function does.
        """
        if not charges:
            return
        stack = sites.stack(self.stack_depth) or self._callers()
        api = self._api() or spelling or op
        for charge in charges:
            if self.simulated and not charge.silent:
                debug_mode.tell(charge.waits)
            self._tell(_charged(charge, api, op, why, stack))

    def note(self, text: str) -> None:
        """Keep ``text`` for the report: something that was not done as on a GPU."""
        if text not in self.notes:
            self.notes.append(text)
        if self._outer is not None:
            self._outer.note(text)

    def launched(self, op: str, family: str) -> None:
        """Record a launch of a counted operator family, where it is counted: here, or by the outer watch."""
        if family in self._counted.values():
            self.sink(_launch(self._api() or op, op, family, sites.here()))
        if self._outer is not None:
            self._outer.launched(op, family)

    def _tell(self, event: Event) -> None:
        """Hand an event on; a watch that this one stands inside of hears of it too."""
        self.sink(event)
        if self._outer is not None:
            self._outer._tell(event)

    def _callers(self) -> tuple[Site, ...]:
        """Where the user called torch, for what torch does in a thread of its own (backward on a GPU)."""
        callers = (frame.caller for frame in reversed(self.frames))
        return tuple(sites.of_frame(one) for one in callers if one and sites.is_users(one.f_code))[:1]

    def _api(self) -> str:
        """The spelling that the user's own line called: torch may have called others below it."""
        for frame in reversed(self.frames):
            if frame.caller is not None and sites.is_users(frame.caller.f_code):
                return frame.spelling
        return self.frames[0].spelling if self.frames else ""


# Equal events mostly are one object: a loop makes the same ones again and again.
_KEPT = 4096


@lru_cache(_KEPT)
def _charged(charge: Charge, api: str, op: str, why: str, stack: tuple[Site, ...]) -> Event:
    return Event(
        kind=charge.kind,
        api=api,
        op=op,
        dtoh=charge.dtoh,
        htod=charge.htod,
        dtod=charge.dtod,
        waits=charge.waits,
        shape=charge.shape,
        dtype=charge.dtype,
        reason="; ".join(filter(None, (charge.why or why, charge.may_wait))),
        site=stack[0] if stack else sites.NOWHERE,
        stack=stack,
        may_wait=bool(charge.may_wait),
    )


@lru_cache(_KEPT)
def _launch(api: str, op: str, family: str, site: Site) -> Event:
    return Event("launch", api, op, family=family, site=site)
