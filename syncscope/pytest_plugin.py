"""What syncscope adds to pytest. Idle it costs nothing: it imports no torch."""

from __future__ import annotations

from syncscope import __version__


def pytest_report_header() -> str:
    """Name the version beside pytest's own, so that a log says what looked at the tests."""
    return f"syncscope: {__version__}"
