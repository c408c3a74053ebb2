"""The address of device memory: unknown what becomes of it, unless the line itself says that nothing does."""

import sys
from types import SimpleNamespace

import numpy as np
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


def keys(x):
    seen, names = {x.data_ptr()}, {x.data_ptr(): x}
    seen.add(x.data_ptr())
    names[x.data_ptr()] = x
    names.setdefault(x.data_ptr(), x)
    return len(seen | {one.data_ptr() for one in [x]}) + len({one.data_ptr(): one for one in [x]})


def a_value(x):
    return {"x": x.data_ptr()}


def given_to_a_kernel(x):
    return SimpleNamespace(add=max).add(x.data_ptr(), 1)


def of_constant_memory(x):
    return x.const_data_ptr()


def of_a_storage(x):
    return x.untyped_storage().data_ptr()


def of_a_typed_storage(x):
    return x.storage().data_ptr()


def compared_storages(x):
    return x.untyped_storage().data_ptr() == x[1:].untyped_storage().data_ptr()


def printed(x):
    return f"{x.data_ptr()}"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 doesn't tell which call of a line it is")
@pytest.mark.parametrize("use", [same, aligned, masked, tested, among_others, keys, compared_storages])
def test_an_address_that_is_only_compared_goes_nowhere(x, events, use):
    use(x)
    assert events == []


GOES_ON = [
    passed_on,
    kept,
    offset,
    a_page,
    printed,
    a_value,
    given_to_a_kernel,
    of_a_storage,
    of_a_typed_storage,
]
if hasattr(torch.Tensor, "const_data_ptr"):
    GOES_ON.append(of_constant_memory)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("use", GOES_ON)
def test_an_address_that_goes_on_is_unknown(x, events, use):
    use(x)
    assert count(events).unknown_ops == 1


def test_where_there_is_no_source_an_address_is_unknown(x, events):
    exec("x.data_ptr() == 0", {"x": x})
    assert count(events).unknown_ops == 1


def test_a_storage_of_the_host_has_an_address_for_everybody(x, events):
    assert torch.ones(2).untyped_storage().data_ptr() > 0
    assert events == []


@pytest.mark.parametrize(
    "fetch", [lambda x: np.from_dlpack(x, device="cpu"), lambda x: x.__dlpack__(dl_device=(1, 0))]
)
def test_dlpack_to_the_host_fetches_the_tensor(x, events, fetch):
    fetch(x)
    c = count(events)
    assert (c.vector_reads, c.dtoh, c.waits, c.unknown_ops) == (1, 1, 1, 0)


def test_dlpack_to_the_host_is_refused_before_anything_is_copied(x, events):
    with pytest.raises(ValueError, match="copy=False"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="gradient"):
        x.requires_grad_().__dlpack__(dl_device=(1, 0))
    assert events == []
