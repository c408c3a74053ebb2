"""Host tensors beside device tensors: refused as on CUDA, or taken as CUDA takes them."""

import pytest
import torch

from syncscope.events import count


@pytest.fixture
def names(device):
    return {
        "torch": torch,
        "x": torch.arange(4.0, device="cuda") + 1,
        "c": torch.arange(4.0),
        "c0": torch.tensor(2.0),
        "mask": torch.tensor([True, False, True, False]).cuda(),
        "cmask": torch.tensor([True, False, True, False]),
        "idx": torch.tensor([0, 2]).cuda(),
        "cidx": torch.tensor([0, 2]),
    }


TAKEN = [
    "x + c0", "c0 * x", "x.add_(c0)", "x ** c0", "torch.maximum(x, c0)", "torch.atan2(c0, x)",
    "x.masked_fill(mask, c0)", "x.index_fill(0, idx, c0)", "torch.lerp(x, x, c0)", "torch.addcmul(x, x, c0)",
    "torch._foreach_add([x], c0)", "torch._foreach_mul([x, x], [c0, c0])", "x[:2] * c0 + 1",
    "torch.is_same_size(x, c)", "c.is_set_to(x)", "x.resize_as_(c)", "torch.logical_and(x, c0)",
]  # fmt: skip

REFUSED = [
    "x + c", "c += x", "torch.clamp(x, c0)", "torch.lerp(x, c0, 0.5)", "torch.addcdiv(x, x, c0)",
    "torch.addcmul(x, c0, x)", "torch.logaddexp(x, c0)", "torch.equal(x, c)", "torch.take(x, cidx)",
    "x.masked_select(cmask)", "x.gather(0, cidx)", "x.index_fill_(0, cidx, 2.0)",
    "x.index_select(0, cidx[0])",
    "torch.cat([x, c])", "torch.stack([x[0], c0])", "torch.dot(x, c)", "torch.where(cmask, x, x)",
    "x[idx] = c[:2]", "c[idx] = x[:2]", "c[idx]", "x.scatter_(0, cidx, x)", "torch.add(x, x, out=c)",
    "torch._foreach_add([x], [c])", "torch.searchsorted(x, c)", "torch.isin(x, c)",
    "torch.meshgrid(x, c)", "torch.meshgrid([c, x], indexing='ij')", "torch.meshgrid(x, c0)",
    "torch.logical_and(c0, x)", "torch.logical_or(c0, x)", "torch.logical_xor(c0, x)",
]  # fmt: skip


@pytest.mark.parametrize("call", TAKEN)
def test_a_host_scalar_is_a_kernel_argument(names, events, call):
    events.clear()
    exec(call, names)
    c = count(events)
    assert (c.dtoh, c.htod, c.waits) == (0, 0, 0)


@pytest.mark.parametrize("call", REFUSED)
def test_cuda_refuses_and_so_do_we(names, call):
    with pytest.raises(RuntimeError, match="same device|either on cpu|cpu and cuda:0"):
        exec(call, names)


def test_the_message_names_the_argument_and_the_operator(names):
    with pytest.raises(RuntimeError) as error:
        exec("torch.clamp(x, c0)", names)
    assert str(error.value) == (
        "Expected all tensors to be on the same device, but found at least two devices, "
        "cuda:0 and cpu! (argument min of aten::clamp.Tensor is on cpu)"
    )


@pytest.mark.parametrize(
    "call, expected",
    [
        ("torch.where(mask, x, c0)", (0, 1, 0, 1)),
        ("c[idx] = 1.0", (1, 0, 0, 1)),
        ("c[cidx] = x[0]", (1, 0, 0, 1)),
        ("c[:2] = x[0]", (1, 0, 0, 1)),
        ("c.fill_(x[0])", (1, 0, 0, 1)),
        ("x.bernoulli_(c0 / 4)", (0, 1, 0, 1)),
        ("torch._foreach_copy_([x, x], [c, c])", (0, 2, 0, 2)),
        ("torch._foreach_copy_([c], [x])", (1, 0, 0, 1)),
        ("torch._foreach_copy_([x], [x + 1])", (0, 0, 0, 0)),
    ],
)
def test_where_cuda_crosses_the_border_it_is_counted(names, events, call, expected):
    events.clear()
    exec(call, names)
    c = count(events)
    assert (c.dtoh, c.htod, c.dtod, c.waits) == expected


@pytest.mark.parametrize("call", ["torch.histogram(x, 4)", "torch.histogramdd(x.view(2, 2), 2)"])
def test_an_operator_that_cuda_lacks_is_missing(names, call):
    with pytest.raises(NotImplementedError, match="with arguments from the 'CUDA' backend"):
        exec(call, names)


def test_indices_to_split_at_have_to_be_the_hosts(names):
    with pytest.raises(RuntimeError, match="to be on cpu, but it's on cuda:0"):
        exec("torch.tensor_split(x, idx)", names)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("c[idx] = x[:2]", (1, 0, 1)),
        ("c.index_put_((idx,), x[:2])", (1, 0, 1)),
        ("c.index_put((idx,), x[:2])", (1, 0, 1)),
        ("c[mask] = x[:2]", (2, 0, 2)),
        ("x.masked_fill(cmask, 0.0)", (0, 1, 0)),
        ("x.index_fill(0, cidx, 1.0)", (0, 1, 0)),
        ("x.put(cidx, x[:2])", (0, 1, 0)),
    ],
)
def test_what_cuda_did_before_it_refused_is_counted(names, events, call, expected):
    events.clear()
    with pytest.raises(RuntimeError):
        exec(call, names)
    c = count(events)
    assert (c.dtoh, c.dtod, c.waits) == expected
