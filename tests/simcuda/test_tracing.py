"""Tracers inside a scope: what they write a graph of runs, or is said to be unknown; nothing breaks."""

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from syncscope.events import count

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.filterwarnings("ignore:.*torch.jit", "ignore:.*is deprecated", "ignore::DeprecationWarning"),
]


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x).relu() * 2


def exported(layer, x):
    return torch.export.export(layer, (x,)).module()


def strictly_exported(layer, x):
    return torch.export.export(layer, (x,), strict=True).module()


TRACERS = {
    "export": exported,
    "strict export": strictly_exported,
    "make_fx": lambda layer, x: make_fx(layer)(x),
    "make_fx, fake": lambda layer, x: make_fx(layer, tracing_mode="fake", _allow_non_fake_inputs=True)(x),
    "make_fx, symbolic": lambda layer, x: make_fx(
        layer, tracing_mode="symbolic", _allow_non_fake_inputs=True
    )(x),
    "symbolic_trace": lambda layer, x: torch.fx.symbolic_trace(layer),
    "jit.trace": lambda layer, x: torch.jit.trace(layer, x),
    "compile, eager": lambda layer, x: torch.compile(layer, backend="eager"),
    "compile, aot_eager": lambda layer, x: torch.compile(layer, backend="aot_eager"),
}


@pytest.mark.parametrize("place", ["cpu", "cuda"])
@pytest.mark.parametrize("trace", TRACERS.values(), ids=TRACERS)
def test_what_was_traced_computes_the_same_where_its_input_is(trace, place):
    layer, x = Layer().to(place), torch.ones(2, 3, device=place)
    traced = trace(layer, x)(x)
    assert traced.device == x.device
    assert torch.equal(traced.cpu(), layer(x).cpu())


def test_a_fake_mode_has_shapes_and_no_values():
    with FakeTensorMode():
        x = torch.ones(4, 3, device="cuda")
        y = nn.Linear(3, 2, device="cuda")(x).to("cuda").cuda()
        assert (x + 1).shape == (4, 3)
        assert y.shape == (4, 2)
        assert y.requires_grad
        with pytest.raises(Exception, match="_local_scalar_dense"):
            y.sum().item()


def test_it_is_noted_that_fake_tensors_are_the_cpus(device):
    with FakeTensorMode():
        torch.ones(3, device="cuda")
    assert [note for note in device.notes if note.startswith("fake tensors")]


def test_a_fake_made_after_a_device_tensor_is_unknown(events):
    x = torch.ones(3, device="cuda")
    events.clear()
    assert FakeTensorMode().from_tensor(x).shape == (3,)
    (event,) = events
    assert (event.kind, event.api) == ("unknown", "torch.export")


def test_a_transfer_that_a_traced_function_will_lack_is_unknown(events):
    torch.jit.trace(lambda x: x.cuda() + 1, torch.ones(3), check_trace=False)
    assert count(events).unknown_ops == 1


def test_the_scope_goes_on_after_a_trace(events):
    exported(Layer().cuda(), torch.ones(2, 3, device="cuda"))
    events.clear()
    torch.ones(3, device="cuda").sum().item()
    assert [event.kind for event in events] == ["scalar_read"]


def test_dynamo_can_be_reset(device):
    torch._dynamo.reset()


def test_torch_itself_knows_what_it_was_built_with():
    assert torch.backends.cuda.is_built()
    assert torch.backends.cuda.__name__ == "torch.backends.cuda"


WRITTEN = {
    "factory": (lambda a: torch.zeros(4, device="cuda"), (0, 0, 0)),
    "beside": (lambda a: a + torch.zeros(4, device="cuda"), (0, 0, 0)),
    "to the host": (lambda a: a.cpu() * 2, (1, 0, 1)),
    "and back": (lambda a: (a.cpu() * 2).cuda(), (1, 1, 2)),
    "like": (lambda a: torch.zeros_like(a) + 1, (0, 0, 0)),
}


@pytest.mark.parametrize(("function", "figures"), WRITTEN.values(), ids=WRITTEN)
def test_a_graph_of_make_fx_copies_and_waits_as_its_code_does(function, figures, events):
    x = torch.ones(4, device="cuda")
    graph = make_fx(function)(x)
    events.clear()
    result = graph(x)
    counted = count(events)
    assert (counted.dtoh, counted.htod, counted.waits, counted.unknown_ops) == (*figures, 0)
    assert result.device == function(x).device
    assert torch.equal(result.cpu(), function(x).cpu())
