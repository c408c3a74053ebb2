"""The whole record of a run as JSON."""

from __future__ import annotations

from syncscope.runs import record
from syncscope.runs.record import Run


def render(run: Run) -> str:
    """The run as indented JSON with its ``schema_version``."""
    return record.encode(run).decode()
