"""Reading and writing with index tensors and masks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import watch
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import charged, overlap
from syncscope.simcuda.costs.table import Call, cost, fetch, is_on, size_read, upload
from syncscope.simcuda.frames import called, tensors
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT

_MASKS = (torch.bool, torch.uint8)
_TAKEN = (*_MASKS, torch.int32, torch.int64)
_TWO_DEVICES = (
    "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! "
    "(values of an indexed assignment)"
)
_MASK = "how many elements the mask selects decides the size, and the host has to know it"
_HOST_INDEX = "the index is a tensor of the host, and is uploaded"
_HOST_MASK = "the mask is a tensor of the host: its indices are found there, and go up from pinned memory"
_SORTED_MASK = "the mask is a tensor of the host: its indices are found there, and uploaded to be sorted"
_LIST = "the index is a list or an array: it becomes a tensor, which is uploaded"
_NUMBER = (
    "the number is uploaded as a 0-dim tensor; index_fill_(dim, index, number) or masked_fill_(mask, number) "
    "takes it as it is"
)
_HOST_NUMBER = "the value is a tensor of the host, and is uploaded"
_FETCHED = "the tensor that is written is the host's: an index or a value of the device is fetched"
_BY_BRACKETS = ("Tensor.__getitem__", "Tensor.__setitem__")


@cost(
    "index.Tensor",
    "_unsafe_index.Tensor",
    why="a mask is turned into indices, whose number the host has to learn; an index on the host is uploaded",
    source="aten/src/ATen/native/IndexingUtils.h, expandTensors; TensorAdvancedIndexing.cpp, make_info",
    figures="1 DtoH, 1 wait for each mask on the device; 1 HtoD, 1 wait for each index of the host, "
    "as a list or array is; 1 HtoD for each mask of the host; 1 DtoH, 1 HtoD, 2 waits for "
    "each list of bools; nothing for indices on the device",
    instead="an index tensor on the device; torch.where with three arguments in place of a mask",
    mixes=True,
    fails_late=True,
)
def index(call: Call) -> list[Charge]:
    """What each index costs."""
    _refuse_foreign_indices(call)
    return [charge for one in _fitting(call) for charge in _expanded(one)]


@cost(
    "index_put_",
    "index_put",
    why="made of _index_put_impl_ (and of a copy)",
    source="aten/src/ATen/native/TensorAdvancedIndexing.cpp, index_put_",
    figures="nothing of its own",
    mixes=True,
    enters=True,
)
def index_put(call: Call) -> None:
    """Nothing of its own."""


def _written(call: Call, put: Callable[..., Any]) -> Any:
    """Write as CUDA does; the CPU fills by a mask in more cases, and takes then what CUDA refuses.

    Raises:
        RuntimeError: values of the host are more than a number; as PyTorch words it.
    """
    indices = call["indices"]
    if not is_on(call["self"]):
        _refuse_device_values(call["values"])
    else:
        if _is_refused(call["values"]):
            raise RuntimeError(_TWO_DEVICES)
        if not _is_masked_fill(call) and len(list(_fitting(call))) == len(list(_indices(call))):
            indices = [number for one in indices for number in _numbers(one)]
    return put(call["self"], indices, call["values"], call["accumulate"], call["unsafe"])


def _numbers(one: Tensor | None) -> Sequence[Tensor | None]:
    """An index as index tensors: a mask as one for each of its dimensions."""
    return one.nonzero().unbind(1) if one is not None and one.dtype in _MASKS else [one]


def _is_refused(values: Tensor) -> bool:
    """Whether these are values of the host that a tensor on the device doesn't take: more than a number."""
    if is_on(values) or values.dim() == 0 or not _is_the_users(values):
        return False
    return not _was_expanded(values)


def _was_expanded(values: Tensor) -> bool:
    """Whether vmap made ``values`` of a 0-dim one, which is uploaded first (BatchRulesScatterOps.cpp)."""
    device = watch.active()
    frame = None if device is None else called(device.frames)
    if frame is None or values.untyped_storage().nbytes() > values.element_size():
        return False
    return any(one.dim() == 0 and not is_on(one) for one in tensors(frame.args, frame.kwargs))


@cost(
    "_index_put_impl_",
    why="the indices cost what they cost in reading; a Python or CPU scalar is uploaded as a tensor",
    source="aten/src/ATen/native/TensorAdvancedIndexing.cpp, _index_put_impl_; "
    "TensorAdvancedIndexingUtils.h, canDispatchToMaskedFill",
    figures="1 HtoD, 1 wait for a number of Python or the host, but nothing where one mask on the "
    "device says where; 1 DtoH, 1 wait for each mask on the device, with any other value; 1 "
    "HtoD, 1 wait for each index of the host, as a list or array is; 1 HtoD for each mask of "
    "the host; nothing for indices and values on the device",
    instead="index_fill_(dim, index, value) and masked_fill_(mask, value) take the number as it is",
    mixes=True,
    fails_late=True,
    stand_in=_written,
)
def index_put_impl(call: Call) -> list[Charge]:
    """What each index costs, and the value if it comes from the host."""
    refused = _is_refused_at_once(call)
    if not is_on(call["self"]):
        return [] if refused else _to_host(call, list(_indices(call)))
    if refused or _is_masked_fill(call):
        lists = (one for one in _indices(call) if not (is_on(one) or _is_the_users(one)))
        return [charge for one in lists for charge in built(one)]
    sorts = bool(call["accumulate"])
    charges = [charge for one in _fitting(call) for charge in _expanded(one, sorts)]
    value = _value(call["values"]) if call.on_host("values") else None
    return [*charges, value] if value else charges


def _value(values: Tensor) -> Charge | None:
    if _is_refused(values):
        return None
    return upload(values, why=_HOST_NUMBER if _is_given(values) else _NUMBER)


def _to_host(call: Call, indices: list[Tensor]) -> list[Charge]:
    """A write into a host tensor: indices and a 0-dim value that live on the device are fetched."""
    values = [call["values"]] if call["values"].dim() == 0 else []
    masks = [size_read(one, why=_MASK) for one in indices if is_on(one) and one.dtype in _MASKS]
    fetched = [fetch(one, why=_FETCHED) for one in (*indices, *values) if is_on(one)]
    return [*masks, *(charge for charge in fetched if charge)]


def _is_refused_at_once(call: Call) -> bool:
    """Whether the values alone make the call an error, before an index is looked at."""
    values = call["values"]
    return overlap(call["self"], values) or bool(call["accumulate"] and _is_refused(values))


def _refuse_device_values(values: Tensor) -> None:
    """A tensor on the host takes values of the device as a 0-dim tensor only.

    Raises:
        RuntimeError: as PyTorch words it.
    """
    if is_on(values) and values.dim() > 0:
        raise RuntimeError(_TWO_DEVICES)


def _indices(call: Call) -> Iterator[Tensor]:
    yield from (one for one in call["indices"] if one is not None)


def _fitting(call: Call) -> Iterator[Tensor]:
    """The indices that are looked at before the call is refused: up to a mask of another shape."""
    if any(one.dtype not in _TAKEN or one.layout is not torch.strided for one in _indices(call)):
        return
    dim = 0
    for one in call["indices"]:
        masks = one is not None and one.dtype in _MASKS
        if masks and one.shape != call["self"].shape[dim : dim + one.dim()]:
            return
        dim += one.dim() if masks else 1
        if one is not None:
            yield one


def _expanded(one: Tensor, sorts: bool = False) -> Iterator[Charge]:
    """The cost of one index before the kernel can take it; one that ``sorts`` takes no pinned memory."""
    masks = one.dtype in _MASKS
    if is_on(one):
        if _was_built_on_a_gpu(one):
            yield from built(one)
        if masks:
            yield size_read(one, why=_MASK)
    elif not _is_the_users(one):
        yield from built(one)
        if masks:
            yield size_read(one, why=_MASK)
    else:
        yield from _uploaded(one, masks, sorts)


def _was_built_on_a_gpu(one: Tensor) -> bool:
    """Whether a real GPU holds what the Python binding made of a list."""
    device = watch.active()
    return device is not None and not device.simulated and not _is_the_users(one)


def _uploaded(one: Tensor, masks: bool, sorts: bool) -> list[Charge]:
    """A host index goes up; of a mask the indices, found on the host in pinned memory, without a wait.

    Those that are sorted go up for one dimension after the other.
    """
    if not masks:
        return charged(upload(one, why=_HOST_INDEX))
    with unheard():
        found = one.detach().nonzero()
    if sorts:
        return charged(*(upload(column, why=_SORTED_MASK) for column in found.unbind(1)))
    return charged(upload(found, waits=False, pinned=True, why=_HOST_MASK))


def built(one: Tensor) -> Iterator[Charge]:
    """A list or array becomes a tensor on the device, inside the Python binding."""
    charge = upload(one, why=_LIST)
    if not one.is_cuda:
        PLACEMENT.put(one)
    if charge:
        yield charge


def _is_given(one: Tensor) -> bool:
    """Whether ``one`` stands in the user's call as a tensor, whatever the call."""
    device = watch.active()
    frame = None if device is None else called(device.frames)
    return frame is None or frame.was_given(one)


def _is_the_users(one: Tensor) -> bool:
    """Whether the user gave ``one`` as a tensor: the Python binding makes tensors out of lists as well."""
    device = watch.active()
    if device is None:
        return True
    frame = called(device.frames)
    if frame is None or frame.spelling not in _BY_BRACKETS:
        return True
    return frame.was_given(one)


def _is_masked_fill(call: Call) -> bool:
    """Whether the write is done as masked_fill_: one mask on the device, one number of the host."""
    value, indices = call["values"], list(_indices(call))
    if call["accumulate"] or value.numel() != 1 or is_on(value) or len(indices) != 1:
        return False
    return indices[0].dtype in _MASKS and (is_on(indices[0]) or not _is_the_users(indices[0]))


def _refuse_foreign_indices(call: Call) -> None:
    """A tensor on the host takes no index on the device.

    Raises:
        RuntimeError: as PyTorch words it (IndexingUtils.h, checkIndexTensorTypes and make_info).
    """
    if not is_on(call["self"]) and any(is_on(one) for one in _indices(call)):
        raise RuntimeError(
            "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
        )
