"""Ways to wait without a read: every test here fails under ``no_syncs``."""

import numpy as np
import pytest
import torch

pytestmark = pytest.mark.no_syncs


@pytest.fixture
def x(syncscope_device):
    return torch.tensor([3.0, 1.0, 2.0], device=syncscope_device)


def test_synchronize(x):
    torch.cuda.synchronize()


def test_synchronize_the_device(x):
    torch.cuda.synchronize(x.device)


def test_accelerator_synchronize(x):
    torch.accelerator.synchronize()


def test_stream_synchronize(x):
    torch.cuda.current_stream().synchronize()


def test_own_stream_synchronize(x):
    torch.cuda.Stream().synchronize()


def test_event_synchronize(x):
    event = torch.cuda.Event()
    event.record()
    event.synchronize()


def test_tensor_of_a_list(x):
    torch.tensor([1.0, 2.0], device="cuda")


def test_tensor_of_a_number(x):
    torch.tensor(1.0, device="cuda")


def test_as_tensor_of_an_array(x):
    torch.as_tensor(np.ones(3), device="cuda")


def test_from_numpy(x):
    torch.from_numpy(np.ones(3)).cuda()


def test_cuda(x):
    torch.ones(3).cuda()


def test_to(x):
    torch.ones(3).to(x.device)


def test_to_another(x):
    torch.ones(3).to(x)


def test_new_tensor(x):
    x.new_tensor([1.0, 2.0])


def test_index_by_a_list(x):
    x[[0, 2]]


def test_index_by_a_cpu_tensor(x):
    x[torch.tensor([0, 2])]


def test_indexed_number(x):
    x[torch.zeros(1, dtype=torch.long, device=x.device)] = 3.0


def test_copy_from_the_host(x):
    x.copy_(torch.ones(3))


def test_module_to(x):
    torch.nn.Linear(3, 1).to(x.device)


def test_pinned_copy_that_is_waited_for(x):
    torch.ones(3).pin_memory().to(x.device)


def test_read(x):
    x.tolist()


def test_mask(x):
    x[x > 1]


def test_unique(x):
    x.unique()
