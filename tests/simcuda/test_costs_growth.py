"""Memory that grows: what it held is copied on the device, where it held anything."""

import pytest
import torch

from syncscope.events import count

pytestmark = pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")


@pytest.mark.parametrize(
    ("grow", "copies"),
    [
        (lambda x: x.resize_(9), 1),
        (lambda x: x[:2].resize_(9), 1),
        (lambda x: x[:0].resize_(9), 1),
        (lambda x: x.resize_as_(torch.ones(3, 3, device="cuda")), 1),
        (lambda x: x.resize_(2), 0),
        (lambda x: x[:2].resize_(4), 0),
        (lambda x: torch.empty(0, device="cuda").resize_(9), 0),
        (lambda x: x.untyped_storage().resize_(36), 1),
        (lambda x: x.untyped_storage().resize_(8), 1),
        (lambda x: x.untyped_storage().resize_(0), 0),
    ],
)
def test_a_resized_tensor_copies_what_it_held_where_its_memory_grows(device, events, grow, copies):
    x = torch.ones(4, device="cuda")
    events.clear()
    grow(x)
    found = count(events)
    assert (found.dtod, found.memcpy, found.waits) == (copies, copies, 0)


@pytest.mark.parametrize(
    ("size", "copies"), [(0, 0), (1, 1), (9, 0), (12, 0)], ids=["empty", "small", "fitting", "large"]
)
@pytest.mark.parametrize(
    "write",
    [
        lambda out: torch.add(torch.ones(3, 3, device="cuda"), 1, out=out),
        lambda out: torch.mm(torch.ones(3, 3, device="cuda"), torch.ones(3, 3, device="cuda"), out=out),
        lambda out: torch.cat([torch.ones(1, 9, device="cuda"), torch.ones(0, 9, device="cuda")], out=out),
    ],
    ids=["add", "mm", "cat"],
)
def test_an_out_argument_that_is_too_small_grows(device, events, write, size, copies):
    out = torch.ones(size, device="cuda")
    before = out.untyped_storage().nbytes()
    events.clear()
    write(out)
    assert sum(event.dtod for event in events if event.reason.startswith("memory that grows")) == copies
    assert out.untyped_storage().nbytes() >= before


def test_memory_of_the_host_is_no_business_of_the_device(device, events):
    torch.ones(4).resize_(9)
    torch.add(torch.ones(9), 1, out=torch.ones(2))
    assert events == []


@pytest.mark.parametrize(("size", "copies"), [(2, 1), (4, 1), (8, 2)])
def test_a_resized_copy_is_a_copy_that_may_grow(device, events, size, copies):
    x = torch.ones(4, device="cuda")
    torch.ops.aten.resize(x, [size])
    assert count(events).dtod == copies
