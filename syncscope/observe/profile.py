"""Complete calls of a subject under torch.profiler (Kineto). Nothing is timed in this run."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from syncscope.observe import kineto
from syncscope.subjects import Unusable

Inputs = TypeVar("Inputs")

_LOG_LEVEL = "KINETO_LOG_LEVEL"
_ABOVE_EVERY_LEVEL = "6"
_SECOND_PROFILER = "the subject starts a torch.profiler of its own, which ends the one around it: take it out"


class ProfileFailed(Unusable):
    """torch.profiler gave no usable record; the message says why and what to do."""


@dataclass(frozen=True)
class Profile:
    """What torch.profiler saw inside ``calls`` complete calls; the making of inputs is not in it.

    ``aten`` has the calls of each ATen operator by its name without ``aten::``, at every level of nesting,
    on the CPU without what its kernels call. ``heard`` has those that a scope hears as well: on a GPU neither
    what kernels call. ``device`` is None where no device was watched: its figures are then unknown, not zero.
    """

    calls: int
    aten: dict[str, int]
    heard: dict[str, int]
    device: kineto.DeviceActivity | None = None


def profile_calls(
    prepare: Callable[[int], Inputs],
    call: Callable[[Inputs], object],
    calls: int,
    *,
    cuda: bool = False,
    trace: Path | None = None,
    kernels: Collection[str] = (),
) -> Profile:
    """Profile ``call(prepare(i))`` for ``i`` in ``range(calls)``, each call in a span ``ProfilerStep#i``.

    ``prepare`` makes fresh inputs outside the span. With ``cuda`` the device's copies, waits and kernels are
    recorded too. ``trace`` is a file to keep the trace in, gz-compressed where its name ends in ``.gz``;
    HTA's TraceDiff compares folders, so old's and new's trace belong in a folder each.

    Raises:
        ProfileFailed: a profiler runs already, the subject starts one, or Kineto saw no call into CUDA.
        OSError: ``trace`` cannot be written.
    """
    with tempfile.TemporaryDirectory(prefix="syncscope-") as folder:
        exported = Path(folder) / "trace.json"
        # With a GPU, Kineto's errors have to be seen.
        with nullcontext() if cuda else _quiet_kineto():
            _record(prepare, call, calls, cuda, exported)
        events = kineto.read(exported)
        spans = kineto.steps(events)
        _check_that_calls_were_seen(len(spans), calls)
        if cuda:
            _check_that_device_was_seen(events)
        if trace is not None:
            keep(exported.read_bytes(), trace)
    inside = kineto.within(events, spans)
    return Profile(
        calls=calls,
        aten=kineto.aten_calls(inside, () if cuda else kernels),
        heard=kineto.heard_calls(inside, kernels),
        device=kineto.device_activity(inside) if cuda else None,
    )


def keep(trace: bytes, path: Path) -> None:
    """Write an exported trace to ``path`` for HTA: whole or not at all, missing folders are made."""
    content = with_rank(trace)
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(gzip.compress(content, compresslevel=6) if path.suffix == ".gz" else content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def with_rank(trace: bytes) -> bytes:
    """The trace with a rank, by which HTA tells traces apart: it searches the text for ``"rank": 0``."""
    return trace.replace(b"{", b'{\n  "distributedInfo": {"rank": 0},', 1)


def _record(
    prepare: Callable[[int], Inputs], call: Callable[[Inputs], object], calls: int, cuda: bool, exported: Path
) -> None:
    # torch.profiler.profile is this class and an import of torch._inductor, slower than a whole profile.
    from torch.autograd import profiler

    if profiler._is_profiler_enabled:
        raise ProfileFailed("a torch.profiler runs already and a process can have only one: stop it first")
    with profiler.profile(use_device="cuda" if cuda else None, use_kineto=True) as recorder:
        for step in range(calls):
            inputs = prepare(step)
            with profiler.record_function(f"ProfilerStep#{step}"):
                call(inputs)
        # A profiler started inside a call ends this one, and exporting an ended one crashes the process.
        ended_early = not profiler._is_profiler_enabled
    if ended_early:
        raise ProfileFailed(_SECOND_PROFILER)
    recorder.export_chrome_trace(str(exported))


def _check_that_calls_were_seen(recorded: int, calls: int) -> None:
    if recorded != calls:
        raise ProfileFailed(f"{recorded} of {calls} calls were recorded: {_SECOND_PROFILER}")


def _check_that_device_was_seen(events: list[kineto.TraceEvent]) -> None:
    # The profiler synchronizes before it stops, so that at least this call is in every trace of a GPU.
    if not any(event.cat in kineto.HOST_CALLS for event in events):
        raise ProfileFailed(
            "torch.profiler recorded no call into CUDA, not even its own: Kineto's messages say why "
            "(often missing rights to the GPU's counters, or another tool that holds CUPTI)"
        )


@contextmanager
def _quiet_kineto() -> Iterator[None]:
    """Keep Kineto from writing a line to stderr at each start and stop.

    It reads the level once, at the first profile of a process; a level that the user has set is left alone.
    """
    if _LOG_LEVEL in os.environ:
        yield
        return
    os.environ[_LOG_LEVEL] = _ABOVE_EVERY_LEVEL
    try:
        yield
    finally:
        os.environ.pop(_LOG_LEVEL, None)
