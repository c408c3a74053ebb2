"""Every operator whose output values decide must be known to the cost table: never silently zero."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from syncscope.simcuda.costs import free, table  # noqa: E402
from syncscope.simcuda.operators import operator  # noqa: E402

MADE_OF_OTHERS = {"aten::allclose": "isclose, all and item are heard for themselves"}


def _aten():
    for name in torch._C._dispatch_get_all_op_names():
        base, _, overload = name.removeprefix("aten::").partition(".")
        func = getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
        if name.startswith("aten::") and func is not None:
            yield operator(func)


def _is_known(op):
    return table.entry(op) is not None or table.sparse_entry(op) is not None


def test_every_operator_with_a_result_that_values_decide_has_an_entry():
    tagged = [op for op in _aten() if op.value_decides and not op.implicit]
    missing = {op.full_name for op in tagged if not _is_known(op)} - set(MADE_OF_OTHERS)
    assert len(tagged) > 10
    assert missing == set()


def test_an_operator_that_nobody_looked_at_is_unknown():
    named = {op.full_name: op for op in _aten()}
    assert free.is_free(named["aten::topk"]) and free.is_free(named["aten::add.Tensor"])
    for name in ("aten::_sparse_softmax_backward_data", "aten::_sparse_csr_sum.dim_dtype"):
        assert not _is_known(named[name]) and not free.is_free(named[name])


def test_of_sparse_tensors_other_kernels_run_and_those_were_looked_at_by_themselves():
    named = {op.full_name: op for op in _aten()}
    assert free.is_free(named["aten::_nnz"], of_sparse=True)
    for name in ("aten::topk", "aten::exp2", "aten::gt.Scalar"):
        assert free.is_free(named[name]) and not free.is_free(named[name], of_sparse=True)


def test_what_is_named_as_free_is_an_operator_without_an_entry():
    strided = [op for op in _aten() if op.name in free._FREE]
    assert {op.name for op in strided} == free._FREE
    covered = {op.name for op in strided if table.entry(op)} - {
        op.name for op in strided if not table.entry(op)
    }
    assert covered == set()


def test_what_is_listed_as_made_of_others_is_entered():
    assert all(op.explicit for op in _aten() if op.full_name in MADE_OF_OTHERS)


def test_every_entry_says_why_and_where():
    for entry in table.entries():
        assert entry.why and entry.source, entry.operators
        assert "\n" not in entry.why


def test_entries_of_one_name_cannot_be_made_twice():
    with pytest.raises(ValueError, match="nonzero has two entries in the cost table"):
        table.cost("nonzero", why="again", source="nowhere", figures="nothing")(table.free)
