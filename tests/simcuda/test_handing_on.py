"""Code that asks whether a call is overridden takes the path that it takes on a GPU."""

import pytest
import torch
from torch import nn, overrides
from torch.overrides import handle_torch_function, has_torch_function_unary

from syncscope.events import count


class Mine(torch.Tensor):
    pass


def overridable(x):
    if has_torch_function_unary(x):
        return handle_torch_function(overridable, (x,), x)
    return x.cpu()


def test_nobody_overrides_a_plain_tensor(device):
    x = torch.ones(2, device="cuda")
    assert not overrides.has_torch_function((x, nn.Parameter(x)))
    assert not overrides.has_torch_function_unary(x)
    assert not overrides.has_torch_function_variadic(x, x)


def test_subclasses_and_modes_of_the_users_do(device):
    x = torch.ones(2, device="cuda")
    assert overrides.has_torch_function((x, x.as_subclass(Mine)))
    with torch.device("cuda"):
        assert overrides.has_torch_function_unary(x)


def test_a_function_that_can_be_overridden_is_heard_within(device, events):
    x = torch.ones(2, device="cuda")
    events.clear()
    overridable(x)
    assert (count(events).dtoh, count(events).waits) == (1, 1)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_transformer_encoder_makes_nested_tensors_of_padded_ones(device, events):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, device="cuda")
    encoder = nn.TransformerEncoder(layer, 2, mask_check=False).eval()
    x = torch.ones(2, 3, 8, device="cuda")
    padding = torch.tensor([[False, False, True], [False, False, False]]).cuda()
    events.clear()
    with torch.no_grad():
        encoder(x, src_key_padding_mask=padding)
    c = count(events)
    assert (c.size_reads, c.dtoh) == (1, 1)
    assert c.waits >= 1


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
def test_torchscript_compiles_modules_that_ask(device):
    torch.jit.script(nn.MultiheadAttention(8, 2))


def test_tensors_are_made_where_torch_functions_are_off(device, events):
    with torch._C.DisableTorchFunction():
        made = torch.ones(2, device="cuda")
    assert made.is_cuda
    assert count(events).unknown_ops == 1
