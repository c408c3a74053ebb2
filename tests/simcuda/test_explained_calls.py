"""What a user types after ``syncscope explain`` leads to what was meant, and to nothing beside it."""

import pytest

from syncscope.simcuda.explanations import lookup


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ('.to("cuda")', 'x.to("cuda")'),
        ('model.to(device="cuda:0")', 'x.to("cuda")'),
        ('torch.from_numpy(a).to("cuda")', 'x.to("cuda")'),
        ('.to("cpu")', "Tensor.tolist"),
        ("x.to(torch.float16)", "x.to(dtype)"),
        ("x.float()", "x.to(dtype)"),
        ("float(x.sum())", "Tensor.item"),
        ("bool((x > 0).any())", "if t:"),
        ("non_blocking=True", "non_blocking"),
        ("pinned", "non_blocking"),
        ("Memcpy DtoH (Device -> Pinned)", "dtoh"),
        ("Memcpy HtoD (Pageable -> Device)", "upload"),
        ("cudaStreamSynchronize", "wait"),
        ("max(x)", "max(t)"),
        ("x.max()", "x == y"),
        ("x > 0", "x == y"),
        ("len(x)", "x.shape"),
        ("torch.where(x > 0)", "torch.nonzero"),
        ("torch.where(c, x, y)", "torch.where(mask, x, number)"),
        ("torch.tensor([1, 2], device='cuda')", 'torch.tensor(list, device="cuda")'),
        ("x[cpu_index]", "x[[0, 2]]"),
        ("np.asarray(x)", "np.asarray(x)"),
        ("enumerate(x)", "for row in x"),
        ("dist.all_reduce", "torch.distributed"),
        ("state_dict", "torch.save"),
        ("triton", "unknown"),
    ],
)
def test_a_call_is_found_by_how_it_is_written(written, title):
    assert [one.names[0] for one in lookup.find(written)] == [title]
