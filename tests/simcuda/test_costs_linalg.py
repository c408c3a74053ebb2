"""Linear algebra waits for its error checks, not for its results."""

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
def a(device):
    return torch.eye(4, device="cuda") + 0.1


@pytest.fixture
def batch(a):
    return a.expand(3, 4, 4).contiguous()


@pytest.mark.filterwarnings("ignore:torch.cholesky is deprecated")
def test_the_old_cholesky_waits_as_the_new_one(cost, a, batch):
    assert cost(lambda: torch.cholesky(a)) == cost(lambda: torch.linalg.cholesky(a)) == (1, 0, 1, 1)
    assert cost(lambda: batch.cholesky()) == (1, 0, 0, 1)


CHECKED = ["inv", "cholesky", "lu_factor", "ldl_factor", "eigh", "eigvalsh"]


@pytest.mark.parametrize("name", CHECKED)
def test_a_form_with_an_error_check_waits_once(cost, a, batch, name):
    function = getattr(torch.linalg, name)
    assert cost(lambda: function(a)) == (1, 0, 1, 1)
    assert cost(lambda: function(batch)) == (1, 0, 0, 1)


@pytest.mark.parametrize("name", ["inv_ex", "cholesky_ex", "lu_factor_ex", "ldl_factor_ex"])
def test_the_ex_form_does_not_wait_unless_asked_to_check(cost, batch, name):
    function = getattr(torch.linalg, name)
    assert cost(lambda: function(batch)) == (0, 0, 0, 0)
    assert cost(lambda: function(batch, check_errors=True)) == (1, 0, 0, 1)


def test_singular_values_wait_twice_and_with_gesvd_once(cost, batch):
    for call in (torch.linalg.svd, torch.linalg.svdvals, torch.linalg.pinv, torch.linalg.matrix_rank):
        assert cost(lambda call=call: call(batch)) == (2, 0, 0, 2)
    assert cost(lambda: torch.linalg.svd(batch, driver="gesvd")) == (1, 0, 0, 1)


def test_a_driver_that_only_cuda_has_gives_values_all_the_same(device, a):
    u, s, v = torch.linalg.svd(a, driver="gesvda")
    assert torch.allclose(u @ torch.diag(s) @ v, a, atol=1e-5)


def test_eigenvalues_of_a_general_matrix_are_checked_before_and_after(cost, a):
    assert cost(lambda: torch.linalg.eigvals(a)) == (2, 0, 2, 2)
    assert cost(lambda: torch.linalg.eig(a)) == (3, 0, 2, 3)


@pytest.mark.parametrize("name", ["qr", "det", "matrix_power", "slogdet", "solve_ex", "solve_triangular"])
def test_what_needs_no_check_does_not_wait(cost, batch, name):
    rest = {"matrix_power": (3,), "solve_ex": (batch,), "solve_triangular": (batch,)}.get(name, ())
    words = {"upper": True} if name == "solve_triangular" else {}
    dtoh, htod, _, waits = cost(lambda: getattr(torch.linalg, name)(batch, *rest, **words))
    assert (dtoh, htod, waits) == (0, 0, 0)


def test_a_factorisation_without_pivots_has_the_values_of_elimination(device, a):
    factors, _, _ = torch.linalg.lu_factor_ex(a, pivot=False)
    lower = factors.tril(-1) + torch.eye(4, device="cuda")
    assert torch.allclose(lower @ factors.triu(), a, atol=1e-5)


@pytest.mark.parametrize(
    "scale, expected", [(1e-4, (1, 1, 2, 2)), (1.0, (1, 2, 2, 3)), (50.0, (3, 3, 14, 6))]
)
def test_the_norm_decides_what_a_matrix_exponential_copies(cost, device, scale, expected):
    matrix = torch.eye(4, device="cuda") * scale
    assert cost(lambda: torch.matrix_exp(matrix)) == expected


@pytest.mark.parametrize(
    "scales, copies",
    [
        ((0.1, 0.1), 9),
        ((1.0, 1.0), 11),
        ((4.0, 0.5, 0.1), 12),
        ((40.0, 0.5, 0.5, 40.0), 16),
        ((0.0, 4.0), 12),
    ],
)
def test_a_batch_is_squared_as_often_as_its_largest_and_joined_by_a_memcpy_if_in_one_part(
    cost, device, scales, copies
):
    batch = torch.ones(4, 4, dtype=torch.float64) * torch.tensor(scales, dtype=torch.float64)[:, None, None]
    batch = batch.cuda()
    assert cost(lambda: torch.matrix_exp(batch)) == (2, 1, copies, 3)
