"""The whole record as JSON: what ``syncscope report`` reads back."""

from __future__ import annotations

from syncscope.comparison import results
from syncscope.comparison.results import Comparison


def render(comparison: Comparison) -> str:
    """The comparison as indented JSON with its ``schema_version``."""
    return results.encode(comparison).decode()
