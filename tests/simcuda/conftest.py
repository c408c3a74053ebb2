import pytest

from syncscope.simcuda.simulation import SimulatedDevice


@pytest.fixture
def events():
    """What was recorded while the simulated device of this test was active."""
    return []


@pytest.fixture
def device(events):
    with SimulatedDevice(events.append) as device:
        yield device
