"""What syncscope adds to pytest. Idle it costs nothing: torch is imported by the fixture alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from syncscope import __version__

if TYPE_CHECKING:
    from syncscope.observe.scope import Scope


def pytest_report_header() -> str:
    """Name the version beside pytest's own, so that a log says what looked at the tests."""
    return f"syncscope: {__version__}"


@pytest.fixture
def syncscope_observe() -> Iterator[Scope]:
    """A scope around the whole test, in which ``cuda`` is a simulated device.

    ``assert syncscope_observe.counts.host_reads == 0`` at the test's end says that its code made the host
    wait for no value.
    """
    from syncscope.observe.scope import Scope

    with Scope() as scope:
        yield scope
