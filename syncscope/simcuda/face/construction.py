"""Spellings that make a tensor out of Python data."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import watch
from syncscope.simcuda.costs import table
from syncscope.simcuda.face.crossing import Move, moved
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.frames import tensors
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.places import CPU, CUDA, means_cuda
from syncscope.simcuda.reasons import reason
from syncscope.simcuda.watch import Watch

_DATA = (
    "torch.Tensor",
    "torch.FloatTensor",
    "torch.tensor",
    "torch.as_tensor",
    "torch.asarray",
    "Tensor.new_tensor",
    "Tensor.new",
)
_READ = reason(
    *_DATA,
    why="the list has device tensors in it: each is read as with item()",
    source="torch/csrc/utils/tensor_new.cpp, recursive_store",
    figures="1 DtoH, 1 wait for each device tensor in the list; nothing for numbers",
    instead="torch.stack of the tensors, which stays on the device",
)
_UPLOAD = reason(
    *_DATA,
    "torch.cuda.FloatTensor",
    why="the data is gathered in pageable memory of the host and copied to the device, and the host waits",
    source="torch/csrc/utils/tensor_new.cpp, internal_new_from_data",
    figures="1 HtoD, 1 wait with a device; nothing without one, or without elements",
    instead="a factory on the device (arange, full, zeros); or make it once, outside the loop; or "
    "pin_memory() and to(device, non_blocking=True)",
)

BUILDERS = (torch.tensor, torch.as_tensor, torch.asarray, Tensor.new_tensor)
"""What builds a tensor out of Python data, in C++ that no listener at the dispatcher hears."""


@spelling(torch.tensor)
def tensor(spoken: Spoken) -> Any:
    """``torch.tensor(data, device=...)``."""
    (data,) = spoken.args[:1] or (spoken.kwargs["data"],)
    return _copied(spoken, data) if isinstance(data, Tensor) else built(spoken)


@spelling(Tensor.new_tensor)
def new_tensor(spoken: Spoken) -> Any:
    """``t.new_tensor(data)``: on ``t``'s device where none is named."""
    like, data = spoken.args[0], spoken.args[1] if len(spoken.args) > 1 else spoken.kwargs["data"]
    return _copied(spoken, data, like) if isinstance(data, Tensor) else built(spoken)


@spelling(Tensor.new)
def new(spoken: Spoken) -> Any:
    """``t.new([1., 2.])``, the old form: data is uploaded; a size, or a tensor, is not.

    Raises:
        TypeError: the tensor is on the other side; as PyTorch words it (tensor_new.cpp).
    """
    like, *given = spoken.args
    if len(given) == 1 and not isinstance(given[0], (int, torch.Size, Tensor)):
        return built(spoken)
    if (
        len(given) == 1
        and isinstance(given[0], Tensor)
        and PLACEMENT.is_on(given[0]) != PLACEMENT.is_on(like)
    ):
        kinds = [CUDA if PLACEMENT.is_on(one) else CPU for one in (like, given[0])]
        raise TypeError("expected {} (got {})".format(*kinds))
    return spoken.run(like, *given, **spoken.kwargs)


@spelling(torch.as_tensor, torch.asarray)
def as_tensor(spoken: Spoken) -> Any:
    """``torch.as_tensor(data)`` and ``torch.asarray(data)``: a tensor is moved, not copied."""
    words = dict(zip(("data", "dtype", "device"), spoken.args, strict=False)) | spoken.kwargs
    data = words.pop("data" if "data" in words else "obj", None)
    if not isinstance(data, Tensor):
        if words.get("copy") is False and hasattr(data, "__array_interface__"):
            _refuse_copy(torch.as_tensor(data), _target(words.get("device"), False), words.get("dtype"))
        return built(spoken)
    with torch._C.DisableTorchFunctionSubclass():  # the binding takes a tensor as data, of whatever class
        return _as_asked(data, **words)


def _as_asked(
    data: Tensor, dtype: torch.dtype | None = None, device: Any = None, copy: bool | None = None, **_: Any
) -> Tensor:
    target = _target(device, PLACEMENT.is_on(data))
    if copy is False:
        _refuse_copy(data, target, dtype)
    if target == PLACEMENT.is_on(data):
        return data.to(dtype=dtype or data.dtype, copy=bool(copy))
    return moved(data, Move(target, dtype))


def _refuse_copy(data: Tensor, target: bool, dtype: torch.dtype | None) -> None:
    """Refuse ``torch.asarray(t, copy=False)`` where nothing but a copy would do.

    Raises:
        ValueError: as PyTorch words it (tensor_new.cpp, asarray).
    """
    if target != PLACEMENT.is_on(data):
        there, here = (CPU, CUDA) if target else (CUDA, CPU)
        raise ValueError(f"can't alias tensor from device '{there}' to '{here}'.")
    if dtype not in (None, data.dtype):
        raise ValueError(f"can't alias tensor with dtype '{data.dtype}' into dtype '{dtype}'.")


def _target(device: Any, default: bool) -> bool:
    return default if device is None else bool(means_cuda(device))


def built(spoken: Spoken) -> Any:
    """Build a tensor from data in Python; charge the reads of tensors in it, then the upload."""
    *like, data = (
        spoken.args[:2] if spoken.func in (Tensor.new_tensor, Tensor.new) else spoken.args[:1] or (None,)
    )
    data = spoken.kwargs.get("data", spoken.kwargs.get("obj", data))
    on_device = _target(spoken.kwargs.get("device"), bool(like) and PLACEMENT.is_on(like[0]))
    if not spoken.device.simulated:
        made = spoken.func(*spoken.args, **spoken.kwargs)
        _charge_upload(spoken.device, made if on_device else None)
    elif on_device and _is_array(data):
        host = _built_on_cpu(spoken)
        made = moved(host.detach(), Move(cuda=True)).requires_grad_(host.requires_grad)
    else:
        made = _built_unseen(spoken, on_device)
    read_elements(spoken.device, data)
    return made


def _is_array(data: Any) -> bool:
    """Whether ``data`` is NumPy's: the host's tensor of it shares its memory, and is moved as any other."""
    return hasattr(data, "__array_interface__") and hasattr(data, "__len__")


def read_elements(device: Watch, data: Any, spelling: str = "") -> None:
    """Charge the elements of device tensors in ``data``, a list or the like: each is read as with item()."""
    with torch._C.DisableTorchFunctionSubclass():  # they are asked for their numbers, by the binding
        elements = [t for t in tensors((data,), {}) if t is not data for _ in range(t.numel())]
        charges = [table.read(element) for element in elements if PLACEMENT.is_on(element)]
    device.operators["_local_scalar_dense"] += len(elements)  # torch.profiler counts the host's as well
    device.charge(charges, op="aten::_local_scalar_dense", why=_READ.why, spelling=spelling)


def _built_unseen(spoken: Spoken, on_device: bool) -> Tensor:
    """The tensor that data becomes where it was asked for: dispatch modes see it when it is there."""
    with torch._C._ExcludeDispatchKeyGuard(_MODES):
        made = _built_on_cpu(spoken)
    if on_device:
        PLACEMENT.put(made)
        _charge_upload(spoken.device, made)
    elif spoken.kwargs.get("pin_memory"):
        PLACEMENT.pin(made)
    return _lifted(made)


_MODES = torch._C.DispatchKeySet(torch._C.DispatchKey.Python)


def _lifted(made: Tensor) -> Tensor:
    """Show a new tensor to the dispatch modes, as the binding does at last (tensor_new.cpp)."""
    if not torch._C._len_torch_dispatch_stack():
        return made
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.aten.lift_fresh.default(made)  # type: ignore[no-any-return]


def _charge_upload(device: Watch, made: Tensor | None, spelling: str = "") -> None:
    charge = None if made is None else table.upload(made)
    device.charge([charge] if charge else [], op="aten::_to_copy", why=_UPLOAD.why, spelling=spelling)


def _built_on_cpu(spoken: Spoken) -> Tensor:
    """The tensor that the CPU builds."""
    said = ("device",) if spoken.func is Tensor.new_tensor else ("device", "pin_memory")
    words = {name: value for name, value in spoken.kwargs.items() if name not in said}
    if spoken.func is not Tensor.new:
        words["device"] = CPU
    with unheard():
        return spoken.func(*spoken.args, **words)  # type: ignore[no-any-return]


def _copied(spoken: Spoken, data: Tensor, like: Tensor | None = None) -> Any:
    """``torch.tensor(t)``: a copy of ``t`` without its history, on its own device or the one named."""
    words = spoken.kwargs
    on_device = PLACEMENT.is_on(data if like is None else like)
    target = _target(words.get("device"), on_device)
    with torch.no_grad(), torch._C.DisableTorchFunctionSubclass():  # it is taken as data, of whatever class
        dtype = words.get("dtype") or (data.dtype if like is None else like.dtype)
        if target != PLACEMENT.is_on(data):
            result = moved(data, Move(target, dtype))
        else:
            result = data.detach().to(device=CPU, dtype=dtype, copy=True)  # wherever it is
    return result.requires_grad_(bool(words.get("requires_grad", False)))


class _TensorType(type):
    """What ``torch.cuda.FloatTensor`` and its kind are: they make tensors, and tell theirs."""

    dtype: torch.dtype

    def __call__(cls, *args: Any) -> Any:
        """A tensor on the device, of data or of a size; of a tensor there, an alias.

        Raises:
            TypeError: a tensor of the host is given; as PyTorch words it (tensor_new.cpp).
        """
        given = args[0] if args else 0
        if isinstance(given, Tensor) and len(args) == 1:
            if not PLACEMENT.is_on(given) or given.dtype is not cls.dtype:
                found = f"{CUDA if PLACEMENT.is_on(given) else CPU}, {given.dtype}"
                raise TypeError(f"expected CUDA, {cls.dtype} (got {found}) in torch.cuda.{cls.__name__}")
            return given.detach()
        with torch._C._ExcludeDispatchKeyGuard(_MODES):
            made = getattr(torch, cls.__name__)(*args)
        PLACEMENT.put(made)
        device = watch.active()
        if device is not None and len(args) == 1 and not isinstance(given, (int, torch.Size)):
            _charge_upload(device, made, f"torch.cuda.{cls.__name__}")
        return _lifted(made)

    def __instancecheck__(cls, instance: Any) -> bool:
        """Whether ``instance`` is of this dtype, and on the device."""
        return isinstance(instance, Tensor) and instance.dtype == cls.dtype and PLACEMENT.is_on(instance)


def tensor_type(name: str, dtype: torch.dtype) -> type:
    """``torch.cuda.FloatTensor`` (``name`` is its last part)."""
    return _TensorType(name, (), {"dtype": dtype, "__module__": "torch.cuda"})
