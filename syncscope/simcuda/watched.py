"""Modules and classes of torch that answer for the simulated device, in the threads that it watches.

A thread without a device gets what torch itself has, classes and constants too: what is answered depends on
the thread that asks, so nothing has to be exchanged while several threads run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from syncscope.simcuda import watch

Undo = Callable[[], Any]

_ABSENT = object()


def module(shown: ModuleType, answers: Mapping[str, Any]) -> Undo:
    """Let ``shown`` have ``answers`` as attributes, for watched threads; what the user set himself stays."""
    own = type(shown)
    if shown not in _kinds:
        _kinds[shown] = _watched_kind(own, vars(shown).copy(), answers)
    shown.__class__ = _kinds[shown]
    return lambda: setattr(shown, "__class__", own)


_kinds: dict[ModuleType, type] = {}
"""The class that each module has while it is shown: its answers are the same each time."""


def _watched_kind(kind: type[ModuleType], own: Mapping[str, Any], answers: Mapping[str, Any]) -> type:
    class Watched(kind):  # type: ignore[misc, valid-type]
        def __getattribute__(self, name: str) -> Any:
            if name in answers and watch.active() is not None:
                found = kind.__getattribute__(self, "__dict__").get(name, _ABSENT)
                if found is own.get(name, _ABSENT):
                    return answers[name]
            return kind.__getattribute__(self, name)

    return Watched


def attribute(owner: Any, name: str, answer: Any) -> Undo:
    """Set ``owner.name`` to ``answer``; the function returned puts back what was there, or nothing."""
    before = vars(owner).get(name, _ABSENT)
    setattr(owner, name, answer)
    if before is _ABSENT:
        return lambda: delattr(owner, name)
    return lambda: setattr(owner, name, before)


def method(owner: Any, name: str, answer: Callable[..., Any]) -> Undo:
    """Let ``owner.name`` be ``answer`` for watched threads: it is given torch's own method first."""
    own = getattr(owner, name)

    def asked(*args: Any, **kwargs: Any) -> Any:
        if watch.active() is None:
            return own(*args, **kwargs)
        return answer(own, *args, **kwargs)

    asked.__name__ = name
    asked.__qualname__ = getattr(own, "__qualname__", name)
    vars(asked).update(getattr(own, "__dict__", {}))  # tracers look for what torch's own wraps
    return attribute(owner, name, asked)


def constructor(owner: type, answer: Callable[..., Any]) -> Undo:
    """Let calls of the Python class ``owner`` give what ``answer`` makes, for watched threads."""
    own = owner.__new__

    def new(cls: type, *args: Any, **kwargs: Any) -> Any:
        return own(cls, *args, **kwargs) if watch.active() is None else answer(*args, **kwargs)

    return attribute(owner, "__new__", staticmethod(new))


class _Asking(type):
    """The metaclass of a stand-in for a class of C that can't be changed itself."""

    stands_for: type
    answer: Callable[..., Any]
    has: Callable[[Any], bool]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return (cls.stands_for if watch.active() is None else cls.answer)(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        return getattr(cls.stands_for, name)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.stands_for) and (watch.active() is None or cls.has(instance))

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls.stands_for)


def stand_in(
    own: type, answer: Callable[..., Any], has: Callable[[Any], bool] = lambda instance: True
) -> type:
    """A class whose calls make what ``answer`` makes, in watched threads; in others, an ``own``.

    In watched threads only those of its instances count that it ``has``.
    """
    body = {
        "stands_for": own,
        "answer": staticmethod(answer),
        "has": staticmethod(has),
        "__doc__": own.__doc__,
        "__module__": own.__module__,
    }
    return _Asking(own.__name__, (), body)
