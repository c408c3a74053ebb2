"""What reads and waits for nothing on the device: every test passes under both budgets."""

import copy
import logging
import os
import random
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
import torch.nn.functional as F

pytestmark = [pytest.mark.no_host_reads, pytest.mark.no_syncs]


@pytest.fixture
def x(syncscope_device):
    return torch.tensor([3.0, 1.0, 2.0], device=syncscope_device)


@pytest.fixture
def host():
    return torch.tensor([3.0, 1.0, 2.0])


def test_cpu_tensors_are_read_freely(x, host):
    y = x + 1
    assert host.tolist() == [3.0, 1.0, 2.0] and int(host[0]) == 3
    assert y.is_cuda


def test_cpu_masks(x, host):
    x + 1
    assert host[host > 1].numel() == 2


def test_cpu_numpy(x, host):
    x + 1
    assert host.numpy().sum() == 6


def test_cpu_print(x, host):
    x + 1
    print(host, f"{host[0]:.1f}")


def test_shape(x):
    assert x.shape == (3,)


def test_size(x):
    assert x.size(0) == 3 and len(x) == 3


def test_numel(x):
    assert x.numel() == 3


def test_dim(x):
    assert x.dim() == 1 and x.ndim == 1


def test_device(x):
    assert x.device.type == "cuda" and x.is_cuda and x.get_device() == 0


def test_dtype(x):
    assert x.dtype is torch.float32 and x.is_floating_point() and x.element_size() == 4


def test_contiguous(x):
    assert x.is_contiguous() and x.stride() == (1,) and x.storage_offset() == 0


def test_requires_grad(x):
    assert not x.requires_grad and x.is_leaf and x.grad is None


def test_identity(x):
    x + 1
    assert x is x and isinstance(x, torch.Tensor) and x is not None


def test_hash(x):
    x + 1
    assert x in {x} and {x: 1}[x] == 1


def test_range_of_the_length(x):
    assert [i for i in range(len(x))] == [0, 1, 2]


def test_integer_index(x):
    x[0], x[-1], x[1:], x[::2], x[None], x[..., 0]


def test_unpacking(x):
    a, b, c = x
    torch.stack([a, b, c])


def test_iterating(x):
    [v + 1 for v in x]


def test_unbind_and_split(x):
    x.unbind(), x.split(1), x.chunk(2), x.split([1, 2])


def test_index_by_a_device_tensor(x):
    x[torch.arange(2, device=x.device)]


def test_write_at_an_index(x):
    x[1:] = x[0]
    x.fill_(2.0)


def test_masked_fill(x):
    x[x > 1] = 0.0
    x.masked_fill_(x > 1, 1.0)


def test_where(x):
    torch.where(x > 1, x, 0.0)


def test_arithmetic(x):
    (x * 2 + 1 - x) / 3 @ x


def test_a_host_number_takes_part(x):
    x * torch.tensor(2.0)


def test_reductions(x):
    x.sum(), x.mean(), x.max(), x.argmax(), x.topk(2), x.sort(), x.cumsum(0)


def test_factories(x):
    torch.zeros(3, device="cuda"), torch.arange(3, device="cuda"), torch.rand(3, device="cuda")
    torch.zeros_like(x), x.new_zeros(3), torch.full((3,), 1.0, device="cuda")


def test_pinned_upload_without_waiting(x):
    torch.ones(3).pin_memory().to("cuda", non_blocking=True)


def test_pinned_cuda_without_waiting(x):
    torch.ones(3, pin_memory=True).cuda(non_blocking=True)


def test_copy_on_the_device(x):
    x.clone(), x.contiguous(), x.to("cuda"), x.half(), copy.deepcopy(x)
    torch.empty_like(x).copy_(x)


def test_cat_and_stack(x):
    torch.cat([x, x]), torch.stack([x, x])


def test_manual_seed(x):
    torch.manual_seed(0)
    torch.cuda.manual_seed_all(0)
    x + torch.rand(3, device=x.device)


def test_backward(x):
    y = x.clone().requires_grad_()
    (y * y).sum().backward()
    assert y.grad is not None


def test_optimizer(x):
    layer = torch.nn.Linear(3, 1, device="cuda")
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    layer(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


def test_module(x):
    model = torch.nn.Sequential(torch.nn.Linear(3, 3, device="cuda"), torch.nn.ReLU(), torch.nn.Dropout())
    model(x)


def test_functional(x):
    F.relu(x), F.softmax(x, 0), F.layer_norm(x, (3,)), F.one_hot(x.long(), 4), F.pad(x, (1, 1))


def test_attention(x):
    q = torch.rand(1, 1, 4, 8, device="cuda")
    F.scaled_dot_product_attention(q, q, q, is_causal=True)


def test_streams_and_events(x):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        y = x + 1
    event = torch.cuda.Event()
    event.record(stream)
    torch.cuda.current_stream().wait_event(event)
    y.record_stream(stream)


def test_memory_queries(x):
    x + 1
    assert torch.cuda.memory_allocated() > 0
    torch.cuda.reset_peak_memory_stats()


def test_device_queries(x):
    x + 1
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1 and torch.cuda.current_device() == 0
    torch.cuda.get_device_name()


def test_logging_a_shape(x, caplog):
    caplog.set_level(logging.INFO)
    logging.getLogger("model").info("shape %s on %s", tuple(x.shape), x.device)


def test_logging_below_the_level(x):
    logging.getLogger("model").debug("values %s", x + 1)


def test_printing_a_shape(x):
    print(x.shape, x.dtype, x.device)


def test_numpy_beside(x):
    x + 1
    assert np.ones(3).tolist() == [1.0, 1.0, 1.0]


def test_random_beside(x):
    x + random.choice([1, 2])


def test_a_thread_that_reads_cpu_tensors(x, host):
    thread = threading.Thread(target=host.tolist)
    thread.start()
    thread.join()
    x + 1


def test_a_process(x):
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    x + 1


def test_environment(x):
    os.environ.get("HOME"), x + 1


def test_views_share_memory(x):
    assert x.view(3).data_ptr() == x.data_ptr()


def test_meta_tensor(x):
    x + 1
    assert x.to("meta").device.type == "meta"


def test_repeat_interleave_of_a_known_size(x):
    torch.repeat_interleave(x, torch.ones(3, dtype=torch.long, device="cuda"), output_size=3)


def test_clip_grad(x):
    y = x.clone().requires_grad_()
    y.sum().backward()
    torch.nn.utils.clip_grad_norm_([y], 1.0)


def test_autocast(x):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        torch.outer(x, x)


def test_state_dict(x):
    layer = torch.nn.Linear(3, 1, device="cuda")
    layer.load_state_dict(layer.state_dict())
    layer(x)


@pytest.mark.parametrize("at", [0, 1])
def test_parametrised(x, at):
    assert x[at].shape == ()
