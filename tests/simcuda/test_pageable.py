"""Copies that PyTorch doesn't wait for: the driver may, where the host's memory is pageable."""

import pytest
import torch

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture
def square():
    return torch.arange(9.0, device="cuda").view(3, 3)


@pytest.fixture
def later(events):
    """Whether the driver may wait in a copy that PyTorch doesn't wait for."""

    def later(copy):
        events.clear()
        copy()
        (event,) = events
        assert event.waits == 0
        assert event.may_wait == ("the driver may wait: the memory is pageable" in event.reason)
        return event.may_wait

    return later


@pytest.mark.parametrize(
    "target, may_wait",
    [
        (lambda: torch.empty(3, 3), True),
        (lambda: torch.empty(3, 3).pin_memory(), False),
        (lambda: torch.empty(3, 3, dtype=torch.float16).pin_memory(), False),
        (lambda: torch.empty(3, 3).pin_memory().t(), True),  # by way of a temporary
    ],
)
def test_the_driver_may_wait_for_a_copy_to_pageable_memory(square, later, target, may_wait):
    assert later(lambda: target().copy_(square, non_blocking=True)) == may_wait


def test_the_driver_may_wait_however_a_copy_to_pageable_memory_is_spelled(square, later):
    host = torch.empty(3, 3)
    assert later(lambda: torch._foreach_copy_([host], [square], non_blocking=True))
    assert later(lambda: host.untyped_storage().copy_(square.untyped_storage(), non_blocking=True))
    assert later(lambda: torch.from_numpy(host.numpy()).copy_(square, non_blocking=True))
    assert not later(lambda: torch.empty(3, 3).pin_memory().t().copy_(square.t(), non_blocking=True))
    assert not later(lambda: square.to("cpu", non_blocking=True))


def test_the_driver_may_wait_for_an_upload_from_pageable_memory(square, later):
    host = torch.arange(9.0).view(3, 3)
    assert later(lambda: square.copy_(host, non_blocking=True))
    assert later(lambda: square.copy_(host.pin_memory()[0], non_blocking=True))  # expanded first
    assert not later(lambda: square.copy_(host.pin_memory(), non_blocking=True))


def test_pinned_memory_goes_up_as_it_is_in_any_dense_order(later):
    images = torch.rand(2, 3, 4, 4).to(memory_format=torch.channels_last).pin_memory()
    assert not later(lambda: images.to("cuda", non_blocking=True))
    assert not later(lambda: images.contiguous().pin_memory().to("cuda", torch.float16, non_blocking=True))
    assert later(lambda: images.to("cuda", torch.float16, non_blocking=True))
    assert later(lambda: images[:, 0].to("cuda", non_blocking=True))
    assert later(lambda: images.to("cuda", non_blocking=True, memory_format=torch.contiguous_format))
