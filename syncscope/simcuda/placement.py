"""Which storages live on the simulated device."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn import Parameter

from syncscope.simcuda.hearing import unheard

# A dead storage that is remembered still has a little memory, which may part the block that its tensor had
# from the free memory beside it: the allocator then takes new pages from the system, again and again.
_FIRST_SWEEP = 64


class Storages:
    """A set of storages, held by weak reference.

    A weak reference keeps the address of a dead storage from being given to another one, so an address in
    here always means the storage that was put in. The dead are swept out when the set has doubled.
    """

    def __init__(self) -> None:
        """An empty set."""
        self._references: dict[int, StorageWeakRef] = {}
        self._sweep_at = _FIRST_SWEEP

    def add(self, storage: torch.UntypedStorage) -> None:
        """Remember ``storage``."""
        if storage._cdata not in self._references:
            self._references[storage._cdata] = StorageWeakRef(storage)
            if len(self._references) > self._sweep_at:
                self._sweep()

    def discard(self, storage: torch.UntypedStorage) -> None:
        """Forget ``storage``, if it is remembered."""
        self._references.pop(storage._cdata, None)

    def __contains__(self, storage: torch.UntypedStorage) -> bool:
        """Whether ``storage`` is remembered."""
        return storage._cdata in self._references

    def alive(self) -> Iterator[torch.UntypedStorage]:
        """The storages that still exist."""
        for key, reference in self._references.copy().items():
            storage = torch.UntypedStorage._new_with_weak_ptr(reference.cdata)
            if storage is not None and key in self._references:
                yield storage

    def __len__(self) -> int:
        """How many storages are remembered, the dead that were not swept out yet among them."""
        return len(self._references)

    def _sweep(self) -> None:
        # A copy is made at once, while a list of pairs lets the collector, and so another thread, in between.
        # While the list holds the dead, none of their addresses is given to another storage.
        dead = [(key, reference) for key, reference in self._references.copy().items() if reference.expired()]
        for key, _ in dead:
            self._references.pop(key, None)
        self._sweep_at = max(_FIRST_SWEEP, 2 * len(self._references))


class Placement:
    """Where tensors live: a tensor is on the device when its storage is, so views need no word.

    Tensors without a storage of their own are where what they wrap is: the values of a sparse tensor, the
    tensor under a functorch wrapper, the parts of a traceable subclass. A wrapper that doesn't tell its
    parts is where it said when it was made: its storage has no memory, and stands for it.
    """

    def __init__(self) -> None:
        """Everything is on the host and pageable."""
        self._device = Storages()
        self._pinned = Storages()
        self._wrappers = Storages()

    def put(self, tensor: Tensor) -> None:
        """Place ``tensor``, and all that shares its storage, on the device."""
        if tensor.is_nested and type(tensor) is Tensor:
            for sizes in _host_parts(tensor):
                self._device.discard(sizes.untyped_storage())
        if type(tensor) is Tensor and not torch._is_functional_tensor(tensor):
            try:
                self._device.add(tensor.untyped_storage())
                return
            except (NotImplementedError, RuntimeError):
                pass  # it has none of its own
        for storage in storages(tensor):
            self._device.add(storage)

    def is_on(self, tensor: Tensor) -> bool:
        """Whether ``tensor`` lives on the device."""
        if type(tensor) is not Tensor and type(tensor) is not Parameter:
            with torch._C.DisableTorchFunctionSubclass():  # the subclass is not to hear of it
                return tensor.is_cuda or self._holds_parts(tensor)
        if tensor.is_cuda:
            return True  # on a machine with a GPU, that one
        try:
            if tensor.untyped_storage()._cdata in self._device._references:
                return True
        except (NotImplementedError, RuntimeError):
            return self._holds_parts(tensor)
        return torch._is_functional_tensor(tensor) and self._holds_parts(tensor)

    def _holds_parts(self, tensor: Tensor) -> bool:
        return any(storage in self._device or storage in self._wrappers for storage in storages(tensor))

    def was_used(self) -> bool:
        """Whether this process ever had a tensor on the device, to within those that were taken back."""
        return len(self._device) > 0

    def put_wrapper(self, tensor: Tensor) -> None:
        """Place ``tensor``, which wraps what only its class knows of, on the device."""
        with torch._C.DisableTorchFunctionSubclass():  # nor can it say its layout before it wraps something
            self._wrappers.add(tensor.untyped_storage())

    def take_back(self, tensor: Tensor) -> None:
        """Place ``tensor`` on the host again."""
        for storage in storages(tensor):
            self._device.discard(storage)

    def put_storage(self, storage: torch.UntypedStorage) -> None:
        """Place ``storage`` on the device."""
        self._device.add(storage)

    def is_storage_on(self, storage: torch.UntypedStorage) -> bool:
        """Whether ``storage`` lives on the device."""
        return storage in self._device

    def holds(self, pointer: int) -> bool:
        """Whether the address ``pointer`` lies in a storage on the device."""
        return any(
            storage.data_ptr() <= pointer < storage.data_ptr() + max(storage.nbytes(), 1)
            for storage in self._device.alive()
        )

    def allocated_bytes(self) -> int:
        """Bytes of all that lives on the device."""
        return sum(storage.nbytes() for storage in self._device.alive())

    def pin(self, tensor: Tensor) -> None:
        """Mark ``tensor``'s host memory as page-locked."""
        for storage in storages(tensor):
            self._pinned.add(storage)

    def is_pinned(self, tensor: Tensor) -> bool:
        """Whether ``tensor``'s host memory is page-locked."""
        return any(map(self.is_storage_pinned, storages(tensor)))

    def is_storage_pinned(self, storage: torch.UntypedStorage) -> bool:
        """Whether the memory of ``storage`` is page-locked."""
        return storage in self._pinned


def storages(tensor: Tensor) -> list[torch.UntypedStorage]:
    """The storages that hold ``tensor``'s values: its own, or those of what it wraps."""
    with torch._C.DisableTorchFunctionSubclass():  # a subclass is not to hear of it
        return [part.untyped_storage() for part in parts(tensor)]


def parts(tensor: Tensor) -> Iterator[Tensor]:
    """The plain tensors that ``tensor`` is made of: itself where it has a storage."""
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        yield from parts(torch._C._functorch.get_unwrapped(tensor))
    elif torch._C._functorch.is_legacy_batchedtensor(tensor):
        yield from parts(_unbatched(tensor))
    elif tensor.layout is torch.sparse_coo:
        yield from (tensor._indices(), tensor._values())
    elif tensor.layout in (torch.sparse_csr, torch.sparse_bsr):
        yield from (tensor.crow_indices(), tensor.col_indices(), tensor.values())
    elif tensor.layout in (torch.sparse_csc, torch.sparse_bsc):
        yield from (tensor.ccol_indices(), tensor.row_indices(), tensor.values())
    elif is_wrapper(tensor):
        names, _ = tensor.__tensor_flatten__()  # type: ignore[attr-defined]
        for part in (getattr(tensor, name) for name in names):
            if isinstance(part, Tensor):  # a mesh of devices is a part as well
                yield from parts(part)
    elif tensor.layout is torch._mkldnn:  # type: ignore[attr-defined]
        return  # the CPU's own, never on a device
    elif tensor.is_nested:
        yield tensor.values()
    else:
        yield tensor


def _unbatched(tensor: Tensor) -> Tensor:
    """What a tensor of the old vmap wraps, that of ``torch.autograd.functional.jacobian(vectorize=True)``."""
    level = torch._C._vmapmode_increment_nesting() - 1
    torch._C._vmapmode_decrement_nesting()
    with unheard():
        return torch._remove_batch_dim(tensor, level, 1, 0)


def _host_parts(nested: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Sizes, strides and offsets of a nested tensor's parts: they are the host's wherever the values are."""
    with unheard():
        offsets = nested._nested_tensor_storage_offsets()
        return nested._nested_tensor_size(), nested._nested_tensor_strides(), offsets


def is_wrapper(tensor: Tensor) -> bool:
    """Whether ``tensor`` is of a traceable subclass, made of other tensors."""
    return type(tensor) is not Tensor and hasattr(tensor, "__tensor_flatten__")


@cache
def answers_itself(kind: type) -> bool:
    """Whether tensors of this class have a ``__torch_dispatch__`` of their own."""
    handler = getattr(kind, "__torch_dispatch__", None)
    return handler is not None and handler is not torch._C._disabled_torch_dispatch_impl


@cache
def overrides(kind: type) -> bool:
    """Whether this class, of tensors or not, is asked for the answer before torch is."""
    handler = getattr(kind, "__torch_function__", torch._C._disabled_torch_function_impl)
    return kind is not Tensor and handler is not torch._C._disabled_torch_function_impl


PLACEMENT = Placement()
"""The one simulated device of this process: a tensor stays where it is from one scope to the next."""
