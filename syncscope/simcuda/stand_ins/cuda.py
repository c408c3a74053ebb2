"""The face of ``torch.cuda`` while a simulated device is active in the calling thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch.cuda._utils import _get_device_index

from syncscope.simcuda import debug_mode, forks, preferences, watched
from syncscope.simcuda.face import generators, plans, sharing
from syncscope.simcuda.face.construction import tensor_type
from syncscope.simcuda.places import means_cuda
from syncscope.simcuda.stand_ins import (
    accelerator,
    attention,
    autocast,
    bindings,
    blind_spots,
    defaults,
    gradients,
    grouping,
    handing_on,
    legacy,
    memory,
    nested,
    parallel,
    profiling,
    recall,
    runtime,
    sparse_types,
    storages,
    streams,
    tracing,
    tunable,
    versions,
)
from syncscope.simcuda.watch import Watch

_PARTS = (
    attention, defaults, preferences, parallel, streams, storages, sharing, autocast, grouping, legacy,
    nested, gradients, profiling, tracing, plans, tunable, runtime,
    bindings, blind_spots,
)  # fmt: skip
_lock = threading.Lock()
_shown = 0
_undo: list[Callable[[], Any]] = []


def show(device: type[Watch]) -> Callable[[], None]:
    """Let torch answer for simulated devices, of class ``device``; the result takes one showing back."""
    global _shown
    with _lock:
        if _shown == 0:
            _change(device)
        _shown += 1
    return _hide


def _hide() -> None:
    global _shown
    with _lock:
        _shown -= 1
        if _shown == 0:
            _change_back()


def _change(device: type[Watch]) -> None:
    """Make every change; should one fail, or be broken off, none is left."""
    try:
        for module, answers in _modules():
            _undo.append(watched.module(module, answers))
        _undo.append(watched.attribute(torch, "Generator", _GENERATOR))
        _undo.append(watched.attribute(torch.cuda, "_get_device_properties", _properties))
        for part in _PARTS:
            _undo.append(part.show())
        _undo.append(recall.show(device))
        _undo.append(lambda: debug_mode.set_mode("default"))
    except BaseException:
        _change_back()
        raise


def _change_back() -> None:
    while _undo:
        _undo.pop()()


def _modules() -> Iterator[tuple[ModuleType, dict[str, Any]]]:
    """The modules that answer for the device, and their answers."""
    yield torch.cuda, _ANSWERS
    yield torch.cuda.memory, memory.ANSWERS
    yield torch.cuda.random, generators.ANSWERS
    yield torch.cuda.sparse, sparse_types.ANSWERS
    yield torch.cuda.nvtx, _NVTX
    yield torch.cuda.graphs, _GRAPHS
    yield torch.cuda.profiler, _PROFILER
    yield torch.backends.cuda, _BACKENDS
    yield torch.backends.cudnn, versions.CUDNN
    yield torch.cuda.nccl, versions.NCCL
    yield torch.version, versions.VERSION
    yield torch.overrides, handing_on.ANSWERS
    yield torch.accelerator, {**accelerator.ANSWERS, "Graph": NoGraph}
    if hasattr(torch.accelerator, "memory"):  # since torch 2.9
        yield torch.accelerator.memory, accelerator.MEMORY


_GENERATOR = watched.stand_in(torch._C.Generator, generators.generator)


def set_device(device: Any) -> None:
    """``torch.cuda.set_device(0)``.

    Raises:
        RuntimeError: there is no such GPU; as PyTorch words it.
        ValueError: no GPU, or none in particular, is named; as PyTorch words it.
    """
    index = _get_device_index(device)
    if index >= 0:
        means_cuda(index)


def _exchange_device(device: int) -> int:
    """Set the current device; the one before it is returned."""
    if device >= 0:
        means_cuda(device)
    return 0


PROPERTIES = SimpleNamespace(
    name="simulated CUDA device",
    major=9,
    minor=0,
    total_memory=memory.TOTAL_BYTES,
    multi_processor_count=132,
    is_integrated=0,
    is_multi_gpu_board=0,
    warp_size=32,
    max_threads_per_block=1024,
    max_threads_per_multi_processor=2048,
    regs_per_multiprocessor=65536,
    shared_memory_per_block=49152,
    shared_memory_per_block_optin=232448,
    shared_memory_per_multiprocessor=233472,
    L2_cache_size=52428800,
    gcnArchName="",
    clock_rate=1980000,
    memory_clock_rate=2619000,
    memory_bus_width=5120,
    pci_bus_id=0,
    pci_device_id=0,
    pci_domain_id=0,
    uuid="00000000-0000-0000-0000-000000000000",
)
"""What ``torch.cuda.get_device_properties()`` says: the sizes of a GPU of compute capability 9.0."""


def _properties(device: Any = None) -> SimpleNamespace:
    forks.refuse_bad()
    _index(device)
    return PROPERTIES


def _index(device: Any, of: str = "device") -> int:
    """The index of the one GPU; whatever is no name of a device (None, a tensor) means the current one.

    Raises:
        AssertionError: there is no such GPU; as PyTorch words it.
        ValueError: no GPU is named; as PyTorch words it.
    """
    if _get_device_index(device, optional=True) != 0:
        raise AssertionError(f"Invalid {of} id")
    return 0


def _current_device() -> int:
    forks.refuse_bad()
    return 0


def _can_access_peer(device: Any, peer_device: Any) -> bool:
    """A GPU is no peer of itself, and there is no other."""
    return _index(device) != _index(peer_device, of="peer device")


def _cudart() -> SimpleNamespace:
    forks.refuse_bad()
    return runtime.CUDART


def _sleep(cycles: int) -> None:
    """``torch.cuda._sleep(cycles)``: a kernel that takes its time, of which there is none here.

    Raises:
        RuntimeError: no number of Python's is given; as PyTorch words it (torch/csrc/cuda/Module.cpp).
    """
    if type(cycles) is not int:
        raise RuntimeError("torch.cuda._sleep(): expected 'int'")


class NoGraph:
    """A graph records kernels, and a simulated device launches none. A class: annotations may name it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Refuse to be made.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError(
            "a simulated device captures no CUDA graphs: run the function eagerly here, or take a GPU"
        )


_GRAPHS: dict[str, Any] = {
    "is_current_stream_capturing": lambda: False,
    "graph_pool_handle": lambda: (0, 0),
    "CUDAGraph": NoGraph,
    "graph": NoGraph,
    "make_graphed_callables": NoGraph,
}

_NVTX: dict[str, Any] = {
    "range_push": lambda msg: 0,
    "range_pop": lambda: 0,
    "range_start": lambda msg: 0,
    "range_end": lambda range_id: None,
    "mark": lambda msg: None,
    "range": lambda msg, *args, **kwargs: nullcontext(),
}

_PROFILER: dict[str, Any] = {"start": lambda: None, "stop": lambda: None, "profile": nullcontext}

_BACKENDS: dict[str, Any] = {
    "is_built": versions.is_built,
    **preferences.ANSWERS,
}

_TENSOR_TYPES = {
    "FloatTensor": torch.float32,
    "DoubleTensor": torch.float64,
    "HalfTensor": torch.float16,
    "BFloat16Tensor": torch.bfloat16,
    "ByteTensor": torch.uint8,
    "CharTensor": torch.int8,
    "ShortTensor": torch.int16,
    "IntTensor": torch.int32,
    "LongTensor": torch.int64,
    "BoolTensor": torch.bool,
}

_ANSWERS: dict[str, Any] = {
    **memory.ANSWERS,
    **generators.ANSWERS,
    **_GRAPHS,
    **{name: tensor_type(name, dtype) for name, dtype in _TENSOR_TYPES.items()},
    "is_available": lambda: True,
    "is_initialized": lambda: not forks.is_bad(),
    "_is_in_bad_fork": forks.is_bad,
    "_lazy_call": lambda callable, **kwargs: callable(),
    "device_count": lambda: 1,
    "current_device": _current_device,
    "set_device": set_device,
    "_exchange_device": _exchange_device,
    # A function of its own, as in accelerator.py.
    "_maybe_exchange_device": lambda device: _exchange_device(device),
    "get_device_name": lambda device=None: _properties(device).name,
    "get_device_capability": lambda device=None: (_properties(device).major, _properties(device).minor),
    "get_device_properties": _properties,
    "get_arch_list": lambda: ["sm_90"],
    "get_gencode_flags": lambda: "",
    "can_device_access_peer": _can_access_peer,
    "is_bf16_supported": lambda including_emulation=True: True,
    "is_tf32_supported": lambda: True,
    "cudart": _cudart,
    "synchronize": streams.synchronize,
    "current_stream": streams.current_stream,
    "default_stream": streams.default_stream,
    "set_stream": streams.set_stream,
    "get_stream_from_external": lambda data_ptr, device=None: streams.Stream(stream_id=data_ptr),
    "current_blas_handle": lambda: 0,
    "current_solver_handle": lambda: 0,
    **debug_mode.ANSWERS,
    "_sleep": _sleep,
}
