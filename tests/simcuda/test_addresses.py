"""The address of device memory: unknown what becomes of it, unless the line itself says that nothing does."""

import sys

import pytest
import torch

from syncscope.events import count

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture
def x(device, events):
    made = torch.ones(8, device="cuda")
    events.clear()
    return made


def same(x):
    return x.data_ptr() == x[1:].data_ptr()


def aligned(x):
    return x.data_ptr() % 16 == 0


def masked(x):
    return (x.data_ptr() & 15) == 0


def tested(x):
    if x.data_ptr():
        assert not (not x.data_ptr() or False)


def among_others(x):
    return x.data_ptr() in {1, 2}


def passed_on(x):
    return id(x.data_ptr())


def kept(x):
    address = x.data_ptr()
    return address % 16


def offset(x):
    return x.data_ptr() + 4


def a_page(x):
    return x.data_ptr() & ~4095


def a_key(x):
    return {x.data_ptr(): x}


def printed(x):
    return f"{x.data_ptr()}"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 doesn't tell which call of a line it is")
@pytest.mark.parametrize("use", [same, aligned, masked, tested, among_others])
def test_an_address_that_is_only_compared_goes_nowhere(x, events, use):
    use(x)
    assert events == []


@pytest.mark.parametrize("use", [passed_on, kept, offset, a_page, a_key, printed])
def test_an_address_that_goes_on_is_unknown(x, events, use):
    use(x)
    assert count(events).unknown_ops == 1


def test_where_there_is_no_source_an_address_is_unknown(x, events):
    exec("x.data_ptr() == 0", {"x": x})
    assert count(events).unknown_ops == 1
