"""What a budget lets pass, for whatever numbers are found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncscope.budgets.budget import Limit, WrongBudget, host_reads, limited, no_syncs
from syncscope.budgets.measures import HOST_READS, SYNCS
from syncscope.events import KINDS, Event

COUNTS = st.integers(0, 5)
READS = st.fixed_dictionaries({"scalar": COUNTS, "vector": COUNTS, "size": COUNTS})


@given(READS, COUNTS)
def test_exactly_lets_one_total_pass(found, n):
    assert limited(HOST_READS, exactly=n).broken(found) == (sum(found.values()) != n)


@given(READS, COUNTS)
def test_a_maximum_lets_every_total_up_to_it_pass(found, n):
    assert limited(HOST_READS, at_most=n).broken(found) == (sum(found.values()) > n)


@given(READS, COUNTS, st.sampled_from(["scalar", "vector", "size"]))
def test_a_limit_of_a_kind_looks_at_that_kind_alone(found, n, kind):
    assert host_reads(Limit(n), kind).broken(found) == (found[kind] != n)


@given(READS, COUNTS, COUNTS)
def test_every_limit_has_to_hold(found, total, scalar):
    both = limited(HOST_READS, at_most=total, parts={"scalar": scalar})
    assert both.broken(found) == (sum(found.values()) > total or found["scalar"] > scalar)


@given(
    st.sampled_from(KINDS),
    COUNTS,
    COUNTS,
    COUNTS,
    COUNTS,
    st.sampled_from(["", "aten::nonzero", "mylib::own"]),
)
def test_every_wait_is_a_sync_and_every_memcpy_a_copy(kind, dtoh, htod, dtod, waits, op):
    amounts = SYNCS.amounts(Event(kind, "call", op, dtoh=dtoh, htod=htod, dtod=dtod, waits=waits))
    assert SYNCS.total(amounts) == waits
    assert amounts.get("copies", 0) == dtoh + htod + dtod


def test_copies_that_nobody_waits_for_are_no_sync():
    assert not no_syncs().broken(SYNCS.amounts(Event("upload", "Tensor.to", htod=1)))


@pytest.mark.parametrize("number", [-1, 1.0, "1", True, None])
def test_a_limit_is_a_whole_number_from_0_on(number):
    with pytest.raises(WrongBudget, match="a budget is a whole number from 0 on, not"):
        Limit(number)


@pytest.mark.parametrize(("limit", "text"), [
    (Limit(1), "exactly 1"), (Limit(3, exact=False), "at most 3"), (Limit(0), "none"),
    (Limit(0, exact=False), "none"),
])  # fmt: skip
def test_how_a_limit_is_said(limit, text):
    assert str(limit) == text
