"""Which storages are remembered, and for how long."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from syncscope.simcuda.placement import Storages


def made(number):
    return [torch.empty(1).untyped_storage() for _ in range(number)]


def test_dead_storages_are_forgotten_and_living_ones_are_not():
    storages, alive = Storages(), made(100)
    for storage in alive:
        storages.add(storage)
    for _ in range(5000):
        storages.add(torch.empty(1).untyped_storage())
    assert len(storages) <= 2 * len(alive) + 1
    assert all(storage in storages for storage in alive)


@pytest.fixture
def hasty_threads():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_no_storage_is_lost_while_another_thread_forgets_the_dead(hasty_threads):
    storages = Storages()

    def add(_):
        alive = made(200)
        for storage in alive:
            storages.add(storage)
            storages.add(torch.empty(1).untyped_storage())
        return alive

    with ThreadPoolExecutor(4) as pool:
        alive = [storage for part in pool.map(add, range(8)) for storage in part]
    assert all(storage in storages for storage in alive)
