"""PyTorch's own lists of what waits, from test_sync_warning in its test/test_torch.py."""

import pytest

SETUP = """
size = 4
x = torch.rand(size).cuda(); y = torch.rand(()).cuda()
ind = torch.randint(size, (3,)).cuda(); ind_cpu = ind.cpu()
repeats = torch.full((1,), 2).cuda()
mask = torch.randint(2, (size,)).bool().cuda(); mask_cpu = mask.cpu()
"""

NO_SYNC = (
    "x[mask] = 1.",
    "x[mask_cpu] = y",
    "x[ind] = y",
    "x[mask_cpu]",
    "x[ind]",
    "F.one_hot(ind, num_classes=size)",
    "torch.randperm(20000, device='cuda')",
    "torch.repeat_interleave(x, 2, output_size=2 * size)",
    "torch.repeat_interleave(x, repeats, output_size=2 * size)",
    "torch.any(y)",
)

SYNC = (
    "x[mask] = y",
    "x[ind_cpu] = y",
    "x[mask]",
    "x[ind_cpu]",
    "x.nonzero()",
    "if y: pass",
    "F.one_hot(ind)",
    "torch.repeat_interleave(x, repeats)",
)


@pytest.mark.parametrize("line", NO_SYNC)
def test_no_wait_where_pytorch_expects_no_sync(line, on_simulated_device):
    got = on_simulated_device(line, SETUP)
    assert (got.waits, got.unknown, got.raises) == (0, 0, "")


@pytest.mark.parametrize("line", SYNC)
def test_a_wait_where_pytorch_expects_a_sync(line, on_simulated_device):
    got = on_simulated_device(line, SETUP)
    assert got.waits > 0
    assert got.raises == ""
