"""What sorting, joining, searching and counting copy, and when the host waits for a size."""

import pytest
import torch
import torch.nn.functional as F

from syncscope.events import count


@pytest.fixture
def cost(device, events):
    """(dtoh, htod, dtod, waits) of one call."""

    def cost(call):
        events.clear()
        call()
        c = count(events)
        assert c.unknown_ops == 0
        return c.dtoh, c.htod, c.dtod, c.waits

    return cost


@pytest.fixture
def x(device):
    return torch.arange(6.0, device="cuda") + 1


@pytest.mark.parametrize("length, copies", [(4096, 3), (4097, 1)])
def test_a_short_sort_copies_keys_and_indices_a_long_one_the_keys(cost, device, length, copies):
    values = torch.zeros(length, device="cuda")
    assert cost(values.sort) == cost(values.argsort) == cost(values.median) == (0, 0, copies, 0)


def test_a_sort_of_one_number_is_a_copy(cost, x):
    assert cost(x[0].sort) == (0, 0, 1, 0)


def test_quantiles_are_sorts_and_do_not_wait(cost, x):
    assert cost(lambda: torch.quantile(x, 0.5)) == (0, 0, 4, 0)
    assert cost(lambda: torch.nanquantile(x, 0.5)) == (0, 0, 3, 0)


@pytest.mark.skipif(torch.torch_version.TorchVersion(torch.__version__) >= "2.14", reason="checked later")
def test_the_host_reads_that_no_standard_deviation_is_negative(cost, x):
    assert cost(lambda: torch.normal(x, x)) == cost(lambda: torch.normal(2.0, x)) == (2, 0, 0, 2)
    assert cost(lambda: torch.normal(x, x, out=torch.empty_like(x))) == (1, 0, 0, 1)
    assert cost(lambda: torch.normal(x, 2.0)) == (0, 0, 0, 0)


def test_the_host_waits_for_the_number_of_distinct_elements(cost, x):
    assert cost(lambda: torch.unique(x)) == (1, 0, 0, 1)
    assert cost(lambda: torch.unique_consecutive(x)) == (1, 0, 0, 1)


@pytest.mark.parametrize(
    "words, waits", [({}, 3), ({"return_counts": True}, 4), ({"return_inverse": True}, 6)]
)
def test_distinct_rows_wait_between_the_steps_of_thrust(cost, x, words, waits):
    rows = x.view(2, 3)
    assert cost(lambda: torch.unique(rows, dim=0, **words)) == (1, 0, 0, waits)
    assert cost(lambda: torch.unique_consecutive(rows, dim=0, **words)) == (1, 0, 0, waits - 1)


def test_membership_in_a_small_set_is_free_of_waits_and_in_a_large_one_is_not(cost, x):
    few, many = torch.arange(2.0, device="cuda"), torch.arange(50.0, device="cuda")
    assert cost(lambda: torch.isin(x, few)) == (0, 0, 1, 0)
    assert cost(lambda: torch.isin(few[:1], few[0])) == (0, 0, 2, 0)
    assert cost(lambda: torch.isin(x, many)) == (2, 1, 5, 3)
    assert cost(lambda: torch.isin(x, many, assume_unique=True)) == (0, 1, 5, 1)


def test_one_hot_waits_only_to_learn_the_number_of_classes(cost, x):
    classes = x.long()
    assert cost(lambda: F.one_hot(classes)) == (1, 0, 0, 1)
    assert cost(lambda: F.one_hot(classes, 9)) == (0, 0, 0, 0)
    assert F.one_hot(classes, 9).tolist() == F.one_hot(classes.cpu(), 9).tolist()


def test_joining_is_one_kernel_unless_dtypes_differ(cost, x):
    assert cost(lambda: torch.cat([x, x])) == (0, 0, 0, 0)
    assert cost(lambda: torch.cat([x])) == (0, 0, 1, 0)
    assert cost(lambda: torch.cat([x, x, x.half()])) == (0, 0, 2, 0)


def test_a_single_sample_is_drawn_without_a_copy(cost, x):
    assert cost(lambda: torch.multinomial(x, 1, replacement=True)) == (0, 0, 0, 0)
    assert cost(lambda: torch.multinomial(x, 3, replacement=True)) == (0, 0, 2, 0)
    assert cost(lambda: torch.multinomial(x, 3)) == (0, 0, 0, 0)


@pytest.mark.parametrize("same", [lambda t: t**1, lambda t: t.flip([]), lambda t: t.clone()])
def test_a_dense_tensor_is_copied_as_a_block_in_whatever_order_it_is(cost, device, same):
    dense = torch.ones(2, 3, 4, device="cuda").transpose(1, 2)
    assert cost(lambda: same(dense)) == (0, 0, 1, 0)
    assert cost(lambda: same(dense[..., 1:])) == (0, 0, 0, 0)
