"""Streams and events of the simulated device, on which everything is done at once."""

from __future__ import annotations

import itertools
import math
import threading
from functools import cache
from typing import Any

import torch
from torch.cuda._utils import _get_device_index

from syncscope.simcuda import forks, watch, watched
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.places import CUDA, means_cuda
from syncscope.simcuda.reasons import reason

_WAIT = Charge("wait", waits=1)
_SILENT_WAIT = Charge("wait", waits=1, silent=True)
_CUDA_TYPE = 1  # c10/core/DeviceType.h
_TORCH_STREAM, _TORCH_EVENT = torch.Stream, torch.Event
_HANDLE_BYTES = 64  # driver_types.h, CUDA_IPC_HANDLE_SIZE
_ids = itertools.count(1)

DEVICE = reason(
    "torch.cuda.synchronize",
    "torch.accelerator.synchronize",
    why="the host waits for all work on the device (cudaDeviceSynchronize)",
    source="torch/csrc/cuda/Module.cpp, THCPModule_cudaSynchronize; c10/cuda/CUDAFunctions.cpp, "
    "device_synchronize",
    figures="1 wait",
    instead="leave it out: a value that is read waits for itself; to take times, use events",
)
STREAM = reason(
    "torch.cuda.Stream.synchronize",
    why="the host waits for all work of a stream (cudaStreamSynchronize)",
    source="torch/csrc/cuda/Stream.cpp, THCPStream_synchronize",
    figures="1 wait",
    instead="other.wait_stream(stream): the device waits, not the host",
)
EVENT = reason(
    "torch.cuda.Event.synchronize",
    why="the host waits until an event is reached (cudaEventSynchronize)",
    source="torch/csrc/cuda/Event.cpp, THCPEvent_synchronize",
    figures="1 wait; nothing for an event that was never recorded",
    instead="stream.wait_event(event): the device waits, not the host; or event.query(), which asks "
    "without a wait",
)


def wait(spelling: str, why: str, charge: Charge = _SILENT_WAIT) -> None:
    """The host waits for the device: record it."""
    device = watch.active()
    if device is not None:
        device.charge([charge], why=why, spelling=spelling)


def synchronize(device: Any = None) -> None:
    """``torch.cuda.synchronize()``: the host waits for the whole device.

    Whatever is no name of a device (None, a tensor) means the current one.

    Raises:
        RuntimeError: there is no such GPU; as PyTorch words it.
        ValueError: no GPU is named; as PyTorch words it.
    """
    forks.refuse_bad()
    index = _get_device_index(device, optional=True)
    if index >= 0:
        means_cuda(index)
    wait("torch.cuda.synchronize", DEVICE.why)


class Stream(torch.Stream):
    """A stream; ``isinstance`` takes it for a ``torch.cuda.Stream``, which a CPU build can't make."""

    priority: int

    def __new__(
        cls, device: Any = None, priority: int = 0, *, stream_id: int | None = None, **others: Any
    ) -> Stream:
        """A new stream, or that of an id."""
        number = next(_ids) if stream_id is None else stream_id
        made: Stream = super().__new__(cls, stream_id=number, device_index=0, device_type=_CUDA_TYPE)
        made.priority = priority
        return made

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is left to do."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What ``isinstance`` is told."""
        return torch.cuda.Stream

    @property
    def cuda_stream(self) -> int:
        """The stream's handle."""
        return int(self.stream_id)

    _as_parameter_ = cuda_stream

    def synchronize(self) -> None:
        """The host waits for the stream."""
        wait("torch.cuda.Stream.synchronize", STREAM.why, _WAIT)

    def wait_stream(self, stream: Any) -> None:
        """The device, not the host, waits for another stream."""

    def wait_event(self, event: Any) -> None:
        """The device, not the host, waits for an event."""

    def record_event(self, event: Any = None) -> Any:
        """Mark this point of the stream."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def query(self) -> bool:
        """All work is done."""
        return True

    def is_capturing(self) -> bool:
        """No graph is ever captured."""
        return False

    def __enter__(self) -> Stream:
        """Make this the current stream."""
        self._outer = current_stream()
        set_stream(self)
        return self

    def __exit__(self, *error: object) -> None:
        """Make the stream before it the current one."""
        set_stream(self._outer)

    def __repr__(self) -> str:
        """Name it as torch does."""
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Event:
    """An event; ``isinstance`` takes it for a ``torch.cuda.Event`` and a ``torch.Event``."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, **others: Any
    ) -> None:
        """A new event."""
        self.enable_timing = enable_timing
        self.recorded = False
        self.device = CUDA

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What ``isinstance`` is told."""
        return _event_class()

    @property
    def event_id(self) -> int:
        """The event's handle; 0 before it was recorded."""
        return id(self) if self.recorded else 0

    cuda_event = event_id

    def ipc_handle(self) -> bytes:
        """What another process opens the event by: it would find nothing."""
        return bytes(_HANDLE_BYTES)

    def record(self, stream: Any = None) -> None:
        """Mark this point of a stream."""
        forks.refuse_bad()
        self.recorded = True

    def wait(self, stream: Any = None) -> None:
        """The device, not the host, waits for the event."""

    def query(self) -> bool:
        """All work before the event is done."""
        return True

    def synchronize(self) -> None:
        """The host waits for the event; one that was never recorded has no work before it."""
        if self.recorded:
            wait("torch.cuda.Event.synchronize", EVENT.why)

    def elapsed_time(self, end_event: Any) -> float:
        """Not a number: no time passes on a simulated device, and one that passes on the CPU would mislead.

        Raises:
            ValueError: an event takes no time, or wasn't recorded; as PyTorch words it.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if not (self.recorded and end_event.recorded):
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return math.nan


@cache
def _event_class() -> type:
    """A class that is both: a CPU build's ``torch.cuda.Event`` is no ``torch.Event``."""
    own = torch.cuda.Event
    return own if issubclass(own, _TORCH_EVENT) else type("Event", (own, _TORCH_EVENT), {})


def generic_stream(*args: Any, **kwargs: Any) -> torch.Stream:
    """``torch.Stream(...)``: of the simulated device where that is meant."""
    if kwargs.get("device_type", _CUDA_TYPE) != _CUDA_TYPE or not _means_cuda(args, kwargs):
        return _TORCH_STREAM(*args, **kwargs)
    return Stream(priority=kwargs.get("priority", 0), stream_id=kwargs.get("stream_id"))


def generic_event(*args: Any, **kwargs: Any) -> Any:
    """``torch.Event(...)``: of the simulated device where that is meant."""
    if not _means_cuda(args, kwargs):
        return _TORCH_EVENT(*args, **kwargs)
    return Event(enable_timing=kwargs.get("enable_timing", False))


def _means_cuda(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    device = args[0] if args else kwargs.get("device")
    return device is None or bool(means_cuda(device))


DEFAULT = Stream(stream_id=0)


class _Current(threading.local):
    """The current stream of this thread."""

    stream: Any = DEFAULT


_current = _Current()


def current_stream(device: Any = None) -> Any:
    """``torch.cuda.current_stream()``."""
    forks.refuse_bad()
    return _current.stream


def set_stream(stream: Any) -> None:
    """``torch.cuda.set_stream(stream)``."""
    if stream is not None:
        _current.stream = stream


def priority_range() -> tuple[int, int]:
    """``torch.cuda.Stream.priority_range()``: the least and the greatest."""
    return 0, -5


def default_stream(device: Any = None) -> Any:
    """``torch.cuda.default_stream()``."""
    return DEFAULT


_STREAM = watched.stand_in(_TORCH_STREAM, generic_stream)
_EVENT = watched.stand_in(_TORCH_EVENT, generic_event)


def show() -> watched.Undo:
    """Let the classes of streams and events make those of the simulated device, for watched threads."""
    undo = [
        watched.constructor(torch.cuda.Stream, Stream),
        watched.constructor(torch.cuda.Event, Event),
        watched.attribute(torch.cuda.Stream, "priority_range", staticmethod(priority_range)),
        watched.attribute(torch, "Stream", _STREAM),
        watched.attribute(torch, "Event", _EVENT),
    ]
    return lambda: [back() for back in undo]
