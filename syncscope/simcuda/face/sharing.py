"""Device memory that leaves torch, and comes back: addresses, DLPack, the CUDA array interface."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.utils.dlpack
from torch import Tensor

from syncscope import sites
from syncscope.simcuda import watch, watched
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.face.addresses import goes_nowhere
from syncscope.simcuda.face.crossing import Move
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.face.transfers import carried
from syncscope.simcuda.frames import Frame
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.reasons import reason

_KDL_CPU, _KDL_CUDA = 1, 2  # ATen/dlpack.h
# By whether the capsule is of the versioned kind: its name, and where the type of its device is kept.
_NAMES = {False: (b"dltensor", 8), True: (b"dltensor_versioned", 40)}
_LEFT = reason(
    "Tensor.data_ptr",
    "Tensor.const_data_ptr",
    "UntypedStorage.data_ptr",
    "Tensor.__dlpack__",
    "torch.utils.dlpack.to_dlpack",
    "Tensor.__cuda_array_interface__",
    why="device memory left torch by its address: what reads it isn't seen, and may wait",
    source="torch/_tensor.py, __dlpack__, __cuda_array_interface__; aten/src/ATen/DLConvertor.cpp",
    figures="1 unknown where user code asks for the address of a device tensor; nothing where torch "
    "itself asks; nothing where an address is at once compared, made a key, or taken by a "
    "remainder",
    instead="profile it on a GPU: the tool sees nothing of what another library does",
)


_STORAGES = (torch.UntypedStorage, torch.TypedStorage)


def show() -> watched.Undo:
    """Let capsules say where their memory is, tensors that come back be there, and storages tell addresses.

    For watched threads.
    """
    undo = [watched.method(torch._C, "_from_dlpack", from_capsule)]
    undo += [watched.method(owner, name, to_capsule) for owner, name in _TO_CAPSULE]
    undo += [watched.method(kind, "data_ptr", address) for kind in _STORAGES]
    return lambda: [back() for back in undo]


_TO_CAPSULE = ((torch._C, "_to_dlpack"), (torch, "to_dlpack"), (torch.utils.dlpack, "to_dlpack"))


def to_capsule(own: Callable[..., Any], tensor: Tensor, *rest: Any, **options: Any) -> Any:
    """``torch.utils.dlpack.to_dlpack(t)``, which asks no function mode."""
    capsule = own(tensor, *rest, **options)
    if PLACEMENT.is_on(tensor):
        _say(capsule, _KDL_CUDA)
        device = watch.active()
        if device is not None and sites.is_users(sys._getframe(2).f_code):
            device.charge([Charge("unknown")], why=_LEFT.why, spelling="torch.utils.dlpack.to_dlpack")
    return capsule


def from_capsule(own: Callable[..., Tensor], capsule: Any) -> Tensor:
    """The last step of ``torch.from_dlpack``: the capsule tells where the tensor is, or its memory does."""
    on_device = _says_device(capsule)
    if on_device:
        _say(capsule, _KDL_CPU)
    result = own(capsule)
    if on_device or PLACEMENT.holds(result.data_ptr()):
        PLACEMENT.put(result)
    return result


def _says_device(capsule: Any) -> bool:
    return _device_type(capsule).value == _KDL_CUDA


def _say(capsule: Any, device_type: int) -> None:
    """Write into ``capsule`` where its memory is: a library that can't use the device has to refuse it."""
    _device_type(capsule).value = device_type


def _device_type(capsule: Any) -> ctypes.c_int32:
    """The field ``device.device_type`` of the capsule's DLTensor (dlpack.h)."""
    name, offset = _NAMES[b"dltensor_versioned" in repr(capsule).encode()]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return ctypes.c_int32.from_address((get(capsule, name) or 0) + offset)


def _left(spoken: Spoken) -> None:
    """Say that the memory is out of sight, unless torch itself has asked."""
    if PLACEMENT.is_on(spoken.args[0]) and _is_users(spoken):
        spoken.device.charge([Charge("unknown")], why=_LEFT.why)


def _is_users(frame: Frame) -> bool:
    return frame.caller is not None and sites.is_users(frame.caller.f_code)


@spelling(*(getattr(Tensor, name) for name in ("data_ptr", "const_data_ptr") if hasattr(Tensor, name)))
def data_ptr(spoken: Spoken) -> Any:
    """``t.data_ptr()``: unknown, unless the address is compared on the spot and goes nowhere."""
    if spoken.caller is None or not goes_nowhere(spoken.caller):
        _left(spoken)
    return spoken.run_unheard(*spoken.args)


def address(own: Callable[..., int], storage: Any) -> int:
    """``storage.data_ptr()``: as a tensor's."""
    found, caller, device = own(storage), sys._getframe(2), watch.active()
    if device is None or not sites.is_users(caller.f_code) or goes_nowhere(caller):
        return found
    if PLACEMENT.is_storage_on(getattr(storage, "_untyped_storage", storage)):
        device.charge([Charge("unknown")], why=_LEFT.why, spelling="UntypedStorage.data_ptr")
    return found


@spelling(Tensor.__dlpack__)
def dlpack(spoken: Spoken) -> Any:
    """``t.__dlpack__()``: a capsule, which torch's own ``from_dlpack`` brings back.

    Raises:
        ValueError: it is to go to the host, and without a copy; as PyTorch words it.
    """
    tensor, words = spoken.args[0], spoken.kwargs
    if not PLACEMENT.is_on(tensor):
        return spoken.run(*spoken.args, **words)
    if (words.get("dl_device") or (_KDL_CUDA,))[0] != _KDL_CUDA:
        if words.get("copy") is False:
            raise ValueError("cannot move (i.e. copy=False) tensor from cuda:0 to cpu without copying.")
        spoken.run_unheard(tensor)  # what can't be exported isn't fetched
        return carried(tensor, Move(cuda=False)).__dlpack__(**_kept(words, "max_version"))
    _left(spoken)
    capsule = spoken.run_unheard(tensor, **_kept(words, "max_version", "copy"))
    _say(capsule, _KDL_CUDA)
    return capsule


def _kept(words: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in words.items() if name in names}


@spelling(Tensor.__cuda_array_interface__.__get__)
def cuda_array_interface(spoken: Spoken) -> Any:
    """``t.__cuda_array_interface__``: torch's own body makes it, and refuses a tensor on the host."""
    described = spoken.run(*spoken.args)
    _left(spoken)
    return described
