"""How calls of the named functions are noticed: with ``sys.monitoring``, else with a profile function."""

from __future__ import annotations

import dis
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import CodeType, FrameType
from typing import Any, Protocol

from typing_extensions import Self

from syncscope.observe.monitoring import claimed_tool
from syncscope.observe.steps import Named, Stepper
from syncscope.observe.tally import Tally
from syncscope.subjects import Unusable

_CAN_PAUSE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_PAUSES = frozenset(
    dis.opmap[name] for name in ("YIELD_VALUE", "YIELD_FROM", "RETURN_GENERATOR") if name in dis.opmap
)


class StepWatch(Protocol):
    """What finds the steps of the threads that follow it."""

    def follow(self, tally: Tally) -> AbstractContextManager[None]:
        """A context in which this thread's steps are found."""

    def __enter__(self) -> Self:
        """Begin for the process."""

    def __exit__(self, *error: object) -> None:
        """Put everything back."""


class Profiled:
    """Finds steps with ``sys.setprofile``; a profile function that was there hears everything as before."""

    def __init__(self, named: Named) -> None:
        """Nothing is changed before a thread follows."""
        self._named = named

    def __enter__(self) -> Self:
        """There is nothing to do for the process."""
        return self

    def __exit__(self, *error: object) -> None:
        """There is nothing to put back."""

    @contextmanager
    def follow(self, tally: Tally) -> Iterator[None]:
        """Find the steps of this thread.

        Raises:
            Unusable: a profiler in C (cProfile) holds this thread.
        """
        previous = sys.getprofile()
        if previous is not None and not callable(previous):
            raise Unusable(
                f"per: {type(previous).__name__} profiles this thread already: take it away, "
                "or use Python 3.12 where both can run"
            )
        chained: Any = previous
        stepper, named = Stepper(tally), self._named

        def profile(frame: FrameType, event: str, argument: Any) -> None:
            if event in ("call", "return") and named.has(frame.f_code):
                if event == "call":
                    stepper.begin(frame)
                elif _pauses(frame):
                    stepper.pause(frame)
                else:
                    stepper.end(frame)
            if chained is not None:
                chained(frame, event, argument)

        sys.setprofile(profile)
        try:
            yield
        finally:
            # The watched code may have set another meanwhile, which is then its own affair.
            if sys.getprofile() is profile:
                sys.setprofile(previous)
            stepper.end_all()


def _pauses(frame: FrameType) -> bool:
    """Whether a frame that is left stands at a ``yield`` or ``await`` (in Python 3.10 before the latter)."""
    code, at = frame.f_code, frame.f_lasti
    return bool(code.co_flags & _CAN_PAUSE) and not _PAUSES.isdisjoint(code.co_code[at : at + 3 : 2])


if sys.version_info >= (3, 12):
    _EVENTS = sys.monitoring.events

    class _Here(threading.local):
        stepper: Stepper | None = None

    class Monitored:
        """Finds steps with ``sys.monitoring``, beside any other tool."""

        def __init__(self, named: Named, tool: int) -> None:
            """Use the tool number ``tool``, which is claimed already."""
            self._named, self._tool = named, tool
            self._here = _Here()
            off = sys.monitoring.DISABLE
            self._callbacks = {
                _EVENTS.PY_START: self._callback(Stepper.begin, off),
                _EVENTS.PY_RESUME: self._callback(Stepper.begin, off),
                _EVENTS.PY_YIELD: self._callback(Stepper.pause, off),
                _EVENTS.PY_RETURN: self._callback(Stepper.end, off),
                # These two can't be switched off for one place.
                _EVENTS.PY_THROW: self._callback(Stepper.begin, None),
                _EVENTS.PY_UNWIND: self._callback(Stepper.end, None),
            }

        def _callback(self, act: Callable[[Stepper, FrameType], None], elsewhere: object) -> Any:
            def callback(code: CodeType, *_: object) -> object:
                if not self._named.has(code):
                    return elsewhere
                if self._here.stepper is not None:
                    act(self._here.stepper, sys._getframe(1))
                return None

            return callback

        def __enter__(self) -> Self:
            """Hear of calls in the whole process."""
            for event, callback in self._callbacks.items():
                sys.monitoring.register_callback(self._tool, event, callback)
            # What an earlier use of this tool's number disabled stays disabled until events are restarted.
            sys.monitoring.restart_events()
            sys.monitoring.set_events(self._tool, sum(self._callbacks))
            return self

        def __exit__(self, *error: object) -> None:
            """Give the tool number back."""
            sys.monitoring.set_events(self._tool, _EVENTS.NO_EVENTS)
            for event in self._callbacks:
                sys.monitoring.register_callback(self._tool, event, None)
            sys.monitoring.free_tool_id(self._tool)

        @contextmanager
        def follow(self, tally: Tally) -> Iterator[None]:
            """Find the steps of this thread."""
            stepper, outer = Stepper(tally), self._here.stepper
            self._here.stepper = stepper
            try:
                yield
            finally:
                self._here.stepper = outer
                stepper.end_all()

    def step_watch(named: Named) -> StepWatch:
        """Look for steps with ``sys.monitoring``.

        Raises:
            Unusable: other tools have all numbers that ``sys.monitoring`` has for tools like this one.
        """
        tool = claimed_tool()
        if tool is None:
            raise Unusable("per: other tools have the numbers 3 and 4 of sys.monitoring: run without one")
        return Monitored(named, tool)

else:

    def step_watch(named: Named) -> StepWatch:
        """Look for steps with a profile function in each thread."""
        return Profiled(named)
