"""Losses, recurrent networks and backward passes."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from syncscope.events import count


@pytest.fixture
def cost(device, events):
    def cost(call):
        events.clear()
        call()
        c = count(events)
        assert c.unknown_ops == 0
        return c.dtoh, c.htod, c.dtod, c.waits

    return cost


@pytest.fixture
def x(device):
    return (torch.arange(4.0, device="cuda") + 1).requires_grad_()


@pytest.mark.parametrize("name", ["max", "min", "median", "nanmedian"])
def test_the_gradient_of_an_extremum_does_not_wait(cost, x, name):
    loss = getattr(x, name)()
    assert cost(loss.backward) == (0, 0, 0, 0)


def test_the_gradient_of_a_mask_looks_for_its_indices_again(cost, x):
    mask = x.detach() > 2
    assert cost(x[mask].sum().backward) == (1, 0, 0, 1)


def test_the_gradient_of_a_list_of_indices_needs_no_second_upload(cost, x):
    assert cost(lambda: x[[0, 2]].sum().backward()) == (0, 1, 0, 1)


def test_the_gradient_of_a_product_looks_for_zeros(cost, x):
    assert cost(x.prod().backward) == (1, 0, 0, 1)


@pytest.mark.parametrize("where, reads", [("cuda", 4), ("cpu", 2)])
def test_ctc_loss_fetches_lengths_that_live_on_the_device(cost, device, where, reads):
    scores = torch.randn(6, 2, 5).cuda().log_softmax(2)
    targets = torch.randint(1, 5, (2, 3)).cuda()
    lengths = torch.tensor([6, 6]).to(where), torch.tensor([3, 2]).to(where)
    assert cost(lambda: F.ctc_loss(scores, targets, *lengths)) == (reads, 4, 0, reads + 4)


def test_the_lengths_of_a_packed_sequence_are_the_hosts(cost, device):
    padded = torch.zeros(4, 3, 2, device="cuda")
    assert cost(lambda: pack_padded_sequence(padded, torch.tensor([4, 3, 2]))) == (0, 0, 0, 0)
    packed = pack_padded_sequence(padded, torch.tensor([4, 3, 2]))
    assert packed.data.is_cuda and not packed.batch_sizes.is_cuda
    assert cost(lambda: pad_packed_sequence(packed)) == (0, 0, 3, 0)
    assert not pad_packed_sequence(packed)[1].is_cuda


def test_lengths_on_the_device_are_refused(device):
    padded = torch.zeros(4, 3, 2, device="cuda")
    with pytest.raises(RuntimeError, match="'lengths' argument should be a 1D CPU int64 tensor"):
        torch._VF._pack_padded_sequence(padded, torch.tensor([4, 3, 2]).cuda(), False)


def test_a_maximum_norm_of_an_embedding_sorts_the_indices(cost, device):
    table, rows = torch.ones(4, 5, device="cuda"), torch.tensor([3, 1, 2]).cuda()
    assert cost(lambda: F.embedding(rows, table)) == (0, 0, 0, 0)
    assert cost(lambda: F.embedding(rows, table, max_norm=1.0)) == (0, 0, 3, 0)


def test_batch_normalisation_copies_the_running_mean_in_evaluation(cost, device):
    layer, rows = nn.BatchNorm1d(5).cuda(), torch.ones(4, 5, device="cuda")
    assert cost(lambda: layer(rows)) == (0, 0, 0, 0)
    layer.eval()
    assert cost(lambda: layer(rows)) == (0, 0, 1, 0)


@pytest.mark.parametrize(
    "dtype, figures",
    [(torch.float32, (1, 0, 0, 1)), (torch.float16, (1, 0, 0, 1)), (torch.bfloat16, (0, 0, 0, 0))],
)
def test_a_grouped_product_fetches_where_the_groups_end(cost, device, dtype, figures):
    rows, matrices = (
        torch.ones(8, 16, device="cuda", dtype=dtype),
        torch.ones(2, 16, 16, device="cuda", dtype=dtype),
    )
    ends = torch.tensor([4, 8], device="cuda", dtype=torch.int32)
    assert cost(lambda: torch._grouped_mm(rows, matrices, offs=ends)) == figures
    assert cost(lambda: torch._grouped_mm(matrices, matrices)) == (0, 0, 0, 0)


@pytest.mark.parametrize(("rows", "enabled", "reads"), [(True, 1, 3), (True, 0, 1), (False, 1, 0)])
def test_an_observer_of_rows_asks_whether_to_quantise_and_checks_the_zero_points(
    cost, device, rows, enabled, reads
):
    number = 4 if rows else 1
    on = torch.tensor([1], device="cuda")
    given = (
        torch.rand(4, 8, device="cuda"), on, torch.tensor([enabled], device="cuda"),
        torch.zeros(number, device="cuda"), torch.ones(number, device="cuda"),
        torch.ones(number, device="cuda"), torch.zeros(number, device="cuda", dtype=torch.int32),
    )  # fmt: skip
    call = lambda: torch.fused_moving_avg_obs_fake_quant(*given, 0.1, 0, 255, 0, rows)  # noqa: E731
    assert cost(call) == (reads, 0, 0, reads)


def test_learned_quantisation_reads_scale_and_zero_point(cost, device):
    rows, scale, zero = torch.rand(4, 8, device="cuda"), torch.ones(1, device="cuda"), torch.zeros(1).cuda()
    assert cost(lambda: torch._fake_quantize_learnable_per_tensor_affine(rows, scale, zero, 0, 255)) == (
        2, 0, 0, 2
    )  # fmt: skip
    scales, zeros = torch.ones(4, device="cuda"), torch.zeros(4, device="cuda")
    learn = torch._fake_quantize_learnable_per_channel_affine
    assert cost(lambda: learn(rows, scales, zeros, 0, 0, 255)) == (2, 0, 0, 2)
