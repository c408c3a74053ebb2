"""``torch.use_deterministic_algorithms(True)`` refuses what CUDA can't do deterministically."""

import pytest
import torch
import torch.nn.functional as F

from syncscope.events import count

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.filterwarnings("ignore:The reduce argument of torch.scatter"),
    pytest.mark.filterwarnings("ignore:index_reduce"),
]

REFUSED = {
    "_bincount_cuda": lambda x, at: torch.bincount(at, x),
    "median CUDA with indices output": lambda x, at: x.median(0),
    "_histc_cuda with floating point input": lambda x, at: torch.histc(x),
    "index_reduce_cuda": lambda x, at: x.index_reduce_(0, at, x * 2, "prod"),
    "put_": lambda x, at: x.put_(at, x * 2),
    "scatter_reduce_cuda_prod_": lambda x, at: x.scatter_reduce_(0, at, x * 2, "prod"),
    "scatter_reduce_cuda_kernel": lambda x, at: x.scatter_(0, at, x * 2, reduce="multiply"),
    "nll_loss2d_forward_out_cuda_template": lambda x, at: F.nll_loss(
        x.view(1, 4, 1, 1), at[:1].view(1, 1, 1)
    ),
    "max_unpooling2d_forward_out": lambda x, at: F.max_unpool2d(x.view(1, 2, 2), at.view(1, 2, 2), 2),
}
TAKEN = {
    "bincount without weights": lambda x, at: torch.bincount(at),
    "median of all": lambda x, at: x.median(),
    "histc of integers": lambda x, at: torch.histc(at, 4, 0, 4),
    "scatter_reduce by sum": lambda x, at: x.scatter_reduce(0, at, x, "sum"),
    "scatter by adding": lambda x, at: x.scatter(0, at, x, reduce="add"),
    "kthvalue": lambda x, at: x.kthvalue(1),
    "cumsum": lambda x, at: x.cumsum(0),
}
BACKWARD = {
    "upsample_bicubic2d_backward_out_cuda": lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"),
    "upsample_bilinear2d_aa_backward_out_cuda": lambda x: F.interpolate(
        x, scale_factor=2, mode="bilinear", antialias=True
    ),
    "adaptive_avg_pool2d_backward_cuda": lambda x: F.adaptive_avg_pool2d(x, 3),
    "reflection_pad1d_backward_out_cuda": lambda x: F.pad(x[0], (1, 1), mode="reflect"),
    "embedding_bag_backward_cuda_max": lambda x: F.embedding_bag(
        torch.zeros(1, 2, dtype=torch.long, device=x.device), x[0, 0], mode="max"
    ),
    "upsample_linear1d_backward_out_cuda": lambda x: F.interpolate(x[0], scale_factor=2, mode="linear"),
    "grid_sampler_2d_backward_cuda": lambda x: F.grid_sample(
        x, torch.zeros(1, 4, 4, 2, device=x.device), align_corners=False
    ),
}


@pytest.fixture(autouse=True)
def deterministic():
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def given():
    return torch.ones(4, device="cuda"), torch.tensor([0, 1, 2, 3], device="cuda")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_deterministic_on_cuda_is_refused_and_does_nothing(events, name):
    x, at = given()
    events.clear()
    with pytest.raises(RuntimeError, match=f"^{name} does not have a deterministic implementation"):
        REFUSED[name](x, at)
    assert not count(events).waits


@pytest.mark.parametrize("name", REFUSED)
def test_with_warn_only_it_is_done_and_warned_of(name):
    torch.use_deterministic_algorithms(True, warn_only=True)
    with pytest.warns(UserWarning, match=f"^{name} does not have a deterministic implementation"):
        REFUSED[name](*given())


@pytest.mark.parametrize("name", TAKEN)
def test_what_has_a_deterministic_kernel_is_done(name):
    TAKEN[name](*given())


@pytest.mark.parametrize("name", BACKWARD)
def test_a_backward_that_adds_atomically_is_refused(name):
    x = torch.rand(1, 2, 4, 4, device="cuda", requires_grad=True)
    result = BACKWARD[name](x).sum()
    with pytest.raises(RuntimeError, match=f"^{name} does not have a deterministic implementation"):
        result.backward()


def test_the_host_is_left_as_it_is():
    assert torch.histc(torch.ones(4), 4, 0, 4).sum() == 4
