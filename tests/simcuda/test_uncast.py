"""What CUDA's autocast leaves alone and the CPU's doesn't; and capsules that leave Python."""

import pytest
import torch
import torch.nn.functional as F

from syncscope.events import count

pytestmark = pytest.mark.usefixtures("device")


@pytest.mark.parametrize("joined", [torch.cat, torch.stack, torch.concat])
def test_tensors_of_two_dtypes_are_joined_as_they_are(events, joined):
    x = torch.ones(4, device="cuda")
    parts = [x, x.half()]
    events.clear()
    with torch.autocast("cuda"):
        result = joined(parts)
    assert result.dtype == torch.float32
    assert (count(events).dtod, count(events).waits) == (1, 0)


@pytest.mark.parametrize("name", ["inv", "svd", "cholesky", "eigh", "lstsq", "matrix_rank", "cond", "pinv"])
def test_linear_algebra_of_halves_is_refused(events, name):
    matrix = torch.eye(3, device="cuda").half()
    given = (matrix, matrix) if name == "lstsq" else (matrix,)
    events.clear()
    with torch.autocast("cuda"), pytest.raises(RuntimeError):
        getattr(torch.linalg, name)(*given)
    assert not count(events).waits


def test_padding_keeps_halves():
    image = torch.ones(1, 2, 4, 4, device="cuda").half()
    with torch.autocast("cuda"):
        assert F.pad(image, (1, 1, 1, 1), mode="reflect").dtype == torch.float16


def test_the_host_is_cast_as_before():
    with torch.autocast("cpu"):
        assert torch.linalg.inv(torch.eye(3).bfloat16()).dtype == torch.float32


@pytest.mark.parametrize("capsule", [torch.utils.dlpack.to_dlpack, torch.Tensor.__dlpack__])
def test_memory_that_leaves_in_a_capsule_is_out_of_sight(events, capsule):
    x = torch.ones(3, device="cuda")
    made = torch.utils.dlpack.to_dlpack if "to_dlpack" in capsule.__name__ else capsule
    back = torch.from_dlpack(made(x))
    assert count(events).unknown_ops
    assert back.is_cuda


def test_torch_itself_takes_a_tensor_in_sight(events):
    assert torch.from_dlpack(torch.ones(3, device="cuda")).is_cuda
    assert not count(events).unknown_ops
