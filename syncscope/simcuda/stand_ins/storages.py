"""Storages of the simulated device: the bytes under tensors, moved and read without a tensor in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from syncscope.simcuda import watch, watched
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.table import may_wait
from syncscope.simcuda.dispatch.growth import GROWN
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.places import CUDA, means_cuda
from syncscope.simcuda.reasons import Reason, reason

Storage = torch.UntypedStorage
Own = Callable[..., Any]

_COPIED = reason(
    "UntypedStorage.copy_",
    "UntypedStorage.cpu",
    "UntypedStorage.cuda",
    "torch.save",
    "torch.load",
    "pickle.dumps",
    "pickle.loads",
    why="the bytes of a whole storage are copied between host and device",
    source="torch/csrc/StorageMethods.cpp, THPStorage_copy_; aten/src/ATen/native/cuda/Copy.cu",
    figures="1 DtoH, 1 wait for each storage that is saved; 1 HtoD, 1 wait for each that is loaded to the "
    "device; 1 DtoD on the device; 0 waits with non_blocking=True",
    instead="save rarely, or save a copy that was fetched with non_blocking=True into pinned memory",
)
_READ = reason(
    "UntypedStorage.__getitem__",
    why="an element of a storage is read: it is copied and waited for",
    source="torch/csrc/StorageMethods.cpp, THPStorage_get",
    figures="1 DtoH, 1 wait for each element; nothing for a slice",
    instead="storage.cpu() fetches all bytes at once",
)
_WRITTEN = reason(
    "torch.save",
    why="the bytes of a storage are fetched to be written",
    source="torch/csrc/serialization.cpp, THPStorage_writeFileRaw",
    figures="1 DtoH, 1 wait for each storage, in the old format",
    instead="save rarely, or save a copy that was fetched with non_blocking=True into pinned memory",
)


def show() -> watched.Undo:
    """Let storages know where they live, for watched threads."""
    undo = [
        watched.attribute(Storage, "device", _device_property()),
        watched.constructor(Storage, new),
        *(watched.method(Storage, name, answer) for name, answer in _ANSWERS.items()),
    ]
    return lambda: [back() for back in reversed(undo)]


def _device_property() -> property:
    own: Any = torch._C.StorageBase.__dict__["device"]

    def device(self: Storage) -> torch.device:
        watched_one = watch.active() is not None and PLACEMENT.is_storage_on(self)
        return CUDA if watched_one else own.__get__(self)

    return property(device)


_new = Storage.__new__


def new(*args: Any, device: Any = None, **others: Any) -> Storage:
    """``torch.UntypedStorage(size, device=...)``."""
    on_device = device is not None and means_cuda(device)
    where = {} if device is None else {"device": "cpu" if on_device else device}
    made = _new(Storage, *args, **where, **others)
    if on_device:
        PLACEMENT.put_storage(made)
    return made


def copy_(own: Own, self: Storage, source: Any, non_blocking: Any = None) -> Any:
    """``storage.copy_(other)``."""
    with unheard():
        result = own(self, source, bool(non_blocking))
    untyped = source if isinstance(source, Storage) else source._untyped_storage
    _charge(_copy(self, untyped, not non_blocking), _COPIED, "UntypedStorage.copy_")
    return result


def _copy(target: Storage, source: Storage, waits: bool) -> Charge | None:
    shape = (source.nbytes(),)
    to_device, from_device = PLACEMENT.is_storage_on(target), PLACEMENT.is_storage_on(source)
    doubt = may_wait(waits, PLACEMENT.is_storage_pinned(source if to_device else target))
    if not source.nbytes() or not (to_device or from_device):
        return None
    if to_device and from_device:
        return Charge("copy", dtod=1, shape=shape, dtype="uint8")
    if to_device:
        return Charge("upload", htod=1, waits=int(waits), shape=shape, dtype="uint8", may_wait=doubt)
    return Charge("vector_read", dtoh=1, waits=int(waits), shape=shape, dtype="uint8", may_wait=doubt)


def getitem(own: Own, self: Storage, index: Any) -> Any:
    """``storage[i]``: one byte is read; a slice is a view."""
    with unheard():
        result = own(self, index)
    if PLACEMENT.is_storage_on(self):
        if isinstance(result, Storage):
            PLACEMENT.put_storage(result)
        else:
            _charge(
                Charge("scalar_read", dtoh=1, waits=1, dtype="uint8"), _READ, "UntypedStorage.__getitem__"
            )
    return result


def resize_(own: Own, self: Storage, size: Any) -> Any:
    """``storage.resize_(bytes)``: what stays is copied into memory of the new size."""
    before = self.nbytes()
    result = own(self, size)  # refuses what is no int, a tensor too
    kept = min(before, self.nbytes())
    if kept and PLACEMENT.is_storage_on(self):
        _charge(Charge("copy", dtod=1, shape=(kept,), dtype="uint8"), GROWN, "UntypedStorage.resize_")
    return result


def write_file(own: Own, self: Storage, *args: Any) -> Any:
    """What the old format of ``torch.save`` does with a storage."""
    if PLACEMENT.is_storage_on(self) and self.nbytes():
        read = Charge("vector_read", dtoh=1, waits=1, shape=(self.nbytes(),), dtype="uint8")
        _charge(read, _WRITTEN, "torch.save")
    return own(self, *args)


def set_from_file(own: Own, self: Storage, *args: Any) -> Any:
    """What the old format of ``torch.load`` does with a storage."""
    if PLACEMENT.is_storage_on(self) and self.nbytes():
        upload = Charge("upload", htod=1, waits=1, shape=(self.nbytes(),), dtype="uint8")
        _charge(upload, _COPIED, "torch.load")
    return own(self, *args)


def _charge(charge: Charge | None, reason: Reason, spelling: str) -> None:
    device = watch.active()
    if device is not None and charge is not None:
        device.charge([charge], why=reason.why, spelling=spelling)


_ANSWERS: dict[str, Callable[..., Any]] = {
    "copy_": copy_,
    "resize_": resize_,
    "is_shared": lambda own, self: PLACEMENT.is_storage_on(self) or own(self),
    "__getitem__": getitem,
    "_write_file": write_file,
    "_set_from_file": set_from_file,
}
