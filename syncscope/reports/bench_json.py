"""The benchmark itself, raw samples and all, as JSON."""

from __future__ import annotations

from syncscope.bench import record
from syncscope.bench.record import Bench


def render(bench: Bench) -> str:
    """What ``syncscope report`` reads again."""
    return record.encode(bench).decode()
