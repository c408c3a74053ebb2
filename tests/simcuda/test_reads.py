"""Each spelling of a host read is one event, with what was read and where."""

import linecache
import math
import operator

import numpy as np
import pytest
import torch

from syncscope.observe.scope import Scope
from syncscope.simcuda.simulation import SimulatedDevice

SCALAR = {
    "x0.item()": ("Tensor.item", "float32"),
    "int(x0)": ("Tensor.__int__", "float32"),
    "float(x0)": ("Tensor.__float__", "float32"),
    "bool(x0)": ("Tensor.__bool__", "float32"),
    "complex(x0)": ("Tensor.__complex__", "float32"),
    "i0.__index__()": ("Tensor.__index__", "int64"),
    "operator.index(i0)": ("Tensor.__index__", "int64"),
    "[10, 20][i0]": ("Tensor.__index__", "int64"),
    "range(i0)": ("Tensor.__index__", "int64"),
    "range(0, i0)": ("Tensor.__index__", "int64"),
    "torch.Size([i0])": ("Tensor.__index__", "int64"),
    "1 if x0 else 0": ("Tensor.__bool__", "float32"),
    "x0 and 1": ("Tensor.__bool__", "float32"),
    "x0 or 1": ("Tensor.__bool__", "float32"),
    "not x0": ("Tensor.__bool__", "float32"),
    "x0 == 2 and 1": ("Tensor.__bool__", "bool"),
    "[1 for _ in '_' if x0]": ("Tensor.__bool__", "float32"),
    "any(x > 1)": ("Tensor.__bool__", "bool"),
    "x0.is_nonzero()": ("Tensor.is_nonzero", "float32"),
    "2.0 in x": ("Tensor.__contains__", "bool"),
    "format(x0)": ("Tensor.__format__", "float32"),
    "f'{x0}'": ("Tensor.__format__", "float32"),
    "f'{x0:.2f}'": ("Tensor.__format__", "float32"),
    "'{}'.format(x0)": ("Tensor.__format__", "float32"),
    "'%d' % x0": ("Tensor.__int__", "float32"),
    "'%.3f' % x0": ("Tensor.__float__", "float32"),
    "math.sqrt(x0)": ("Tensor.__float__", "float32"),
    "math.isfinite(x0)": ("Tensor.__float__", "float32"),
    "x[i0:]": ("Tensor.__getitem__", "int64"),
    "x[:i0]": ("Tensor.__getitem__", "int64"),
    "x[i0]": ("Tensor.__getitem__", "int64"),
    "x[..., i0]": ("Tensor.__getitem__", "int64"),
    "x.topk(k=i0)": ("Tensor.topk", "int64"),
    "torch.topk(x, i0)": ("torch.topk", "int64"),
    "torch.zeros(i0)": ("torch.zeros", "int64"),
    "torch.arange(i0, device='cuda')": ("torch.arange", "int64"),
    "torch.full((2,), x0, device='cuda')": ("torch.full", "float32"),
    "torch.linspace(0, x0, 3, device='cuda')": ("torch.linspace", "float32"),
    "x.view(-1, i0)": ("Tensor.view", "int64"),
    "x.reshape(i0 * 4)": ("Tensor.reshape", "int64"),
    "x.sum(i0 - 1)": ("Tensor.sum", "int64"),
    "x.add(x, alpha=x0)": ("Tensor.add", "float32"),
    "x.roll(i0)": ("Tensor.roll", "int64"),
    "x.split(i0)": ("Tensor.split", "int64"),
    "torch.allclose(x, x + 0)": ("torch.allclose", "bool"),
    "torch.equal(x, x + 0)": ("torch.equal", "float32"),
}

VECTOR = {
    "x.tolist()": ("Tensor.tolist", (4,)),
    "x0.tolist()": ("Tensor.tolist", ()),
    "x.numpy(force=True)": ("Tensor.numpy", (4,)),
    "x.cpu()": ("Tensor.cpu", (4,)),
    "x.to('cpu')": ("Tensor.to", (4,)),
    "x.to(device='cpu')": ("Tensor.to", (4,)),
    "x.to(torch.device('cpu'), torch.float64)": ("Tensor.to", (4,)),
    "x.to(h)": ("Tensor.to", (4,)),
    "x[1:3].tolist()": ("Tensor.tolist", (2,)),
    "h.copy_(x)": ("Tensor.copy_", (4,)),
}

SIZE = {
    "x.nonzero()": "Tensor.nonzero",
    "x[x > 1]": "Tensor.__getitem__",
    "torch.where(x > 1)": "torch.where",
    "x.masked_select(x > 1)": "Tensor.masked_select",
    "torch.unique(x)": "torch.unique",
    "torch.argwhere(x)": "torch.argwhere",
}

SEVERAL = {
    "max(x)": 3,
    "min(x)": 3,
    "all(x > 0)": 4,
    "x[i0:t3]": 2,
    "torch.tensor([x0, x0])": 2,
    "torch.tensor([[x0, i0], [x0, i0]])": 4,
    "torch.zeros(i0, i0)": 2,
    "[int(v) for v in x]": 4,
    "[v.item() for v in x]": 4,
}

NONE = (
    "list(x)",
    "sum(x)",
    "a, b, c, d = x",
    "for v in x: pass",
    "list(zip(x, x))",
    "len(x)",
    "x.shape, x.dtype, x.device, x.numel()",
    "str(x.shape)",
    "hash(x)",
    "x0 == x0",
    "x is x0",
    "x.to('cuda')",
    "x.cuda()",
    "h.tolist()",
    "h[0].item()",
    "h.cpu()",
    "torch.where(x > 1, x, 0)",
    "x.clamp(min=1)",
    "x + h[0]",
    "-x0, abs(x0), x0 // 1",
    "[x0].index(x0)",
)


def recorded(line):
    """Run ``line`` as the second line of a file of its own."""
    events = []
    linecache.cache["<spelled>"] = (len(line), None, ["\n", line + "\n"], "<spelled>")
    code = compile("\n" + line + "\n", "<spelled>", "exec")
    with SimulatedDevice(events.append):
        x = torch.tensor([2.0, 1.0, 3.0, 4.0], device="cuda")
        names = {
            "torch": torch, "math": math, "operator": operator, "np": np,
            "x": x, "x0": x[0], "h": torch.zeros(4),
            "i0": torch.tensor(1, device="cuda"), "t3": torch.tensor(3, device="cuda"),
        }  # fmt: skip
        events.clear()
        exec(code, names)
    return events


def check_site(event, line):
    assert (event.site.file, event.site.line, event.site.text) == ("<spelled>", 2, line)


@pytest.mark.parametrize("line", SCALAR)
def test_a_scalar_read_is_one_event(line):
    (event,) = recorded(line)
    api, dtype = SCALAR[line]
    assert (event.kind, event.api, event.shape, event.dtype) == ("scalar_read", api, (), dtype)
    assert (event.dtoh, event.htod, event.dtod, event.waits) == (1, 0, 0, 1)
    check_site(event, line)


@pytest.mark.parametrize("line", VECTOR)
def test_a_vector_read_is_one_event(line):
    (event,) = recorded(line)
    api, shape = VECTOR[line]
    assert (event.kind, event.api, event.shape, event.dtype) == ("vector_read", api, shape, "float32")
    assert (event.dtoh, event.htod, event.dtod, event.waits) == (1, 0, 0, 1)
    check_site(event, line)


@pytest.mark.parametrize("line", SIZE)
def test_a_size_read_is_one_event(line):
    (event,) = recorded(line)
    assert (event.kind, event.api, event.shape) == ("size_read", SIZE[line], (4,))
    assert (event.dtoh, event.waits) == (1, 1)
    check_site(event, line)


@pytest.mark.parametrize("line", SEVERAL)
def test_each_read_of_several_is_an_event(line):
    found = recorded(line)
    assert len(found) == SEVERAL[line]
    assert {(event.kind, event.dtoh, event.waits) for event in found} == {("scalar_read", 1, 1)}
    for event in found:
        check_site(event, line)


@pytest.mark.parametrize("line", NONE)
def test_what_reads_nothing_is_no_event(line):
    assert [event for event in recorded(line) if event.waits or event.dtoh or event.kind == "unknown"] == []


def test_while_reads_once_a_turn(device, events):
    n = torch.tensor(3, device="cuda")
    events.clear()
    while n > 0:
        n -= 1
    assert [event.api for event in events] == ["Tensor.__bool__"] * 4


@pytest.mark.parametrize("line", ["repr(x)", "str(x)", "print(x, end='')", "'%s' % x", "f'{x}'"])
def test_printing_reads_many_times_at_one_line(line, capsys):
    found = recorded(line)
    assert len(found) > 4
    assert {event.site.line for event in found} == {2}
    assert all(event.dtoh == event.waits == 1 for event in found)


def test_a_printed_int_vector_is_read_element_by_element(device, events):
    x = torch.arange(10, device="cuda")
    events.clear()
    assert str(x) == "tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], device='cuda:0')"
    assert sum(event.kind == "scalar_read" for event in events) >= 10


@pytest.mark.filterwarnings("ignore:__array__ implementation")
@pytest.mark.parametrize("convert", [np.array, np.asarray, np.float32, torch.Tensor.numpy, np.from_dlpack])
def test_numpy_refuses_a_device_tensor(convert, device):
    x = torch.zeros(3, device="cuda")
    with pytest.raises(
        (TypeError, RuntimeError), match="can't convert cuda:0 device type tensor|Unsupported device"
    ):
        convert(x)


def test_numpy_takes_a_list_of_device_tensors_no_more(device):
    y = torch.tensor(2.0, device="cuda")
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        np.array([y, y])


def test_a_numpy_scalar_is_not_assigned(device):
    x = torch.zeros(3, device="cuda")
    with pytest.raises(TypeError, match="can't assign a numpy.float32"):
        x[1] = np.float32(1)


def test_numpy_by_force_is_a_copy(device):
    x = torch.zeros(3, device="cuda")
    x.numpy(force=True)[0] = 1
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", ["item", "tolist", "cpu", "__bool__", "nonzero"])
def test_a_method_that_the_user_replaced_is_called_once_and_seen(name, monkeypatch):
    own, calls = getattr(torch.Tensor, name), []
    monkeypatch.setattr(torch.Tensor, name, lambda self: calls.append(name) or own(self))
    with Scope() as scope:
        getattr(torch.ones(1, device="cuda"), name)()
    assert calls == [name]
    assert (scope.counts.host_reads, scope.events[0].api) == (1, f"Tensor.{name}")
