"""What is inside a value: its parts, and how each is found again and written in a path."""

from __future__ import annotations

import dataclasses
import inspect
import reprlib
import struct
import weakref
from collections import deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Set, ValuesView
from contextlib import suppress
from enum import Enum
from functools import partial
from itertools import chain
from types import MemberDescriptorType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

Parts: TypeAlias = "dict[Hashable, tuple[str, object]]"
"""What makes a part the same in old and new, to how it is written in a path, and the part."""

# Built-in objects that are no containers, and the members that say all about them.
_MEMBERS: dict[type, tuple[str, ...]] = {
    Enum: ("name", "value"),
    slice: ("start", "stop", "step"),
    partial: ("func", "args", "keywords"),
    BaseException: ("args",),
}
_BUILT_IN = (dict, set, frozenset)
_WORD = struct.calcsize("P")


class _Name(str):
    """A qualified name, which differences show without quotes."""

    __repr__ = str.__str__


def parts(value: Any) -> Parts | None:
    """What is inside a container, a record, a nested tensor or a function; nothing where there is no inside.

    A function is its qualified name and the tensors that it captured. Attributes that a subclass of a
    built-in container, or a record, has beside its contents are parts where they hold tensors or arrays.
    """
    inside = _contents(value)
    if inside is None:
        return None
    shown = {id(part) for _, part in inside.values()}
    beside = {
        name: part
        for name, part in _beside(value).items()
        if name not in inside and id(part) not in shown and holds_arrays(part)
    }
    return {**inside, **_members(beside)}


def attributes(value: object) -> Parts | None:
    """All attributes of an object; nothing where they aren't all of it, as in most types written in C."""
    kind = type(value)
    if kind is object or _hides_something(kind):
        return None
    return _members(_own(value))


def holds_arrays(value: object) -> bool:
    """Whether a tensor or a NumPy array can be reached through parts and attributes."""
    return next(arrays(value), None) is not None


def arrays(value: object) -> Iterator[Any]:
    """The tensors and NumPy arrays that can be reached through parts and attributes, each once."""
    import numpy as np

    waiting, met = [value], dict[int, object]()
    while waiting:
        one = waiting.pop()
        if id(one) in met:
            continue
        met[id(one)] = one
        if is_tensor(one) or isinstance(one, np.ndarray):
            yield one
        else:
            waiting += [part for _, part in (_contents(one) or {}).values()]
            waiting += _beside(one).values() if _name(one) else _own(one).values()


def is_tensor(value: object) -> TypeGuard[Tensor]:
    """Whether ``value`` is a tensor, of whatever subclass."""
    import torch

    return isinstance(value, torch.Tensor)


def _members(named: Mapping[str, object]) -> Parts:
    return {name: (f".{name}", part) for name, part in named.items()}


def _contents(value: Any) -> Parts | None:
    if isinstance(value, Mapping):
        entries = (_entry(at, key, part) for at, (key, part) in enumerate(value.items()))
        return dict(chain.from_iterable(entry.items() for entry in entries))
    if isinstance(value, Set):
        return {_identity(element): (reprlib.repr(element), None) for element in value}
    fields = _fields(value)
    if fields is not None:
        return _members(fields)
    if isinstance(value, (list, tuple, deque, ValuesView)):
        return {index: (f"[{index}]", part) for index, part in enumerate(value)}
    name = _name(value)
    if name:
        return {"name": ("", _Name(name))}
    if is_tensor(value):
        return _contents(value.unbind()) if value.is_nested else None
    if isinstance(value, weakref.ref):
        return {"referent": ("()", value())}
    return _array_parts(value)


def _fields(value: Any) -> dict[str, object] | None:
    """The fields of a record: a dataclass, a named tuple, a namespace, a random generator, a slice ..."""
    import torch

    if isinstance(value, SimpleNamespace):
        return vars(value)
    if isinstance(value, torch.Generator):
        return {"state": value.get_state()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names: Iterable[str] = [field.name for field in dataclasses.fields(value)]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        names = value._fields
    else:
        names = next((names for kind, names in _MEMBERS.items() if isinstance(value, kind)), ())
        if not names:
            return None
    # A field that was never set is absent, as a key would be.
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def _array_parts(value: Any) -> Parts | None:
    """The fields of a structured array, the elements of an array of objects."""
    import numpy as np

    if not isinstance(value, (np.ndarray, np.void)):
        return None
    if value.dtype.names:
        return {name: (f"[{name!r}]", value[name]) for name in value.dtype.names}
    if value.dtype.hasobject:
        return {index: ("".join(f"[{i}]" for i in index), part) for index, part in np.ndenumerate(value)}
    return None


def _name(value: Any) -> str:
    """The name of what is the same wherever it has the same name: functions, classes, modules, dtypes.

    So are parameters without values yet, and handles of hooks, which hold the hook's number among all.
    """
    import torch
    from torch.nn.parameter import is_lazy
    from torch.utils.hooks import RemovableHandle

    if isinstance(value, RemovableHandle) or is_lazy(value):
        return type(value).__qualname__
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format, torch.qscheme)):
        return str(value)
    if isinstance(value, ModuleType):
        return value.__name__
    if inspect.isclass(value) or inspect.isroutine(value):
        return str(getattr(value, "__qualname__", ""))
    return ""


def _entry(at: int, key: Hashable, part: object) -> Parts:
    """An entry of a mapping; where the key is found by being the same object, it is known by its order."""
    if is_tensor(key) or (
        type(key).__hash__ is object.__hash__ and hasattr(key, "__dict__") and not _name(key)
    ):
        return {("key", at): (f".keys()[{at}]", key), ("value", at): (f".values()[{at}]", part)}
    return {_identity(key): (f"[{reprlib.repr(key)}]", part)}


def _identity(key: Hashable) -> Hashable:
    """What makes two keys the same: type and value, bit for bit, across the modules of two subjects."""
    kind = type(key).__qualname__
    if isinstance(key, float):
        return kind, key.hex()
    if isinstance(key, Enum):
        return kind, key.name
    if isinstance(key, frozenset):
        return kind, frozenset(map(_identity, key))
    if dataclasses.is_dataclass(key) and not isinstance(key, type):
        return kind, *map(_identity, (_fields(key) or {}).values())
    if isinstance(key, tuple):
        return kind, *map(_identity, key)
    return kind, _name(key) or key


def _beside(value: Any) -> dict[str, object]:
    """What a value carries beside its contents: attributes, or what a function captured.

    The attributes of a mapping or a set that is written in Python are how it holds its contents.
    """
    if is_tensor(value) or (isinstance(value, (Mapping, Set)) and not isinstance(value, _BUILT_IN)):
        return {}
    if not _name(value):
        return _own(value)
    captured = {}
    if inspect.isfunction(value):
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            with suppress(ValueError):  # not set yet
                captured[name] = cell.cell_contents
    if inspect.ismethod(value):
        captured = {"__self__": value.__self__, "__func__": value.__func__}
    return captured


def _own(value: Any) -> dict[str, object]:
    """The attributes that an object itself has, in ``__slots__`` and in ``__dict__``."""
    import torch

    own = {}
    for name, slot in _slots(type(value)).items():
        with suppress(AttributeError):  # not set
            own[name] = slot.__get__(value)
    own |= getattr(value, "__dict__", {})
    return _module_state(value, own) if isinstance(value, torch.nn.Module) else own


def _module_state(module: Module, own: Mapping[str, object]) -> dict[str, object]:
    """Parameters, buffers and submodules by name; hooks in order, for their keys number all hooks."""
    registered = {**module._parameters, **module._buffers, **module._modules}
    rest = {
        name: list(part.values()) if "_hooks" in name and isinstance(part, Mapping) else part
        for name, part in own.items()
        if name not in ("_parameters", "_buffers", "_modules")
    }
    return {**registered, **rest}


def _slots(kind: type) -> dict[str, MemberDescriptorType]:
    return {
        name: member
        for base in kind.__mro__
        if "__slots__" in vars(base)
        for name, member in vars(base).items()
        if isinstance(member, MemberDescriptorType)
    }


def _hides_something(kind: type) -> bool:
    """Whether instances are larger than their attributes.

    The sum is that of ``object_getstate`` (CPython, Objects/typeobject.c), which says what can be pickled.
    """
    words = len(_slots(kind)) + (kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0)
    return kind.__itemsize__ > 0 or kind.__basicsize__ > object.__basicsize__ + words * _WORD
