"""Autograd, transforms, hooks, autocast and training on the simulated device."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

pytestmark = pytest.mark.usefixtures("device")


def apis(events):
    return [event.api for event in events if event.waits]


@pytest.fixture
def x(device, events):
    made = torch.tensor([1.0, 2.0, 3.0], device="cuda", requires_grad=True)
    events.clear()
    return made


def test_gradients_are_on_the_device_and_wait_for_nothing(x, events):
    (x * 2).sum().backward()
    assert x.grad.is_cuda
    assert x.grad.tolist() == [2, 2, 2]
    assert apis(events) == ["Tensor.tolist"]


@pytest.mark.parametrize("use", [lambda x, c: x + c, lambda x, c: c * x, lambda x, c: torch.mul(x, c)])
def test_the_gradient_of_a_host_scalar_is_fetched(use, x, events):
    c = torch.tensor(2.0, requires_grad=True)
    use(x, c).sum().backward()
    assert not c.grad.is_cuda
    (event,) = events
    assert (event.kind, event.dtoh, event.waits, event.shape) == ("vector_read", 1, 1, ())


def test_a_crossing_comes_back_the_other_way(x, events):
    (x.cpu() * 2).sum().backward()
    assert x.grad.is_cuda
    assert [(event.dtoh, event.htod) for event in events] == [(1, 0), (0, 1)]


class Doubling(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value):
        ctx.save_for_backward(value)
        assert value.is_cuda
        value.sum().item()
        return value * 2

    @staticmethod
    def backward(ctx, gradient):
        (value,) = ctx.saved_tensors
        assert value.is_cuda and gradient.is_cuda
        gradient.sum().item()
        return gradient * torch.full_like(value, 2) * torch.ones(3, device=gradient.device)


def test_a_function_of_ones_own(x, events):
    Doubling.apply(x).sum().backward()
    assert x.grad.is_cuda
    assert [(event.api, event.site.function.rpartition(".")[2]) for event in events] == [
        ("Tensor.item", "forward"),
        ("Tensor.item", "backward"),
    ]


def test_tensor_hooks_see_the_device(x, events):
    seen = []
    doubled = x * 2
    doubled.register_hook(lambda gradient: seen.append((gradient.device.type, gradient.sum().item())))
    doubled.sum().backward()
    assert seen == [("cuda", 3.0)]
    assert apis(events) == ["Tensor.item"]


def test_module_hooks_see_the_device():
    module, seen = nn.Linear(3, 2).cuda(), []
    module.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0].is_cuda))
    module.register_forward_hook(lambda module, inputs, output: seen.append(output.is_cuda))
    module.register_full_backward_hook(lambda module, into, outof: seen.append(outof[0].is_cuda))
    module(torch.ones(1, 3, device="cuda", requires_grad=True)).sum().backward()
    assert seen == [True] * 3
    assert module.weight.grad.is_cuda


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpointing(reentrant, x, events):
    checkpoint(
        lambda value: F.dropout(value.sin() * value.sum().item()), x, use_reentrant=reentrant
    ).sum().backward()
    assert x.grad.is_cuda
    assert apis(events) == ["Tensor.item"] * 2


@pytest.mark.parametrize("pin", [True, False])
def test_saving_on_the_host(pin, x, events):
    with torch.autograd.graph.save_on_cpu(pin_memory=pin):
        (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4, 6]
    waits = 0 if pin else 4
    assert sum(event.waits for event in events) == waits + 1
    assert sum(event.htod for event in events) == 2


def test_saved_tensor_hooks_see_the_device(x):
    seen = []

    def pack(value):
        seen.append(value.is_cuda)
        return value

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda value: value):
        (x * x).sum().backward()
    assert seen == [True, True]


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
@pytest.mark.parametrize(
    "transformed",
    [
        lambda f: torch.vmap(f),
        lambda f: torch.func.grad(lambda value: f(value).sum()),
        lambda f: torch.vmap(torch.func.grad(lambda value: f(value).sum())),
        lambda f: torch.func.jacrev(f),
        lambda f: torch.func.jacfwd(f),
        lambda f: lambda value: torch.func.jvp(f, (value,), (value,))[0],
        lambda f: lambda value: torch.func.vjp(f, value)[0],
        lambda f: torch.func.functionalize(f),
    ],
)
def test_transforms(transformed, events):
    def function(value):
        assert value.is_cuda
        assert value.device == torch.device("cuda", 0)
        return value.sin() * torch.ones((), device=value.device)

    assert transformed(function)(torch.ones(3, device="cuda")).is_cuda
    assert apis(events) == []


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
@pytest.mark.parametrize("there", ["cuda", "cpu"])
def test_crossings_inside_of_transforms_come_back(there):
    here = "cpu" if there == "cuda" else "cuda"
    x = torch.ones(2, device=here)

    def function(value):
        assert value.device.type == here
        there_too = value.to(there)
        assert there_too.device.type == there
        return (there_too**3).sum()

    assert torch.func.grad(function)(x).device.type == here
    assert torch.vmap(torch.func.grad(function))(x.expand(3, 2)).device.type == here
    assert torch.func.hessian(function)(x).tolist() == [[6, 0], [0, 6]]
    assert torch.func.hessian(function)(x).device.type == here
    assert {value.device.type for value in torch.func.jvp(function, (x,), (x,))} == {there}
    assert torch.vmap(function)(x.expand(3, 2)).device.type == there
    assert torch.func.functionalize(function)(x).device.type == there


def test_a_second_derivative_through_a_crossing(x, events):
    (first,) = torch.autograd.grad((x.cpu() ** 3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert first.is_cuda and second.is_cuda
    assert second.tolist() == [6, 12, 18]
    assert sum(event.dtoh for event in events) == 3
    assert sum(event.htod for event in events) == 2


def test_functional_call():
    module = nn.Linear(3, 2).cuda()
    parameters = dict(module.named_parameters())
    gradients = torch.func.grad(
        lambda p: torch.func.functional_call(module, p, torch.ones(1, 3, device="cuda")).sum()
    )
    assert {value.device.type for value in gradients(parameters).values()} == {"cuda"}


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_gradient_modes(mode, events):
    with mode():
        y = torch.ones(3, device="cuda") * 2
        assert y.is_cuda
        assert y[1:].sum().item() == 4
        assert y.cpu().tolist() == [2, 2, 2]
        assert not y.cpu().is_cuda
    assert apis(events) == ["Tensor.item", "Tensor.cpu", "Tensor.cpu"]


@pytest.mark.parametrize("foreach", [True, False])
@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.AdamW])
def test_a_training_step_waits_only_where_it_is_read(optimizer, foreach, events):
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).cuda()
    stepper = optimizer(module.parameters(), lr=0.1, foreach=foreach)
    inputs, target = torch.ones(5, 3, device="cuda"), torch.zeros(5, dtype=torch.int64, device="cuda")
    events.clear()
    for _ in range(2):
        loss = F.cross_entropy(module(inputs), target)
        stepper.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0, foreach=foreach)
        stepper.step()
    assert apis(events) == []
    loss.item()
    assert apis(events) == ["Tensor.item"]


def test_tensors_are_grouped_by_where_they_live():
    from torch.utils._foreach_utils import _group_tensors_by_device_and_dtype

    lists = [[torch.zeros(1, device="cuda"), torch.zeros(1), torch.zeros(2, device="cuda")]]
    groups = _group_tensors_by_device_and_dtype(lists, with_indices=True)
    found = {device.type: indices for (device, _), (_, indices) in groups.items()}
    assert found == {"cuda": [0, 2], "cpu": [1]}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_autocast_casts_as_on_cuda(dtype):
    module, inputs = nn.Linear(3, 2).cuda(), torch.ones(4, 3, device="cuda")
    with torch.autocast("cuda", dtype=dtype):
        output = module(inputs)
        assert output.dtype == dtype
        assert (inputs @ inputs.T).dtype == dtype
        assert output.softmax(-1).dtype == torch.float32
        assert F.layer_norm(output, (2,)).dtype == torch.float32
        assert output.exp().dtype == torch.float32
        assert output.sum().dtype == torch.float32
        assert F.relu(output).dtype == dtype
        assert (
            F.cross_entropy(output, torch.zeros(4, dtype=torch.int64, device="cuda")).dtype == torch.float32
        )
        with torch.autocast("cuda", enabled=False):
            assert module(inputs).dtype == torch.float32
        output.float().sum().backward()
    assert module.weight.grad.dtype == torch.float32
    assert module(inputs).dtype == torch.float32
    assert not torch.is_autocast_enabled("cuda")
    assert not torch.is_autocast_enabled("cpu")


def test_gradient_scaling(events):
    module = nn.Linear(3, 2).cuda()
    stepper, scaler = torch.optim.SGD(module.parameters(), lr=0.1), torch.amp.GradScaler("cuda")
    inputs = torch.ones(4, 3, device="cuda")
    events.clear()
    scaler.scale(module(inputs).sum()).backward()
    scaler.step(stepper)
    scaler.update()
    assert apis(events) == ["Tensor.item"]


def test_operands_on_two_devices_are_refused():
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.ones(3, device="cuda") + torch.ones(3)
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        nn.Linear(3, 2)(torch.ones(1, 3, device="cuda"))
