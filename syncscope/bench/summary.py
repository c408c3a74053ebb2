"""What the rows say together, for each kind of machine by itself."""

from __future__ import annotations

from collections.abc import Sequence

from syncscope.bench.record import Machine, Row, Summary
from syncscope.latency import worth
from syncscope.latency.record import Latency

Kind = tuple[str, str, str]


def summaries(rows: Sequence[Row]) -> list[Summary]:
    """One summary for each kind of machine; none where nothing was timed."""
    kinds = dict.fromkeys(_kind(row.machine) for row in rows if row.latency)
    return [_summary([row for row in rows if row.latency and _kind(row.machine) == kind]) for kind in kinds]


def _kind(machine: Machine) -> Kind:
    """What has to be alike for rows to be pooled."""
    return machine.device, machine.name, machine.torch


def _summary(rows: Sequence[Row]) -> Summary:
    from syncscope.latency import statistics

    ratios = [latency.speedup for latency in _latencies(rows)]
    machine = rows[0].machine
    return Summary(
        machine=machine.name,
        device=machine.device,
        rows=len(rows),
        geometric_mean=statistics.geometric_mean(ratios),
        geometric_mean_interval=statistics.geometric_mean_interval(ratios),
        median=statistics.median(ratios),
        median_interval=statistics.median_interval(ratios),
        worth=_worth(rows),
    )


def _worth(rows: Sequence[Row]) -> worth.Worth | None:
    points = [
        (row.removed, row.latency.saved_ns / 1e3) for row in rows if row.latency and row.removed is not None
    ]
    return worth.fitted([removed for removed, _ in points], [saved for _, saved in points])


def _latencies(rows: Sequence[Row]) -> list[Latency]:
    return [row.latency for row in rows if row.latency]
