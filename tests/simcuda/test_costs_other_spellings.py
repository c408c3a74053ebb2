"""Operators in less usual spellings: out=, gaps between elements, integers, sparse and nested tensors."""

import pytest
import torch

from syncscope.events import count

NAMES = compile(
    """
import torch, torch.nn as nn, torch.nn.functional as F
x = torch.arange(4.0, device="cuda") + 1
X = torch.arange(20.0, device="cuda").view(4, 5)
i = torch.tensor([3, 1, 2, 1]).cuda()
c = torch.arange(4.0); c0 = torch.tensor(2.0)
eye = torch.eye(4, device="cuda")
entries = torch.sparse_coo_tensor(torch.tensor([[0, 1, 0], [1, 0, 1]]).cuda(), x[:3], (2, 2))
square = torch.eye(2, device="cuda")
rows, columns = square.to_sparse_csr(), square.to_sparse_csc()
nested = torch.nested.nested_tensor([torch.ones(2, 3, device="cuda"), torch.ones(4, 3, device="cuda")])
""",
    "<names>",
    "exec",
)


pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def names(device):
    names = {}
    exec(NAMES, names)
    return names


@pytest.fixture
def cost(names, events):
    """(dtoh, htod, dtod, waits) of one line."""

    def cost(line):
        events.clear()
        exec(line, names)
        c = count(events)
        assert c.unknown_ops == 0
        return c.dtoh, c.htod, c.dtod, c.waits

    return cost


@pytest.mark.parametrize(
    "line, copies",
    [
        ("x.sort()", 3), ("X.sort(1)", 2), ("X[:1].sort(1)", 3),
        ("X[:, 0].sort()", 1), ("X[:, 1:].sort(1)", 0), ("torch.zeros(20000, device='cuda')[::2].sort()", 0),
    ],
)  # fmt: skip
def test_a_sort_copies_by_memcpy_only_what_has_no_gaps(cost, line, copies):
    assert cost(line) == (0, 0, copies, 0)


def test_the_mode_of_a_long_slice_waits_at_each_step(cost):
    assert cost("torch.ones(2048, device='cuda').mode()") == (0, 0, 0, 0)
    assert cost("torch.ones(3000, device='cuda').mode()") == (6, 2, 1, 13)
    assert cost("torch.ones(2, 3000, device='cuda').bool().mode()") == (4, 4, 1, 10)


@pytest.mark.parametrize(
    "line, expected",
    [
        ("torch.sort(x, out=(torch.empty(0, device='cuda'), i))", (0, 0, 3, 0)),
        ("torch.isin(i, i[:1], out=torch.empty(0, dtype=torch.bool, device='cuda'))", (0, 0, 1, 0)),
    ],
)
def test_what_is_written_to_out_costs_what_it_costs_without(cost, line, expected):
    assert cost(line) == expected


def test_a_sorter_is_checked_by_the_host(cost):
    assert cost("torch.searchsorted(x, x)") == (0, 0, 0, 0)
    assert cost("torch.searchsorted(x, x, sorter=i - 1)") == (2, 0, 0, 2)
    assert cost("torch.searchsorted(x, 2.0, sorter=i - 1)") == (2, 0, 0, 2)


@pytest.mark.parametrize(
    "line, expected",
    [
        ("torch.searchsorted(x, x, sorter=i + 9)", (2, 2)),
        ("torch.linalg.eig(eye * float('nan'))", (1, 1)),
        ("torch.linalg.inv(torch.zeros(2, 2, 2, device='cuda'))", (2, 2)),
    ],
)
def test_what_was_read_before_a_refusal_is_counted(names, events, line, expected):
    events.clear()
    with pytest.raises(RuntimeError):
        exec(line, names)
    assert (count(events).dtoh, count(events).waits) == expected


@pytest.mark.parametrize("line", ["i @ i", "torch.mm(i[:, None], i[None])", "F.linear(i[None], i[None])"])
def test_cuda_multiplies_no_integers(names, line):
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        exec(line, names)


def test_a_histogram_of_integers_is_made(cost, names):
    assert cost("h = torch.histc(i, 3, 1, 3)") == (0, 0, 0, 0)
    assert cost("torch.histc(i, 3)") == (2, 0, 0, 2)
    assert (names["h"].tolist(), names["h"].dtype) == ([2, 1, 1], torch.int64)


@pytest.mark.parametrize(
    "line, error, message",
    [
        ("x.grad = c", RuntimeError, "attempting to assign a gradient with device type 'cpu'"),
        ("x.requires_grad_().mul(2).backward(c)", RuntimeError, "expected device cuda:0 but got cpu"),
        ("torch.linalg.lstsq(eye, eye, driver='gelsd')", RuntimeError, "other than `gels`"),
        ("torch.histc(x.half(), 3)", RuntimeError, "HalfTensor is not supported"),
        ("torch.equal(entries, entries)", NotImplementedError, "'CUDA' backend"),
        ("with torch.autocast('cuda'): F.binary_cross_entropy(x / 9, x / 9)", RuntimeError, "unsafe to"),
        ("torch.nested.nested_tensor_from_jagged(X, torch.tensor([0, 4]))", AssertionError, "same device"),
        ("torch.sparse_coo_tensor(i[None], c, (4,))", RuntimeError, "same device"),
        ("torch.quantile(x, torch.tensor([0.5]))", RuntimeError, "same device"),
        ("torch.linalg.svd(x)", RuntimeError, "at least 2 dimensions"),
    ],
)  # fmt: skip
def test_what_cuda_refuses_is_refused(names, line, error, message):
    with pytest.raises(error, match=message):
        exec(line, names)


def test_a_gradient_of_the_same_side_is_taken(names):
    exec("x.grad = x * 2; c.grad = c * 2; x.grad = None", names)
    assert names["c"].grad.tolist() == [0.0, 2.0, 4.0, 6.0]


def test_a_gradient_that_is_one_number_of_the_host_goes_up(cost, names):
    assert cost("X.requires_grad_().sum().backward(torch.tensor(1.0))") == (0, 1, 0, 1)
    assert names["X"].grad.is_cuda


def test_a_fused_optimizer_takes_a_learning_rate_of_the_host(cost):
    cost("p = nn.Parameter(x); p.sum().backward()")
    line = "torch.optim.{}([p], lr=torch.tensor(0.1), fused=True).step()"
    for name in ("Adam", "AdamW", "SGD"):
        assert cost(line.format(name))[3] == 0


@pytest.mark.parametrize(
    "line, expected",
    [
        ("entries.abs()", (1, 0, 3, 5)),
        ("square @ entries", (1, 0, 7, 5)),
        ("square @ rows", (0, 1, 6, 1)),
        ("columns @ square", (0, 1, 6, 1)),
        ("torch.sparse_csr_tensor([0, 1, 2], [0, 1], [1., 2.], (2, 2), device='cuda')", (0, 3, 0, 3)),
        ("torch.sparse_coo_tensor((2, 2), device='cuda')", (0, 0, 0, 0)),
        ("square.to_sparse(layout=torch.sparse_csr)", (2, 0, 0, 2)),
    ],
)
def test_sparse_tensors_wait_where_entries_are_joined_or_put_in_order(cost, line, expected):
    assert cost(line) == expected


@pytest.mark.parametrize("line", ["nested + 1", "torch.zeros_like(nested)", "nested.transpose(1, 2)"])
def test_the_sizes_of_nested_parts_are_the_hosts(cost, line):
    assert cost(line) == (0, 0, 0, 0)


def test_a_condition_of_the_host_goes_up_in_the_gradient_of_a_power(cost):
    assert cost("x.requires_grad_().pow(c0).sum().backward()") == (0, 1, 0, 1)


@pytest.mark.parametrize(
    "line, copies",
    [("F.unfold(X[None, None], 2)", 1), ("F.unfold(X[None, None, :, :4], 2, stride=2)", 0)],
)
def test_patches_that_outgrow_their_input_are_copied(cost, line, copies):
    assert cost(line) == (0, 0, copies, 0)


def test_matrices_that_are_not_square_wait_for_magma_unless_cusolver_is_preferred(cost):
    assert cost("torch.linalg.lu_factor_ex(X)") == (0, 0, 0, 3)
    cost("torch.backends.cuda.preferred_linalg_library('cusolver')")
    assert cost("torch.linalg.lu_factor_ex(X)") == (0, 0, 0, 0)


def test_lu_without_pivots_multiplies_to_the_matrix(names):
    exec("_, lower, upper = torch.linalg.lu(eye + 1, pivot=False)", names)
    assert torch.allclose((names["lower"] @ names["upper"]).cpu(), torch.eye(4) + 1)


def test_fused_attention_is_that_of_the_formula(cost, names):
    made = "q = torch.randn(6, 2, 8, device='cuda'); ends = torch.tensor([0, 2, 6]).int().cuda()"
    exec(made, names)
    line = "out, *_ = torch.ops.aten._flash_attention_forward(q, q, q, ends, ends, 4, 4, 0.0, True, False)"
    assert cost(line) == (0, 0, 0, 0)
    q = names["q"].cpu()[2:].transpose(0, 1)
    expected = torch.nn.functional.scaled_dot_product_attention(q[None], q[None], q[None], is_causal=True)
    assert torch.allclose(names["out"].cpu()[2:], expected[0].transpose(0, 1), atol=1e-6)


def test_integer_zero_points_are_checked_by_the_host(cost):
    line = "torch.fake_quantize_per_channel_affine(X, x, torch.zeros(4, device='cuda'){}, 0, 0, 255)"
    assert cost(line.format(".int()")) == (2, 0, 0, 2)
    assert cost(line.format("")) == (0, 0, 0, 0)


def test_one_hot_is_mapped(names):
    exec("made = torch.func.vmap(lambda t: F.one_hot(t, 5))(i)", names)
    assert names["made"].argmax(1).tolist() == [3, 1, 2, 1]
