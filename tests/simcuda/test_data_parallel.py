"""DistributedDataParallel over one process: gradients are gathered where the parameters are."""

import pytest
import torch
from torch import distributed, nn

pytestmark = pytest.mark.skipif(not distributed.is_available(), reason="a torch without torch.distributed")


@pytest.fixture
def group(tmp_path):
    where = f"file://{tmp_path}/store"
    distributed.init_process_group("gloo", init_method=where, rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(5, 3), nn.Linear(5, 3)

    def forward(self, x):
        return self.used(x)


def gradients(place, model, **options):
    torch.manual_seed(0)
    parallel = nn.parallel.DistributedDataParallel(model().to(place), **options)
    for _ in range(3):  # buckets are made anew after the first
        parallel(torch.ones(2, 5, device=place)).sum().backward()
    return [parameter.grad for parameter in parallel.parameters()]


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (lambda: nn.Linear(5, 3), {}),
        (lambda: nn.Linear(5, 3), {"gradient_as_bucket_view": True}),
        (Branching, {"find_unused_parameters": True}),
    ],
)
def test_gradients_are_those_of_the_cpu_and_on_the_device(model, options, group, device):
    there = gradients("cuda", model, **options)
    assert all(one is None or one.is_cuda for one in there)
    here = gradients("cpu", model, **options)
    assert not any(one is not None and one.is_cuda for one in here)
    assert [one is None or one.tolist() for one in there] == [one is None or one.tolist() for one in here]


def test_a_backward_copies_each_gradient_from_its_bucket_and_the_collective_is_unknown(group, device, events):
    parallel = nn.parallel.DistributedDataParallel(nn.Linear(5, 3).cuda(), device_ids=[0])
    x = torch.ones(2, 5, device="cuda")
    events.clear()
    parallel(x).sum().backward()
    assert sum(event.dtod for event in events) == 2
    assert [event.op for event in events if event.kind == "unknown"] == ["c10d::allreduce_"]


def test_which_parameters_are_in_use_is_noted_on_the_host_and_uploaded_each_time(group, device, events):
    parallel = nn.parallel.DistributedDataParallel(Branching().cuda(), find_unused_parameters=True)
    x = torch.ones(2, 5, device="cuda")
    events.clear()
    parallel(x).sum().backward()
    assert (sum(event.htod for event in events), sum(event.dtoh for event in events)) == (1, 1)
