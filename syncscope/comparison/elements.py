"""Two tensors, or two arrays, element by element and bit for bit, all NaNs being one value."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from syncscope.comparison.results import Difference

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor

    Array: TypeAlias = NDArray[Any]

# A difference names its first five indices: enough to see a pattern, short enough for a table.
_SHOWN = 5


def tensor_differences(
    path: str, old: Tensor, new: Tensor, device_of: Callable[[Tensor], str]
) -> Iterator[Difference]:
    """How two tensors differ: in shape, dtype, device and layout, and in their values where these agree."""
    traits = {
        "shape": (str(list(old.shape)), str(list(new.shape))),
        "dtype": (_dtype(old), _dtype(new)),
        "device": (device_of(old), device_of(new)),
        "type": (str(old.layout), str(new.layout)),
        "requires_grad": (str(old.requires_grad), str(new.requires_grad)),
    }
    unequal = {what: said for what, said in traits.items() if said[0] != said[1]}
    for what, said in unequal.items():
        yield Difference(path, what, *said)
    if not unequal.keys().isdisjoint({"shape", "dtype"}):
        return
    if old.is_meta or new.is_meta:
        why = "Tensor on the meta device, which has no values to compare; return one on another device"
        yield Difference(path, "uncomparable", "Tensor", why)
    elif not _same_bits(_bits(old), _bits(new)):
        yield from _values(path, _as_array(old), _as_array(new))


def array_differences(path: str, one: object, other: object) -> Iterator[Difference]:
    """How two NumPy arrays differ, or two numbers, which are arrays without dimensions."""
    import numpy as np

    old, new = np.asarray(one), np.asarray(other)
    if old.shape != new.shape:
        yield Difference(path, "shape", str(list(old.shape)), str(list(new.shape)))
    elif old.dtype != new.dtype and old.dtype.kind not in "SU":  # the length of the longest text is no type
        yield Difference(path, "dtype", str(old.dtype), str(new.dtype))
    elif not _same_bits(old, new):
        yield from _values(path, old, new)


def _dtype(tensor: Tensor) -> str:
    """The dtype, with what a quantized one needs to mean a value."""
    if not tensor.is_quantized:
        return str(tensor.dtype)
    if "per_tensor" in str(tensor.qscheme()):
        return f"{tensor.dtype} (scale {tensor.q_scale()}, zero point {tensor.q_zero_point()})"
    scales, zero_points = tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points()
    axis = tensor.q_per_channel_axis()
    return f"{tensor.dtype} (scales {scales.tolist()}, zero points {zero_points.tolist()}, axis {axis})"


def _bits(tensor: Tensor) -> Array | None:
    """The elements' bits as whole numbers, not copied where on the host; nothing where not stored as such."""
    import torch

    whole = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}.get(tensor.itemsize)
    lazy = tensor.is_conj() or tensor.is_neg()
    if whole is None or lazy or tensor.is_quantized or tensor.layout is not torch.strided:
        return None
    return tensor.detach().view(whole).numpy(force=True)


def _same_bits(old: Array | None, new: Array | None) -> bool:
    """Whether two arrays of one shape have the same bits, seen in a few ms for millions of elements.

    Where not, they may still be equal: there are many NaNs.
    """
    import numpy as np

    if old is None or new is None or old.dtype != new.dtype or old.itemsize not in (1, 2, 4, 8):
        return False
    whole = f"i{old.itemsize}"
    return np.array_equal(old.view(whole), new.view(whole))


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


def _values(path: str, old: Array, new: Array) -> Iterator[Difference]:
    import numpy as np

    differ = _differ(old, new)
    where = np.flatnonzero(differ)
    if where.size:
        ours, theirs = old[differ], new[differ]
        yield dataclasses.replace(
            Difference(path, "values", _sample(ours), _sample(theirs)),
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

    shown = ", ".join(shortened(str(value)) for value in values[:_SHOWN])
    if len(values) <= _SHOWN:
        return shown
    odd = int((~np.isfinite(values[_SHOWN:])).sum()) if values.dtype.kind in "fc" else 0
    return f"{shown}, ..." + (f" (and {odd} more NaN or infinite)" if odd else "")


def shortened(text: str) -> str:
    """At most 80 characters of a value's text."""
    return text if len(text) <= 80 else f"{text[:77]}..."
