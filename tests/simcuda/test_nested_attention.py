"""Attention on nested tensors: the fused kernels of CUDA, which the CPU lacks, with true values."""

import pytest
import torch
import torch.nn.functional as F

from syncscope.events import count

pytestmark = [
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors"),
    pytest.mark.filterwarnings("ignore:.*torch.jit.script"),
]


def parts(dtype=torch.float32, width=8):
    generator = torch.Generator().manual_seed(0)
    return [torch.rand(length, 2, width, generator=generator).to(dtype) for length in (3, 5)]


def nested(layout, of, wants=False):
    made = torch.nested.nested_tensor(of, layout=layout, device="cuda", requires_grad=wants)
    return made, made.transpose(1, 2)


def attended(one, **options):
    return F.scaled_dot_product_attention(*[one.transpose(0, 1)[None]] * 3, **options)[0].transpose(0, 1)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("layout", "uploads"), [(torch.jagged, 0), (torch.strided, 2)])
def test_each_part_attends_to_itself(device, events, layout, uploads, dtype, causal):
    _, query = nested(layout, parts(dtype))
    events.clear()
    output = F.scaled_dot_product_attention(query, query, query, is_causal=causal)
    counts = count(events)
    assert (counts.dtoh, counts.htod, counts.dtod, counts.waits) == (0, uploads, 0, uploads)
    assert not counts.unknown_ops
    assert output.is_cuda
    for found, one in zip(output.transpose(1, 2).unbind(), parts(dtype), strict=True):
        expected = attended(one.float(), is_causal=causal).to(dtype)
        torch.testing.assert_close(
            found.cpu(), expected, atol=1e-2 if dtype != torch.float32 else 1e-6, rtol=0.02
        )


@pytest.mark.parametrize(
    ("layout", "dtype"),
    [(torch.jagged, torch.float32), (torch.jagged, torch.bfloat16), (torch.strided, torch.bfloat16)],
)
def test_gradients_are_those_of_each_part(device, layout, dtype):
    leaf, query = nested(layout, parts(dtype), wants=True)
    output = F.scaled_dot_product_attention(query, query, query).transpose(1, 2)
    sum((one.float() ** 2).sum() for one in output.unbind()).backward()
    for found, one in zip(leaf.grad.unbind(), parts(dtype), strict=True):
        plain = one.float().requires_grad_()
        (attended(plain) ** 2).sum().backward()
        torch.testing.assert_close(
            found.cpu().float(), plain.grad, atol=0.05 if dtype != torch.float32 else 1e-5, rtol=0.05
        )


def test_dropped_weights_are_dropped_in_backward_too(device):
    leaf, query = nested(torch.jagged, [torch.ones(4, 1, 8)], wants=True)
    output = F.scaled_dot_product_attention(query, query, query, dropout_p=0.5)
    output.values().sum().backward()
    # All weights are 1/4 and all values 1: what comes back to the values is the sum of the weights kept.
    assert leaf.grad.values().sum().item() == pytest.approx(output.values().sum().item())


@pytest.mark.parametrize("width", [6, 8])
def test_what_no_fused_kernel_takes_is_left_to_torch(device, width):
    of = parts(torch.float64 if width == 8 else torch.float32, width)
    query, _ = nested(torch.strided, [one.transpose(0, 1).contiguous() for one in of])
    output = F.scaled_dot_product_attention(query, query, query)
    assert output.is_cuda
    for found, one in zip(output.unbind(), of, strict=True):
        torch.testing.assert_close(found.cpu().transpose(0, 1), attended(one))
