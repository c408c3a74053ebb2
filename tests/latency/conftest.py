"""A clock that stands still unless a call moves it."""

from __future__ import annotations

import pytest

from syncscope.latency.samplers import HostSampler


class FakeClock:
    """Time passes only in ``wait``."""

    def __init__(self) -> None:
        self.time = 0
        self.interruptions = 0

    def now_ns(self) -> int:
        return self.time

    def wait(self, ns: int) -> None:
        self.time += ns

    def sampler(self) -> HostSampler:
        return HostSampler(self, lambda: self.interruptions)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()
