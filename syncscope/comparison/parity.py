"""Whether what old and new left is equal, bit for bit: a walk through both, side by side."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from syncscope.comparison.contents import Parts, attributes, holds_arrays, is_tensor, parts
from syncscope.comparison.elements import array_differences, shortened, tensor_differences
from syncscope.comparison.results import Difference, Parity

if TYPE_CHECKING:
    from torch import Tensor


def _own_device(tensor: Tensor) -> str:
    return str(tensor.device)


def differences(
    old: object, new: object, device_of: Callable[[Tensor], str] = _own_device
) -> list[Difference]:
    """Every place where two outputs differ, in the order of old; none where they are equal bit for bit.

    Mappings, sequences, sets, records and nested tensors are walked; tensors, NumPy arrays and floats are
    compared element by element; functions, classes, modules and dtypes by their qualified name. Objects are
    compared by ``==`` where their one type defines it and no attribute holds a tensor or an array, else by
    their attributes; ``torch.nn.Module`` by parameters, buffers, submodules and plain attributes.
    Bit for bit means that every NaN equals every NaN, whatever its sign and payload, and that ``+0.0``
    differs from ``-0.0``.

    Types are compared by name, for each subject may define its own ``Output``; of tensors shape, dtype,
    layout, ``requires_grad`` and ``device_of(tensor)`` are compared, the subclass is not. What cannot be
    compared is a difference whose ``what`` is ``uncomparable`` and whose ``new`` says why.

    Call it before anything may write to the outputs: tensors are read, not kept.
    """
    return _walk([_Place("", old, new)], lambda place: _compare(place, device_of))


def argument_differences(
    old: Mapping[str, object], new: Mapping[str, object], device_of: Callable[[Tensor], str] = _own_device
) -> list[Difference]:
    """How the arguments differ that old's and new's call left behind, by the parameters that both have.

    For functions that write to what they are given (a KV-cache writer returns None) and for backward passes:
    arguments were equal before the call, so each difference is a finding. Paths read ``argument cache[0]``,
    and ``argument w.grad`` for the gradient of a leaf, also inside containers and modules. What cannot be
    compared is left out: nothing says that the call changed it.
    """

    def compare(place: _Place) -> tuple[list[Difference], list[_Place]]:
        differing, inner = _compare(place, device_of)
        return differing, inner + _gradients(place)

    places = [_Place(f"argument {name}", value, new[name]) for name, value in old.items() if name in new]
    return [found for found in _walk(places, compare) if found.what != "uncomparable"]


def agreement(
    pairs: Iterable[tuple[object, object]], device_of: Callable[[Tensor], str] = _own_device
) -> Parity:
    """Parity over the outputs ``(old, new)`` of every call; each pair is compared as it arrives.

    Raises:
        ValueError: there is no pair: what was not compared is not equal.
    """
    return over_calls(differences(old, new, device_of) for old, new in pairs)


def over_calls(calls: Iterable[list[Difference]]) -> Parity:
    """Parity from the differences of every call.

    A place that differs in several calls is reported once, as it was in the call with the most differing
    elements; ``largest`` is the largest over all calls.

    Raises:
        ValueError: there is no call.
    """
    by_call = list(calls)
    if not by_call:
        raise ValueError("no outputs to compare: give at least one call")
    worst: dict[tuple[str, str], Difference] = {}
    for difference in chain.from_iterable(by_call):
        key = difference.path, difference.what
        worst[key] = _worse(worst.get(key, difference), difference)
    return Parity(equal=not worst, compared=len(by_call), differences=list(worst.values()))


def _worse(one: Difference, other: Difference) -> Difference:
    worse = max(one, other, key=lambda difference: difference.count)
    if one.largest is None or other.largest is None:
        return dataclasses.replace(worse, largest=None)
    return dataclasses.replace(worse, largest=max(one.largest, other.largest))


@dataclass(frozen=True)
class _Place:
    """The two values at one path of the outputs."""

    path: str
    old: Any
    new: Any

    def difference(self, what: str, old: str, new: str) -> Difference:
        return Difference(self.path, what, old, new)

    def uncomparable(self, why: str) -> Difference:
        name = type(self.old).__qualname__
        way_out = "return plain tensors, numbers, containers or dataclasses of them"
        return self.difference("uncomparable", name, f"{name}, {why}; {way_out}")


def _walk(
    places: list[_Place], compare: Callable[[_Place], tuple[list[Difference], list[_Place]]]
) -> list[Difference]:
    """The differences at ``places`` and everywhere inside them, depth first."""
    found: list[Difference] = []
    waiting = places[::-1]
    # Containers met before, kept alive so that an id is not used twice: a cycle ends where it closes.
    met: dict[tuple[int, int], _Place] = {}
    while waiting:
        place = waiting.pop()
        ids = id(place.old), id(place.new)
        if ids in met or _same_at_a_glance(place.old, place.new):
            continue
        try:
            differing, inner = compare(place)
        except Exception as error:  # any ==, property or conversion of the user's may raise anything
            differing, inner = [place.uncomparable(f"which raised {_said(error)} when compared")], []
        if inner:
            met[ids] = place
        found += differing
        waiting += reversed(inner)
    return found


def _same_at_a_glance(old: object, new: object) -> bool:
    """Whether these are one object, or equal plain numbers or texts: of those a list may hold a million."""
    if old is new:
        return True
    if isinstance(old, float) and type(old) is type(new) is float:
        return old.hex() == new.hex()
    return type(old) is type(new) and type(old) in (int, bool, str, bytes) and old == new


def _compare(place: _Place, device_of: Callable[[Tensor], str]) -> tuple[list[Difference], list[_Place]]:
    """The differences at this place itself, and the places inside it."""
    names = _type_name(place.old), _type_name(place.new)
    if names[0] != names[1]:
        return [place.difference("type", *names)], []
    inside = _inside(place)
    if inside:
        return list(_absent(place, *inside)), _common(place, *inside)
    if is_tensor(place.old):
        return list(tensor_differences(place.path, place.old, place.new, device_of)), []
    if _is_numeric(place.old):
        return list(array_differences(place.path, place.old, place.new)), []
    return list(_plain(place)), []


def _inside(place: _Place) -> tuple[Parts, Parts] | None:
    """The parts that decide whether the two values are equal; nothing where the values themselves do."""
    old, new = parts(place.old), parts(place.new)
    if old is not None and new is not None:
        return old, new
    if is_tensor(place.old) or _is_numeric(place.old):
        return None
    old, new = attributes(place.old), attributes(place.new)
    return (old, new) if old is not None and new is not None and not _equality_decides(place) else None


def _equality_decides(place: _Place) -> bool:
    """Whether to believe the ``==`` of two objects; one that answers for tensors may say anything."""
    same_type = type(place.old) is type(place.new)
    return same_type and _defines_equality(place.old) and not holds_arrays([place.old, place.new])


def _absent(place: _Place, old: Parts, new: Parts) -> Iterator[Difference]:
    """The parts that only one side has."""
    if old.keys() == new.keys():
        return
    is_sequence = isinstance(place.old, (list, tuple, deque)) and not hasattr(place.old, "_fields")
    if is_sequence and len(place.old) != len(place.new):
        yield place.difference("length", str(len(place.old)), str(len(place.new)))
    else:
        yield place.difference("keys", _only(old, new), _only(new, old))


def _only(these: Parts, those: Parts) -> str:
    return ", ".join(suffix for key, (suffix, _) in these.items() if key not in those) or "none more"


def _common(place: _Place, old: Parts, new: Parts) -> list[_Place]:
    return [
        _Place(place.path + suffix, part, new[key][1]) for key, (suffix, part) in old.items() if key in new
    ]


def _gradients(place: _Place) -> list[_Place]:
    old, new = _gradient(place.old), _gradient(place.new)
    return [] if old is new else [_Place(f"{place.path}.grad", old, new)]


def _gradient(value: object) -> Tensor | None:
    return value.grad if is_tensor(value) and value.is_leaf else None


def _plain(place: _Place) -> Iterator[Difference]:
    """Compare by ``==`` what has no parts and no elements."""
    old, new = place.old, place.new
    if not _defines_equality(old) and not _defines_equality(new):
        yield place.uncomparable("which has no == and no attributes that say all of it")
        return
    equal = old == new
    if not equal:
        is_whole = isinstance(old, int) and not isinstance(old, bool)
        largest = abs(old - new) if is_whole else None
        difference = place.difference("values", shortened(repr(old)), shortened(repr(new)))
        yield dataclasses.replace(difference, count=1, numel=1, first=[[]], largest=largest)


def _defines_equality(value: object) -> bool:
    return any("__eq__" in vars(base) for base in type(value).__mro__ if base is not object)


def _is_numeric(value: object) -> bool:
    """Whether the elements, or the number's own bits, decide, not ``==``."""
    import numpy as np

    return isinstance(value, (float, complex, np.ndarray, np.generic))


def _type_name(value: Any) -> str:
    """The name by which types are compared; a subclass of Tensor is a Tensor."""
    if is_tensor(value):
        return "nested Tensor" if value.is_nested else "Tensor"
    return type(value).__qualname__


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
