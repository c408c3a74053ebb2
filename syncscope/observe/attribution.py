"""Which operator of a Kineto trace made the host call CUDA or HIP. Imports no torch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from syncscope.observe.kineto import DEVICE_WORK, HOST_CALLS, DeviceActivity, TraceEvent, device_activity

NO_OPERATOR = TraceEvent()
"""What stands for the code outside of all operators."""


@dataclass(frozen=True)
class OperatorCall:
    """One call of an ``operator`` that called the GPU itself, not through others.

    ``around`` are the operators that it ran under, outermost first; ``caused`` its calls into CUDA or HIP and
    the device work that they launched.
    """

    operator: TraceEvent
    around: tuple[TraceEvent, ...]
    caused: list[TraceEvent]

    @property
    def activity(self) -> DeviceActivity:
        """The copies, waits and kernels of this call."""
        return device_activity(self.caused)


def operator_calls(events: Iterable[TraceEvent]) -> list[OperatorCall]:
    """The operators in which host calls were made, and what each caused; outside of all, ``NO_OPERATOR``.

    A host call belongs to the innermost operator that was running in its thread when it began.
    """
    threads: dict[tuple[int | str, int | str], list[TraceEvent]] = defaultdict(list)
    launched: dict[int, list[TraceEvent]] = defaultdict(list)
    for event in events:
        if event.cat == "cpu_op" or event.cat in HOST_CALLS:
            threads[event.pid, event.tid].append(event)
        elif event.cat in DEVICE_WORK:
            launched[event.args.correlation].append(event)
    found: dict[int, OperatorCall] = {}
    for thread in threads.values():
        for call, running in _with_operators(thread):
            operator = running[-1] if running else NO_OPERATOR
            made = found.setdefault(id(operator), OperatorCall(operator, running[:-1], []))
            made.caused.extend([call, *launched[call.args.correlation]])
    return list(found.values())


def _with_operators(thread: list[TraceEvent]) -> Iterator[tuple[TraceEvent, tuple[TraceEvent, ...]]]:
    """Each host call of a thread, and the operators that were running when it began, outermost first."""
    running: list[TraceEvent] = []
    for event in sorted(thread, key=lambda event: (event.ts, -event.dur)):
        while running and running[-1].ts + running[-1].dur <= event.ts:
            running.pop()
        if event.cat == "cpu_op":
            running.append(event)
        else:
            yield event, tuple(running)
