"""The face of ``torch.cuda`` while a simulated device is active in the calling thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch

from syncscope.simcuda import device as devices
from syncscope.simcuda.costs.table import Charge

_WAIT = Charge("wait", waits=1)
_lock = threading.Lock()
_shown = 0
_originals: dict[str, Any] = {}


def show() -> Callable[[], None]:
    """Let ``torch.cuda`` answer for simulated devices; the function returned takes one showing back."""
    global _shown
    with _lock:
        _shown += 1
        if _shown == 1:
            for name, answer in _ANSWERS.items():
                _originals[name] = getattr(torch.cuda, name)
                setattr(torch.cuda, name, _for_watched_threads(name, answer))
    return _hide


def _hide() -> None:
    global _shown
    with _lock:
        _shown -= 1
        if _shown == 0:
            for name, original in _originals.items():
                setattr(torch.cuda, name, original)
            _originals.clear()


def _for_watched_threads(name: str, answer: Any) -> Any:
    """``answer`` for threads that a simulated device watches, torch's own for all others."""
    original = _originals[name]
    if isinstance(answer, type):
        return answer

    def asked(*args: Any, **kwargs: Any) -> Any:
        return (original if devices.active() is None else answer)(*args, **kwargs)

    asked.__name__ = asked.__qualname__ = name
    return asked


def _wait(reason: str, spelling: str) -> None:
    device = devices.active()
    if device is not None:
        device.charge([_WAIT], op=spelling, why=reason)


def synchronize(device: Any = None) -> None:
    """``torch.cuda.synchronize()``: the host waits for the whole device."""
    _wait("the host waits for all work on the device (cudaDeviceSynchronize)", "torch.cuda.synchronize")


class Stream:
    """A stream of the simulated device, on which everything is done at once."""

    def __init__(self, device: Any = None, priority: int = 0, **others: Any) -> None:
        """A new stream."""
        self.device, self.priority = torch.device("cuda", 0), priority
        self.device_index = 0

    def synchronize(self) -> None:
        """The host waits for the stream."""
        _wait("the host waits for a stream (cudaStreamSynchronize)", "torch.cuda.Stream.synchronize")

    def wait_stream(self, stream: Stream) -> None:
        """The device, not the host, waits for another stream."""

    def wait_event(self, event: Event) -> None:
        """The device, not the host, waits for an event."""

    def record_event(self, event: Event | None = None) -> Event:
        """Mark this point of the stream."""
        return event or Event()

    def query(self) -> bool:
        """All work is done."""
        return True

    def __enter__(self) -> Stream:
        """Make this the current stream."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Make the stream before it the current one."""


class Event:
    """An event of the simulated device."""

    def __init__(self, enable_timing: bool = False, **others: Any) -> None:
        """A new event."""
        self.enable_timing = enable_timing

    def record(self, stream: Stream | None = None) -> None:
        """Mark this point of a stream."""

    def wait(self, stream: Stream | None = None) -> None:
        """The device, not the host, waits for the event."""

    def query(self) -> bool:
        """All work before the event is done."""
        return True

    def synchronize(self) -> None:
        """The host waits for the event."""
        _wait("the host waits for an event (cudaEventSynchronize)", "torch.cuda.Event.synchronize")

    def elapsed_time(self, end: Event) -> float:
        """No time passes on a simulated device.

        Raises:
            RuntimeError: always: a time would be made up.
        """
        raise RuntimeError("a simulated device measures no time: take elapsed_time on a GPU")


_DEFAULT_STREAM = Stream()


class _Nothing:
    """A context that changes nothing: there is one device and one stream at a time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take what ``torch.cuda.device`` and ``torch.cuda.stream`` take."""

    def __enter__(self) -> None:
        """Enter."""

    def __exit__(self, *exc: object) -> None:
        """Leave."""


_ANSWERS: dict[str, Any] = {
    "is_available": lambda: True,
    "is_initialized": lambda: True,
    "init": lambda: None,
    "device_count": lambda: 1,
    "current_device": lambda: 0,
    "set_device": lambda device: None,
    "get_device_name": lambda device=None: "simulated CUDA device",
    "get_device_capability": lambda device=None: (9, 0),
    "is_bf16_supported": lambda including_emulation=True: True,
    "synchronize": synchronize,
    "Stream": Stream,
    "Event": Event,
    "current_stream": lambda device=None: _DEFAULT_STREAM,
    "default_stream": lambda device=None: _DEFAULT_STREAM,
    "set_stream": lambda stream: None,
    "stream": _Nothing,
    "device": _Nothing,
    "empty_cache": lambda: None,
    "memory_allocated": lambda device=None: 0,
    "max_memory_allocated": lambda device=None: 0,
    "memory_reserved": lambda device=None: 0,
    "max_memory_reserved": lambda device=None: 0,
    "reset_peak_memory_stats": lambda device=None: None,
    "ipc_collect": lambda: None,
    "manual_seed": lambda seed: None,
    "manual_seed_all": lambda seed: None,
}
