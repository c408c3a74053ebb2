"""Iterators in what a subject returns: run to their end, since code that never ran costs nothing."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from types import GeneratorType
from typing import Any

# Inside of a result only what runs code when it is asked: an endless counter is nobody's work.
_LAZY = (
    GeneratorType, map, filter, zip, enumerate, itertools.chain, itertools.islice, itertools.starmap,
    itertools.takewhile, itertools.dropwhile, itertools.filterfalse, itertools.accumulate,
)  # fmt: skip


def consumed(output: Any) -> Any:
    """``output`` with lists in the place of iterators, wherever they are in it.

    What has one inside is copied, not changed: it may be the subject's own.
    """
    return _inside(list(output) if isinstance(output, Iterator) else output, {})


def _inside(value: Any, done: dict[int, Any]) -> Any:
    if isinstance(value, _LAZY):
        value = list(value)
    if id(value) in done:
        return done[id(value)]
    done[id(value)] = value  # for what is inside of itself
    parts = _parts(value)
    made = {name: _inside(part, done) for name, part in parts.items()}
    changed = {name: part for name, part in made.items() if part is not parts[name]}
    if changed:
        done[id(value)] = _with(value, changed)
    return done[id(value)]


def _parts(value: Any) -> dict[Any, Any]:
    if isinstance(value, dict):
        return dict(dict.items(value))  # as it is: a subclass may compute what it is asked for
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    is_plain = type(value).__module__.partition(".")[0] not in ("torch", "numpy", "builtins")
    return (
        dict(vars(value)) if is_plain and hasattr(value, "__dict__") and not isinstance(value, type) else {}
    )


def _with(value: Any, changed: dict[Any, Any]) -> Any:
    """A copy of ``value`` with some of its parts exchanged."""
    if isinstance(value, tuple):
        parts = [changed.get(place, part) for place, part in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    made = copy.copy(value)
    if isinstance(value, (list, dict)):
        for name, part in changed.items():
            made[name] = part
    else:
        vars(made).update(changed)
    return made
