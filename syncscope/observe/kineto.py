"""Facts read from a Kineto trace: the chrome trace that torch.profiler exports. Imports no torch.

The names are those of Kineto's ``libkineto/src``: ``output_json.cpp``, ``cupti_strings.cpp``,
``CuptiCbidRegistry.cpp``, ``RocprofActivity_inl.h``.
"""

from __future__ import annotations

import gzip
import re
import zlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

HOST_CALLS = frozenset({"cuda_runtime", "cuda_driver"})
"""Categories of calls into CUDA or HIP, on the host's timeline; ROCm's carry the same names."""

DEVICE_WORK = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
"""Categories of what the device did, on its own timeline."""

WAITS = frozenset({
    "cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaThreadSynchronize",
    "cuStreamSynchronize", "cuCtxSynchronize", "cuEventSynchronize",
    "hipStreamSynchronize", "hipDeviceSynchronize", "hipEventSynchronize",
    # Copies that return when they are done; on ROCm, PyTorch's blocking copies are hipMemcpyWithStream.
    "cudaMemcpy", "cudaMemcpy2D", "cudaMemcpy3D", "cudaMemcpyToSymbol", "cudaMemcpyFromSymbol",
    "hipMemcpy", "hipMemcpy2D", "hipMemcpy3D", "hipMemcpyWithStream",
    "hipMemcpyDtoH", "hipMemcpyHtoD", "hipMemcpyToSymbol", "hipMemcpyFromSymbol",
})  # fmt: skip
"""Calls that keep the host until the device has caught up."""

# A CUDA array is device memory, and PtoP is a copy between two devices.
_DIRECTIONS = {
    "HtoD": "htod", "HtoA": "htod", "DtoH": "dtoh", "AtoH": "dtoh",
    "DtoD": "dtod", "DtoA": "dtod", "AtoD": "dtod", "AtoA": "dtod", "PtoP": "dtod",
}  # fmt: skip

_MEMCPY = re.compile(r"Memcpy (\w+)")
_PER_THREAD_STREAM = re.compile(r"_pt(sz|ds)$")
_GZIP_MAGIC = b"\x1f\x8b"
_STEP = "ProfilerStep#"
_ATEN = "aten::"
_UNLINKED = -1


class UnusableTrace(Exception):
    """A file is no Kineto trace; the message says why and what was expected."""


class Arguments(msgspec.Struct, frozen=True):
    """Of an event's arguments, those that tell what it did.

    ``correlation`` links device work with the host call that launched it. ``shapes`` and ``dtypes`` are an
    operator's, with ``record_shapes`` one for each of its arguments, and as Kineto writes them.
    """

    correlation: int = _UNLINKED
    shapes: Any = msgspec.field(name="Input Dims", default=())
    dtypes: Any = msgspec.field(name="Input type", default=())


class TraceEvent(msgspec.Struct, frozen=True):
    """One event of a trace: its category (``cat``), start (``ts``) and duration (``dur``) in microseconds.

    ``pid`` and ``tid`` name the thread of a host event.
    """

    name: str = ""
    cat: str = ""
    ts: float = 0
    dur: float = 0
    pid: int | str = 0
    tid: int | str = 0
    args: Arguments = Arguments()


class _Trace(msgspec.Struct):
    traceEvents: list[TraceEvent]


_DECODER = msgspec.json.Decoder(_Trace)


@dataclass(frozen=True)
class DeviceActivity:
    """What a GPU was made to do: memcpys by direction, the host's explicit waits, kernels.

    ``other_copies`` are memcpys of no such direction (host to host, unknown), by Kineto's name for them.
    """

    dtoh: int = 0
    htod: int = 0
    dtod: int = 0
    waits: int = 0
    kernels: int = 0
    other_copies: dict[str, int] = field(default_factory=dict)

    @property
    def memcpy(self) -> int:
        """Copies of the three directions together."""
        return self.dtoh + self.htod + self.dtod


def read(path: Path) -> list[TraceEvent]:
    """The events of a saved trace, plain or gz-compressed.

    Raises:
        UnusableTrace: the file is not JSON, is cut off, or has no ``traceEvents``.
        OSError: it cannot be read.
    """
    content = path.read_bytes()
    try:
        text = gzip.decompress(content) if content.startswith(_GZIP_MAGIC) else content
        return _DECODER.decode(text).traceEvents
    except (msgspec.DecodeError, UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnusableTrace(
            f"{path} is no Kineto trace ({error}): give a .json or .json.gz that torch.profiler exported"
        ) from error


def steps(events: Iterable[TraceEvent]) -> list[TraceEvent]:
    """The host's ``ProfilerStep#i`` spans, in the order of time."""
    spans = [event for event in events if event.cat == "user_annotation" and event.name.startswith(_STEP)]
    return sorted(spans, key=lambda span: span.ts)


def within(events: Sequence[TraceEvent], spans: Sequence[TraceEvent]) -> list[TraceEvent]:
    """The events that belong to ``spans``, which follow one another without overlap.

    A host event belongs to the span in which it starts. Device work belongs to the span that launched it,
    however late it runs: it and the launching call carry the same correlation.
    """
    starts = [span.ts for span in spans]

    def starts_inside(event: TraceEvent) -> bool:
        place = bisect_right(starts, event.ts) - 1
        return place >= 0 and event.ts < spans[place].ts + spans[place].dur

    launches = {
        event.args.correlation for event in events if event.cat in HOST_CALLS and starts_inside(event)
    } - {_UNLINKED}

    def belongs(event: TraceEvent) -> bool:
        return event.args.correlation in launches if event.cat in DEVICE_WORK else starts_inside(event)

    return [event for event in events if belongs(event)]


def aten_calls(events: Iterable[TraceEvent], kernels: Collection[str] = ()) -> dict[str, int]:
    """Calls of each ATen operator, at every level of nesting, by its name without ``aten::`` and overload.

    What the CPU kernels of the operators in ``kernels`` call is left out: CUDA's kernels don't call it
    (the CPU's ``index_add_`` calls ``scatter_add_``).
    """
    counted: Counter[str] = Counter()
    kernels_run = _Nesting()
    for event in sorted(filter(_is_aten, events), key=lambda event: (event.ts, -event.dur)):
        if kernels_run.hold(event):
            continue
        name = event.name.removeprefix(_ATEN)
        counted[name] += 1
        if name in kernels:
            kernels_run.begin(event)
    return dict(sorted(counted.items()))


def heard_calls(events: Iterable[TraceEvent], kernels: Collection[str]) -> dict[str, int]:
    """As ``aten_calls``, counted as a scope does: where one overload calls another, that is one call."""
    running: defaultdict[str, _Nesting] = defaultdict(_Nesting)
    calls = []
    for event in sorted(events, key=lambda event: (event.ts, -event.dur)):
        if not running[event.name].hold(event):
            running[event.name].begin(event)
            calls.append(event)
    return aten_calls(calls, kernels)


class _Nesting:
    """What runs in each thread, of events that come by their begin."""

    def __init__(self) -> None:
        self._ends: dict[tuple[int | str, int | str], float] = {}

    def begin(self, event: TraceEvent) -> None:
        self._ends[event.pid, event.tid] = event.ts + event.dur

    def hold(self, event: TraceEvent) -> bool:
        """Whether ``event`` lies inside one that has begun in its thread."""
        return event.ts < self._ends.get((event.pid, event.tid), float("-inf"))


def _is_aten(event: TraceEvent) -> bool:
    return event.cat == "cpu_op" and event.name.startswith(_ATEN)


def device_activity(events: Iterable[TraceEvent]) -> DeviceActivity:
    """Copies, waits and kernels among ``events``."""
    tally: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for event in events:
        if event.cat == "gpu_memcpy":
            direction = _direction(event.name)
            if direction is None:
                others[event.name] += 1
            else:
                tally[direction] += 1
        elif event.cat == "kernel":
            tally["kernels"] += 1
        elif event.cat in HOST_CALLS and _PER_THREAD_STREAM.sub("", event.name) in WAITS:
            tally["waits"] += 1
    return DeviceActivity(**tally, other_copies=dict(others))


def _direction(memcpy: str) -> str | None:
    """``dtoh`` for ``Memcpy DtoH (Device -> Pinned)``, whatever memory is named in brackets."""
    kind = _MEMCPY.match(memcpy)
    return _DIRECTIONS.get(kind[1]) if kind else None
