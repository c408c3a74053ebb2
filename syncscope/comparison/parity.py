"""Whether the outputs of old and new are equal, bit for bit: a walk through both, side by side."""

from __future__ import annotations

import dataclasses
import math
import reprlib
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from syncscope.comparison.results import Difference, Parity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    Array: TypeAlias = NDArray[Any]

# A difference names its first five indices: enough to see a pattern, short enough for a table.
_SHOWN = 5


def _own_device(tensor: Tensor) -> str:
    return str(tensor.device)


def differences(
    old: object, new: object, device_of: Callable[[Tensor], str] = _own_device
) -> list[Difference]:
    """Every place where two outputs differ, in the order of old; none where they are equal bit for bit.

    Mappings, sequences, sets, dataclasses, named tuples, enums and nested tensors are walked; tensors, NumPy
    arrays and floats are compared element by element; everything else by ``==``. Bit for bit means that
    every NaN equals every NaN, whatever its sign and payload, and that ``+0.0`` differs from ``-0.0``.
    Types are compared by name, for each subject may define its own ``Output``; of tensors shape, dtype,
    layout and ``device_of(tensor)`` are compared, subclass and ``requires_grad`` are not. What cannot be
    compared is a difference whose ``what`` is ``uncomparable`` and whose ``new`` says why.

    Call it before anything may write to the outputs: tensors are read, not kept.
    """
    found: list[Difference] = []
    waiting = [_Place("", old, new)]
    # Containers met before, kept alive so that an id is not used twice: a cycle ends where it closes.
    met: dict[tuple[int, int], _Place] = {}
    while waiting:
        place = waiting.pop()
        ids = id(place.old), id(place.new)
        if ids in met:
            continue
        try:
            differing, inner = _compare(place, device_of)
        except Exception as error:  # any ==, property or conversion of the user's may raise anything
            differing, inner = [place.uncomparable(f"{type(error).__name__}: {_first_line(error)}")], []
        if inner:
            met[ids] = place
        found += differing
        waiting += reversed(inner)
    return found


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
        return self.difference("uncomparable", type(self.old).__qualname__, why)


_Parts: TypeAlias = "dict[Hashable, tuple[str, object]]"


def _compare(place: _Place, device_of: Callable[[Tensor], str]) -> tuple[list[Difference], list[_Place]]:
    """The differences at this place itself, and the places inside it."""
    names = _type_name(place.old), _type_name(place.new)
    if names[0] != names[1]:
        return [place.difference("type", *names)], []
    old, new = _parts(place.old), _parts(place.new)
    if old is not None and new is not None:
        return list(_absent(place, old, new)), _common(place, old, new)
    if _is_tensor(place.old):
        return list(_tensors(place, device_of)), []
    if _is_numeric(place.old):
        return list(_arrays(place)), []
    return list(_plain(place)), []


def _absent(place: _Place, old: _Parts, new: _Parts) -> Iterator[Difference]:
    """The parts that only one side has."""
    if old.keys() == new.keys():
        return
    if isinstance(place.old, (list, tuple, deque)) and not _is_record(place.old):
        yield place.difference("length", str(len(old)), str(len(new)))
    else:
        yield place.difference("keys", _only(old, new), _only(new, old))


def _only(these: _Parts, those: _Parts) -> str:
    return ", ".join(suffix for key, (suffix, _) in these.items() if key not in those) or "none more"


def _common(place: _Place, old: _Parts, new: _Parts) -> list[_Place]:
    return [
        _Place(place.path + suffix, part, new[key][1]) for key, (suffix, part) in old.items() if key in new
    ]


def _parts(value: Any) -> _Parts | None:
    """What is inside ``value``: how each part is found and written in a path; nothing for a leaf."""
    if isinstance(value, Mapping):
        return {_identity(key): (f"[{reprlib.repr(key)}]", part) for key, part in value.items()}
    if isinstance(value, Set):
        return {_identity(element): (reprlib.repr(element), None) for element in value}
    if isinstance(value, Enum):
        return {"name": (".name", value.name), "value": (".value", value.value)}
    if _is_record(value):
        return {name: (f".{name}", getattr(value, name)) for name in _field_names(value)}
    if isinstance(value, (list, tuple, deque)):
        return {index: (f"[{index}]", part) for index, part in enumerate(value)}
    if _is_tensor(value):
        return _parts(value.unbind()) if value.is_nested else None
    return _array_parts(value)


def _array_parts(value: Any) -> _Parts | None:
    """The fields of a structured array, the elements of an array of objects."""
    import numpy as np

    if not isinstance(value, (np.ndarray, np.void)):
        return None
    if value.dtype.names:
        return {name: (f"[{name!r}]", value[name]) for name in value.dtype.names}
    if value.dtype.hasobject:
        return {index: ("".join(f"[{i}]" for i in index), part) for index, part in np.ndenumerate(value)}
    return None


def _is_record(value: object) -> bool:
    dataclass_instance = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return dataclass_instance or (isinstance(value, tuple) and hasattr(value, "_fields"))


def _field_names(record: Any) -> Iterable[str]:
    if dataclasses.is_dataclass(record):
        # A field that was never set is absent, as a key would be.
        return [field.name for field in dataclasses.fields(record) if hasattr(record, field.name)]
    return list(record._fields)


def _identity(key: Hashable) -> Hashable:
    """What makes two keys the same: type and value, bit for bit, across the modules of two subjects."""
    if isinstance(key, float):
        return type(key).__qualname__, key.hex()
    if isinstance(key, Enum):
        return type(key).__qualname__, key.name
    if isinstance(key, tuple):
        return type(key).__qualname__, *map(_identity, key)
    return type(key).__qualname__, key


def _tensors(place: _Place, device_of: Callable[[Tensor], str]) -> Iterator[Difference]:
    old, new = place.old, place.new
    traits = {
        "shape": (str(list(old.shape)), str(list(new.shape))),
        "dtype": (_dtype(old), _dtype(new)),
        "device": (device_of(old), device_of(new)),
        "type": (str(old.layout), str(new.layout)),
    }
    unequal = {what: said for what, said in traits.items() if said[0] != said[1]}
    for what, said in unequal.items():
        yield place.difference(what, *said)
    if unequal.keys().isdisjoint({"shape", "dtype"}):
        yield from _values(place, _as_array(old), _as_array(new))


def _dtype(tensor: Tensor) -> str:
    """The dtype, with what a quantized one needs to mean a value."""
    if not tensor.is_quantized:
        return str(tensor.dtype)
    if "per_tensor" in str(tensor.qscheme()):
        return f"{tensor.dtype} (scale {tensor.q_scale()}, zero point {tensor.q_zero_point()})"
    scales, zero_points = tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()
    axis = tensor.q_per_channel_axis()
    return f"{tensor.dtype} (scales {scales.tolist()}, zero points {zero_points.tolist()}, axis {axis})"


def _as_array(tensor: Tensor) -> Array:
    """The elements on the host, in a NumPy type that holds each of them exactly."""
    import torch

    dense = tensor.detach() if tensor.layout is torch.strided else tensor.detach().to_dense()
    if dense.is_quantized:
        dense = dense.int_repr()
    if dense.dtype is torch.bfloat16 or str(dense.dtype).startswith("torch.float8"):
        dense = dense.float()
    if dense.dtype is torch.complex32:
        dense = dense.to(torch.complex64)
    try:
        return dense.numpy(force=True)
    except TypeError:
        # Packed and sub-byte types have no twin in NumPy: their bytes are compared.
        return dense.contiguous().view(torch.uint8).numpy(force=True)


def _arrays(place: _Place) -> Iterator[Difference]:
    """Compare two NumPy arrays, or two numbers as arrays without dimensions."""
    import numpy as np

    old, new = np.asarray(place.old), np.asarray(place.new)
    if old.shape != new.shape:
        yield place.difference("shape", str(list(old.shape)), str(list(new.shape)))
    elif old.dtype != new.dtype and old.dtype.kind not in "SU":  # the length of the longest text is no type
        yield place.difference("dtype", str(old.dtype), str(new.dtype))
    else:
        yield from _values(place, old, new)


def _values(place: _Place, old: Array, new: Array) -> Iterator[Difference]:
    import numpy as np

    differ = _differ(old, new)
    where = np.flatnonzero(differ)
    if where.size:
        ours, theirs = old[differ], new[differ]
        yield dataclasses.replace(
            place.difference("values", _sample(ours), _sample(theirs)),
            count=where.size,
            numel=old.size,
            first=[[int(i) for i in np.unravel_index(flat, old.shape)] for flat in where[:_SHOWN]],
            largest=_largest(ours, theirs),
        )


def _differ(old: Array, new: Array) -> NDArray[np.bool_]:
    """Where two arrays of one shape and dtype differ in their bits, all NaNs being one value."""
    import numpy as np

    if old.dtype.kind == "c":
        return _differ(old.real, new.real) | _differ(old.imag, new.imag)
    differ: NDArray[np.bool_] = np.asarray(old != new)
    if old.dtype.kind == "f":
        differ |= np.signbit(old) != np.signbit(new)
    if old.dtype.kind in "fmM":
        differ &= ~(np.isnan(old) & np.isnan(new))
    return differ


def _largest(old: Array, new: Array) -> float | None:
    """The largest absolute difference of paired elements; exact, an int, for integers.

    None where a difference is not finite, and where it is no number (masks, texts, dates).
    """
    import numpy as np

    kind = old.dtype.kind
    if kind in "iu":
        # Modulo 2**64 the difference of larger and smaller is exact, whatever their signs.
        span = np.maximum(old, new).astype(np.uint64) - np.minimum(old, new).astype(np.uint64)
        return int(span.max())
    if kind not in "fc":
        return None
    wide = np.float64 if kind == "f" else np.complex128
    with np.errstate(all="ignore"):
        largest = float(np.abs(old.astype(wide) - new.astype(wide)).max())
    return largest if math.isfinite(largest) else None


def _sample(values: Array) -> str:
    """The first of some elements, and how many of those left out are not finite."""
    import numpy as np

    shown = ", ".join(_short(str(value)) for value in values[:_SHOWN])
    if len(values) <= _SHOWN:
        return shown
    odd = int((~np.isfinite(values[_SHOWN:])).sum()) if values.dtype.kind in "fc" else 0
    return f"{shown}, ..." + (f" (and {odd} more NaN or infinite)" if odd else "")


def _plain(place: _Place) -> Iterator[Difference]:
    """Compare by ``==`` what has no parts and no elements."""
    old, new = place.old, place.new
    if old is new:
        return
    if _has_identity_only(old) and _has_identity_only(new):
        yield place.uncomparable("its type defines no ==: only the very same object is equal")
        return
    equal = old == new
    if not equal:
        is_whole = isinstance(old, int) and not isinstance(old, bool)
        largest = abs(old - new) if is_whole else None
        difference = place.difference("values", _short(repr(old)), _short(repr(new)))
        yield dataclasses.replace(difference, count=1, numel=1, first=[[]], largest=largest)


def _has_identity_only(value: object) -> bool:
    return not any("__eq__" in vars(base) for base in type(value).__mro__ if base is not object)


def _is_tensor(value: object) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def _is_numeric(value: object) -> bool:
    """Whether the elements, or the number's own bits, decide, not ``==``."""
    import numpy as np

    return isinstance(value, (float, complex, np.ndarray, np.generic))


def _type_name(value: Any) -> str:
    """The name by which types are compared; a subclass of Tensor is a Tensor."""
    if _is_tensor(value):
        return "nested Tensor" if value.is_nested else "Tensor"
    return type(value).__qualname__


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
