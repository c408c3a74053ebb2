"""Operators whose host code reads single elements back."""

from __future__ import annotations

from collections.abc import Iterable

from syncscope.simcuda import watch
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.table import Call, cost, read
from syncscope.simcuda.frames import called

_NUMBER = "a Python number is made of the tensor, so the host obtains its element"
_CONDITION = "Python asks whether the tensor is true, so the host obtains its element"
_INDEX = "a 0-dim tensor as an index or as a bound of a slice is read as a number"
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
_CHECKED = "the host learns whether the factorisation failed"


@cost(
    "_local_scalar_dense",
    why="the host obtains one element, because a Python number is wanted: item(), int(), if, an argument",
    source="aten/src/ATen/native/cuda/CUDAScalar.cu, _local_scalar_dense_cuda",
    figures="1 DtoH, 1 wait",
    instead="keep the value on the device (torch.where, clamp), or read many at once with tolist()",
    mixes=True,
)
def local_scalar_dense(call: Call) -> Charge:
    """One element."""
    return read(call["self"], why=_why())


def _why() -> str:
    """What the element is for, as far as the function tells that was called."""
    device = watch.active()
    frame = None if device is None else called(device.frames)
    spelling = "" if frame is None else frame.spelling
    return _CHECKED if spelling.startswith("torch.linalg.") else _WHY.get(spelling, "")


@cost(
    "masked_fill_.Tensor",
    "index_fill_.int_Tensor",
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
    "bincount",
    why="the host learns the smallest and the largest value, to check and to size the result",
    source="aten/src/ATen/native/cuda/SummaryOps.cu, _bincount_cuda",
    figures="2 DtoH, 2 waits; nothing where empty",
    instead="torch.zeros(n).index_add_ or scatter_add_ with a size that is known",
)
def bincount(call: Call) -> Iterable[Charge]:
    """Two elements."""
    return [read(call["self"])] * 2 if call["self"].numel() else []


@cost(
    "histc",
    why="without a range the host learns the smallest and the largest value",
    source="aten/src/ATen/native/cuda/SummaryOps.cu, _histc_cuda",
    figures="2 DtoH, 2 waits where no range is given; nothing with min and max",
    instead="give min and max",
)
def histc(call: Call) -> Iterable[Charge]:
    """Two elements, unless the range is given."""
    return [read(call["self"])] * 2 if call["min"] == call["max"] and call["self"].numel() else []


@cost(
    "repeat_interleave.Tensor",
    why="the host learns the sum of the repeats, to size the result, and that none is negative",
    source="aten/src/ATen/native/Repeat.h, repeat_interleave_common",
    figures="2 DtoH, 2 waits; nothing with output_size, or where empty",
    instead="give output_size",
)
def repeat_interleave(call: Call) -> Iterable[Charge]:
    """Two elements, unless output_size is given."""
    known = call["output_size"] is not None or not call["repeats"].numel()
    return [] if known else [read(call["repeats"])] * 2


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
