"""A sample on a GPU goes from an idle device to an idle device; the GPU is played here."""

from __future__ import annotations

from functools import partial

import pytest
import torch

from syncscope.latency.samplers import CudaSampler, HostSampler, Sample, examined


class Gpu:
    """Works off its queue while the host waits in ``synchronize``."""

    def __init__(self, clock) -> None:
        self.clock = clock
        self.queued = 0
        self.did: list[str] = []

    def launch(self, ns: int) -> None:
        """A kernel of ``ns``; launching it takes the host 5 ns."""
        self.did.append("call")
        self.clock.wait(5)
        self.queued += ns

    def synchronize(self) -> None:
        self.did.append("synchronize")
        self.clock.wait(self.queued)
        self.queued = 0

    def event(self, enable_timing: bool) -> Event:
        assert enable_timing
        return Event(self)


class Event:
    """Has the moment at which the device reaches it."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu = gpu

    def record(self) -> None:
        self.gpu.did.append("record")
        self.at = self.gpu.clock.time + self.gpu.queued

    def elapsed_time(self, end: Event) -> float:
        return (end.at - self.at) / 1e6


@pytest.fixture
def gpu(clock, monkeypatch: pytest.MonkeyPatch) -> Gpu:
    found = Gpu(clock)
    monkeypatch.setattr(torch.cuda, "synchronize", found.synchronize)
    monkeypatch.setattr(torch.cuda, "Event", found.event)
    return found


def test_the_caller_waits_for_the_device_and_not_for_what_was_before(gpu, clock) -> None:
    sampler = CudaSampler(clock)
    gpu.launch(1_000_000)
    gpu.did.clear()
    sample = sampler.sample(partial(gpu.launch, 300))
    assert (sample.host_ns, sample.device_ns) == (305, 305)
    assert gpu.did == ["synchronize", "record", "call", "record", "synchronize"]


def test_the_events_are_made_before_the_first_sample(gpu, clock) -> None:
    CudaSampler(clock)
    assert gpu.did == ["record", "record"]


@pytest.mark.parametrize(("on", "ns"), [("cpu", 0), ("cuda", 40)])
def test_what_a_sample_of_nothing_takes_is_measured_as_samples_are(gpu, clock, monkeypatch, on, ns) -> None:
    monkeypatch.setattr(gpu, "synchronize", lambda: clock.wait(40))
    monkeypatch.setattr(torch.cuda, "synchronize", gpu.synchronize)
    assert examined(on, clock, samples=3).overhead_ns == ns


def test_a_sample_on_the_cpu_has_no_device_time(clock) -> None:
    assert clock.sampler().sample(partial(clock.wait, 70)) == Sample(70, None, False)


def test_an_interruption_during_the_call_is_noticed(clock) -> None:
    interruptions = iter([3, 4])
    sampler = HostSampler(clock, lambda: next(interruptions))
    assert sampler.sample(lambda: None).interrupted


def test_freeing_what_a_call_returned_is_not_timed(clock) -> None:
    class Slow:
        def __del__(self) -> None:
            clock.wait(1_000)

    assert clock.sampler().sample(Slow).host_ns == 0
    assert clock.time == 1_000
