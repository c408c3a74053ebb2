"""What CUDA computes and the CPU has no kernel for, or refuses: the values are those of the definition."""

import pytest
import torch
import torch.nn.functional as F

pytestmark = pytest.mark.usefixtures("device")


def qkv(*shape):
    return (torch.randn(shape, device="cuda") for _ in range(3))


@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention_of_a_batch_is_attention(causal):
    query, key, value = qkv(2, 5, 3, 8)
    output = torch.ops.aten._flash_attention_forward(query, key, value, None, None, 5, 5, 0.0, causal, False)[
        0
    ]
    expected = F.scaled_dot_product_attention(
        *(one.transpose(1, 2) for one in (query, key, value)), is_causal=causal
    )
    torch.testing.assert_close(output, expected.transpose(1, 2))


def test_flash_attention_of_sequences_of_several_lengths_is_that_of_each():
    query, key, value = qkv(6, 3, 8)
    lengths = torch.tensor([0, 2, 6], dtype=torch.int32, device="cuda")
    together = torch.ops.aten._flash_attention_forward(
        query, key, value, lengths, lengths, 4, 4, 0.0, False, False
    )
    for start, end in ((0, 2), (2, 6)):
        parts = (one[None, start:end] for one in (query, key, value))
        alone = torch.ops.aten._flash_attention_forward(
            *parts, None, None, end - start, end - start, 0.0, False, False
        )
        torch.testing.assert_close(together[0][start:end], alone[0][0])
        torch.testing.assert_close(together[1][:, start:end], alone[1][0])
    assert together[0].is_cuda


def test_integers_are_counted_in_bins():
    counts = torch.histc(torch.tensor([0, 1, 1, 3], device="cuda"), bins=4, min=0, max=3)
    assert counts.tolist() == [1, 2, 0, 1]


def test_weights_that_are_no_distribution_are_no_error_of_the_host():
    drawn = torch.multinomial(torch.zeros(4, device="cuda"), 2)
    assert drawn.shape == (2,)
    assert drawn.is_cuda


def test_a_mask_of_bytes_takes_a_value_of_the_device():
    x = torch.zeros(4, device="cuda")
    x[torch.tensor([1, 0, 1, 0], dtype=torch.uint8, device="cuda")] = torch.ones((), device="cuda")
    assert x.tolist() == [1, 0, 1, 0]


def test_a_value_of_another_dtype_is_refused_as_by_the_kernel():
    x = torch.zeros(4, device="cuda")
    with pytest.raises(RuntimeError, match="destination dtypes match"):
        x[x == 0] = torch.ones((), device="cuda", dtype=torch.int64)


@pytest.mark.parametrize(
    "write",
    [
        lambda host, x: host.slice_scatter(x[:2], 0, 0, 2),
        lambda host, x: host.select_scatter(x[0], 0, 0),
        lambda host, x: host.index_put((torch.tensor([0]),), x[0]),
        lambda host, x: torch.ops.aten.copy(host, x),
    ],
)
def test_what_is_copied_and_written_stays_where_it_was(write):
    host, x = torch.zeros(4), torch.ones(4, device="cuda")
    assert not write(host, x).is_cuda
    assert (host.cuda().slice_scatter(torch.ones(2), 0, 0, 2)).is_cuda


def test_an_expanded_tensor_cant_be_pinned_and_a_transposed_one_keeps_its_order():
    assert torch.zeros(2, 3).t().pin_memory().stride() == (1, 3)
    with pytest.raises(RuntimeError, match="more than one element"):
        torch.zeros(3).expand(2, 3).pin_memory()
