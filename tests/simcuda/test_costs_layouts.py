"""Sparse and nested tensors: what coalescing, converting and taking apart cost."""

import pytest
import torch

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
def dense(device):
    return torch.eye(2, device="cuda")


@pytest.fixture
def sparse(device):
    indices = torch.tensor([[0, 1, 0], [1, 0, 1]]).cuda()
    return torch.sparse_coo_tensor(indices, torch.ones(3, device="cuda"), (2, 2))


pytestmark = pytest.mark.filterwarnings(
    "ignore:The PyTorch API of nested tensors", "ignore:Sparse", "ignore:.*sparse"
)


def test_coalescing_reads_a_number_and_waits_five_times(cost, sparse):
    assert cost(sparse.coalesce) == (1, 0, 2, 5)
    coalesced = sparse.coalesce()
    assert cost(coalesced.coalesce) == (0, 0, 0, 0)


def test_a_product_coalesces_its_sparse_side(cost, sparse, dense):
    assert cost(lambda: sparse @ dense) == cost(lambda: torch.sparse.mm(sparse, dense)) == (1, 0, 2, 5)
    coalesced = sparse.coalesce()
    assert cost(lambda: coalesced @ dense) == (0, 0, 0, 0)


def test_a_hybrid_product_clones_its_sparse_side_and_copies_the_rows_out(cost, sparse, dense):
    assert cost(lambda: torch.hspmm(sparse, dense)) == (1, 0, 5, 6)
    coalesced = sparse.coalesce()
    assert cost(lambda: torch.hspmm(coalesced, dense)) == (0, 0, 3, 1)
    empty = torch.sparse_coo_tensor(size=(2, 2), device="cuda")
    assert cost(lambda: torch.hspmm(empty, dense)) == (0, 0, 0, 0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("multiply", [torch.sparse.mm, torch.hspmm, lambda s, d: s @ d])
def test_half_precision_times_a_dense_tensor_is_not_implemented(sparse, dense, dtype, multiply):
    with pytest.raises(NotImplementedError, match="addmm_sparse_cuda.* not implemented for"):
        multiply(sparse.to(dtype), dense.to(dtype))


def test_two_sparse_sides_are_both_coalesced(cost, sparse):
    assert cost(lambda: torch.sparse.mm(sparse, sparse)) == (2, 0, 4, 12)


def test_making_a_sparse_tensor_of_a_dense_one_learns_how_many(cost, dense):
    assert cost(dense.to_sparse) == (1, 0, 2, 1)
    assert cost(dense.to_sparse_csr) == (2, 0, 0, 2)


def test_bounds_are_read_where_no_size_is_given_or_invariants_are_checked(cost, sparse):
    indices, values = sparse._indices(), sparse._values()
    assert cost(lambda: torch.sparse_coo_tensor(indices, values, (2, 2))) == (0, 0, 0, 0)
    assert cost(lambda: torch.sparse_coo_tensor(indices, values)) == (2, 0, 0, 2)
    checked = {"size": (2, 2), "check_invariants": True}
    assert cost(lambda: torch.sparse_coo_tensor(indices, values, **checked)) == (2, 0, 0, 2)


def test_lists_go_up_when_a_sparse_tensor_is_made_of_them(cost, device):
    made = []
    build = lambda: made.append(torch.sparse_coo_tensor([[0], [1]], [1.0], (2, 2), device="cuda"))  # noqa: E731
    assert cost(build) == (0, 2, 0, 2)
    assert made[0].is_cuda


def test_taking_a_jagged_tensor_apart_fetches_the_lengths_once(cost, device):
    offsets = torch.tensor([0, 2, 6]).cuda()
    jagged = torch.nested.nested_tensor_from_jagged(torch.ones(6, 3, device="cuda"), offsets)
    assert cost(jagged.unbind) == cost(lambda: list(jagged)) == cost(lambda: jagged[0]) == (1, 0, 0, 1)
    assert cost(lambda: jagged * 2) == (0, 0, 0, 0)
    assert all(part.is_cuda for part in jagged.unbind())


def test_torch_has_its_own_jagged_tensors_back_afterwards():
    from torch.nested._internal.nested_tensor import NestedTensor

    assert NestedTensor.__torch_dispatch__.__func__.__module__ == NestedTensor.__module__
    assert NestedTensor.__new__.__module__ == NestedTensor.__module__


@pytest.mark.parametrize(
    "call",
    [
        lambda nested, weight: torch.nn.functional.linear(nested, weight).unbind(),
        lambda nested, weight: nested.chunk(3, -1)[1].unbind(),
        lambda nested, weight: torch.matmul(nested, nested.transpose(1, 2)).unbind(),
        lambda nested, weight: nested.narrow(0, 1, 1).unbind(),
    ],
    ids=["linear", "chunk", "matmul", "narrow"],
)
def test_composites_that_nested_tensors_have_bodies_of_their_own_for_run_as_on_the_cpu(device, call):
    parts, weight = [torch.rand(2, 3), torch.rand(4, 3)], torch.rand(5, 3)
    expected = call(torch.nested.nested_tensor(parts), weight)
    found = call(torch.nested.nested_tensor([part.cuda() for part in parts]), weight.cuda())
    assert all(part.is_cuda for part in found)
    assert all(map(torch.equal, [part.cpu() for part in found], expected))


def test_padding_a_nested_tensor_sends_its_sizes_up(cost, device):
    parts = [torch.ones(2, 3, device="cuda"), torch.ones(4, 3, device="cuda")]
    nested = torch.nested.nested_tensor(parts)
    assert cost(lambda: nested.to_padded_tensor(0.0)) == (0, 1, 0, 1)


@pytest.mark.parametrize(
    ("product", "dtod"),
    [
        (lambda s, ones: s @ ones(3, 1), 2),
        (lambda s, ones: torch.sparse.mm(s, ones(3, 1)), 2),
        (lambda s, ones: torch.addmm(ones(2, 1), s, ones(3, 1)), 3),
        (lambda s, ones: ones(2, 1).addmm_(s, ones(3, 1)), 2),
        (lambda s, ones: torch.mm(s, ones(3, 1), out=ones(1, 2).t()), 0),
        (lambda s, ones: torch.addmm(ones(2), s, ones(3, 2)), 0),
        (lambda s, ones: s @ ones(3, 2), 0),
    ],
)
def test_a_product_of_one_column_is_copied_there_and_back(device, events, product, dtod):
    s = torch.ones(2, 3, device="cuda").to_sparse()
    events.clear()
    product(s, lambda *shape: torch.ones(*shape, device="cuda"))
    c = count(events)
    assert (c.dtoh, c.dtod, c.waits) == (0, dtod, 0)


def test_a_nested_tensor_is_padded_and_its_gradient_comes_back(device):
    nested = torch.nested.nested_tensor(
        [torch.ones(2, 3), torch.ones(4, 3)], device="cuda", requires_grad=True
    )
    nested.to_padded_tensor(0.0).sum().backward()
    assert all(torch.equal(part.cpu(), torch.ones_like(part.cpu())) for part in nested.grad.unbind())


def test_what_attention_does_with_strided_nested_tensors_is_unknown(device, events):
    layer = torch.nn.TransformerEncoderLayer(16, 2, 16, batch_first=True, device="cuda").eval()
    nested = torch.nested.nested_tensor([torch.rand(3, 16), torch.rand(5, 16)], device="cuda")
    with torch.no_grad():
        events.clear()
        layer(nested)
        assert {event.op for event in events if event.kind == "unknown"} == {
            "aten::_transformer_encoder_layer_fwd"
        }
        events.clear()
        layer(torch.rand(2, 5, 16, device="cuda"))
    assert events == []
