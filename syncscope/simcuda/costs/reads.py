"""Operators whose host code reads single elements back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import watch
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.dtypes import computed_wider
from syncscope.simcuda.costs.layouts import charged
from syncscope.simcuda.costs.table import Call, cost, is_on, read, upload
from syncscope.simcuda.frames import called
from syncscope.simcuda.hearing import unheard

_NUMBER = "a Python number is made of the tensor, so the host obtains its element"
_CONDITION = "Python asks whether the tensor is true, so the host obtains its element"
_INDEX = "a 0-dim tensor as an index or as a bound of a slice is read as a number"
_ARRAY = "the index is a 0-dim array: it becomes a tensor, which is uploaded and read back"
_TEXT = "the tensor becomes text, so the host obtains what is shown, piece by piece"
_WHY = {
    "Tensor.item": "the host obtains one element with item()",
    **dict.fromkeys(
        ("Tensor.__int__", "Tensor.__float__", "Tensor.__complex__", "Tensor.__index__"), _NUMBER
    ),
    **dict.fromkeys(("Tensor.__bool__", "Tensor.is_nonzero", "torch.is_nonzero"), _CONDITION),
    **dict.fromkeys(("Tensor.__getitem__", "Tensor.__setitem__"), _INDEX),
    **dict.fromkeys(("Tensor.__repr__", "Tensor.__str__", "Tensor.__format__"), _TEXT),
    "Tensor.__contains__": "Python asks whether an element is there, so the host obtains the answer",
}
_COUNTED = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_WITHOUT_HISTOGRAM = {
    torch.float16: (RuntimeError, "HalfTensor is not supported"),
    torch.bfloat16: (NotImplementedError, "\"histc\" not implemented for 'BFloat16'"),
}
_CHECKED = "the host learns whether the factorisation failed"


@cost(
    "_local_scalar_dense",
    why="the host obtains one element, because a Python number is wanted: item(), int(), if, an argument",
    source="aten/src/ATen/native/cuda/CUDAScalar.cu, _local_scalar_dense_cuda",
    figures="1 DtoH, 1 wait; 1 HtoD, 1 wait more for a 0-dim array as an index",
    instead="keep the value on the device (torch.where, clamp), or read many at once with tolist()",
    mixes=True,
)
def local_scalar_dense(call: Call) -> list[Charge]:
    """One element; of an array that is an index, after it was uploaded."""
    value = call["self"]
    return charged(None if is_on(value) else upload(value, why=_ARRAY), read(value, why=_why()))


def _why() -> str:
    """What the element is for, as far as the function tells that was called."""
    device = watch.active()
    frame = None if device is None else called(device.frames)
    spelling = "" if frame is None else frame.spelling
    return _CHECKED if spelling.startswith("torch.linalg.") else _WHY.get(spelling, "")


@cost(
    "masked_fill_.Tensor",
    "masked_fill.Tensor_out",
    why="the fill value is a 0-dim device tensor, and the kernel wants it as a number",
    source="aten/src/ATen/native/cuda/Indexing.cu, masked_fill__cuda; TensorAdvancedIndexing.cpp",
    figures="1 DtoH, 1 wait where the value is on the device; nothing otherwise",
    instead="torch.where(mask, value, x) reads nothing",
)
def fill_with_tensor(call: Call) -> Charge | None:
    """The value, unless the host has it."""
    return read(call["value"]) if call.on_device("value") else None


@cost(
    "index_fill_.int_Tensor",
    why="the fill value is a 0-dim device tensor, and the host reads it to fill with a number",
    source="aten/src/ATen/native/TensorAdvancedIndexing.cpp, index_fill_",
    figures="1 DtoH, 1 wait where the value is on the device, whatever is filled; nothing otherwise",
    instead="index_put_ or index_copy_ with a tensor on the device",
    enters=True,
    mixes=True,
)
def index_fill(call: Call) -> None:
    """Nothing of its own: item() and the form that takes a number are heard."""


@cost(
    "bincount",
    why="the host learns the smallest and the largest value, to check and to size the result",
    source="aten/src/ATen/native/cuda/SummaryOps.cu, _bincount_cuda",
    figures="2 DtoH, 2 waits; 1 DtoH, 1 wait for uint8, which is never negative; nothing where empty",
    instead="torch.zeros(n).index_add_ or scatter_add_ with a size that is known",
    fails_late=True,
)
def bincount(call: Call) -> Iterable[Charge]:
    """Two elements, or the one that is refused."""
    values, weights = call["self"], call["weights"]
    refused = values.dim() != 1 or values.dtype not in _COUNTED or call["minlength"] < 0
    if refused or not values.numel() or (weights is not None and weights.shape != values.shape):
        return []
    return [read(values)] * (1 if values.dtype is torch.uint8 or _any_negative(values) else 2)


def _any_negative(values: Tensor) -> bool:
    with unheard():
        return bool((values < 0).any())


def _counted_in_bins(call: Call, histc: Callable[..., Any]) -> Any:
    """Count integers too, as CUDA can.

    Raises:
        RuntimeError: the values are of a narrow dtype; as PyTorch words it.
        NotImplementedError: the same.
    """
    dtype = call["self"].dtype
    if dtype in _WITHOUT_HISTOGRAM:
        error, said = _WITHOUT_HISTOGRAM[dtype]
        raise error(said)
    return computed_wider(call, histc)


@cost(
    "histc",
    why="without a range the host learns the smallest and the largest value",
    source="aten/src/ATen/native/cuda/SummaryOps.cu, _histc_cuda",
    figures="2 DtoH, 2 waits where no range is given; nothing with min and max",
    instead="give min and max",
    fails_late=True,
    stand_in=_counted_in_bins,
)
def histc(call: Call) -> Iterable[Charge]:
    """Two elements, unless the range is given."""
    values = call["self"]
    refused = call["bins"] <= 0 or values.dtype in _WITHOUT_HISTOGRAM
    known = call["min"] != call["max"] or not values.numel()
    return [] if known or refused else [read(values)] * 2


@cost(
    "repeat_interleave.Tensor",
    why="the host learns the sum of the repeats, to size the result, and that none is negative",
    source="aten/src/ATen/native/Repeat.h, repeat_interleave_common",
    figures="2 DtoH, 2 waits; nothing with output_size, or where empty",
    instead="give output_size",
    fails_late=True,
)
def repeat_interleave(call: Call) -> Iterable[Charge]:
    """Two elements, unless output_size is given."""
    repeats = call["repeats"]
    refused = repeats.dtype not in (torch.int32, torch.int64)
    known = call["output_size"] is not None or not repeats.numel()
    return [] if known or refused else [read(repeats)] * 2


@cost(
    "segment_reduce",
    why="lengths are checked: the host learns that none is negative and that they add up",
    source="aten/src/ATen/native/SegmentReduce.cpp, segment_reduce_kernel",
    figures="2 DtoH, 1 DtoD, 2 waits for lengths; nothing with unsafe=True, or for offsets",
    instead="unsafe=True, or offsets",
)
def segment_reduce(call: Call) -> Iterable[Charge]:
    """Two elements, of lengths that are checked."""
    lengths = call["lengths"]
    if lengths is None or call["unsafe"] or not lengths.numel():
        return []
    flag = Charge("copy", dtod=1, dtype="bool", why="all() of a single element copies it")
    return [read(lengths), flag, read(lengths)]
