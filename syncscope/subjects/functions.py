"""Which function of a file is the subject's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

from syncscope.subjects import UnusableSubject

_ABOUT_THE_SUBJECT = ("make_inputs", "compute_retained_tokens_count")


def only_function(module: ModuleType, place: str, preferred: str) -> str:
    """The name of the function ``preferred``, else of the only public one that the file defines.

    Raises:
        UnusableSubject: there is none, or there are several.
    """
    if callable(getattr(module, preferred, None)):
        return preferred
    names = candidates(module)
    if len(names) == 1:
        return names[0]
    if not names:
        raise UnusableSubject(
            f"{place} defines no public function: define one, or name what to run, {place}::name"
        )
    raise UnusableSubject(
        f"{place} has several functions ({', '.join(names)}): name one, {place}::{names[0]}"
    )


def candidates(module: ModuleType) -> list[str]:
    """Names of the public functions that the file itself defines, in its order."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return [name for name in names if name not in _ABOUT_THE_SUBJECT and _defines_function(module, name)]


def _defines_function(module: ModuleType, name: str) -> bool:
    value = vars(module).get(name)
    is_function = inspect.isroutine(value) or (hasattr(value, "__wrapped__") and not inspect.isclass(value))
    return is_function and getattr(value, "__module__", None) == module.__name__


def named_function(module: ModuleType, place: str, name: str) -> Callable[..., Any]:
    """The function ``name`` of the file, or the static or class method ``Class.name``.

    Raises:
        UnusableSubject: there is none of that name, or it can't be called as it is.
    """
    owner_name, _, attribute = name.rpartition(".")
    try:
        owner = _member(module, owner_name)
        value = getattr(owner, attribute)
    except AttributeError:
        has = ", ".join(candidates(module)) or "no public function"
        raise UnusableSubject(f"{place} has no function {name}: it has {has}") from None
    complaint = _complaint(owner, attribute, value)
    if complaint:
        raise UnusableSubject(f"{name} of {place} {complaint}")
    function: Callable[..., Any] = value
    return function


def _member(module: ModuleType, dotted: str) -> Any:
    found: Any = module
    for part in filter(None, dotted.split(".")):
        found = getattr(found, part)
    return found


def _complaint(owner: Any, attribute: str, value: Any) -> str:
    """Why ``value`` can't be run as it is; empty where it can."""
    if inspect.isclass(value):
        return "is a class: name a function, a static or a class method"
    if inspect.isclass(owner) and inspect.isfunction(inspect.getattr_static(owner, attribute)):
        return "needs an instance: name a function, a static or a class method"
    if not callable(value):
        return f"is no function but of type {type(value).__name__}"
    if inspect.iscoroutinefunction(value) or inspect.isasyncgenfunction(value):
        return "is `async`: name a function that runs it to its end"
    return ""
