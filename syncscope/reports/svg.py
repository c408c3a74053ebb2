"""The terminal report as a picture."""

from __future__ import annotations

import io

from rich.console import Console

from syncscope.comparison.results import Comparison
from syncscope.reports.terminal import print_comparison

_COLUMNS = 110


def render(comparison: Comparison) -> str:
    """The report as it stands in a terminal of 110 columns, as SVG."""
    console = Console(
        record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    print_comparison(comparison, console)
    return console.export_svg(title=f"syncscope: {comparison.old.label} → {comparison.new.label}")
