"""Large equal tensors are known to be equal by their bits; only others are walked element by element."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.comparison import elements
from syncscope.comparison.parity import differences

DTYPES = [torch.bfloat16, torch.float16, torch.float32, torch.float64, torch.int8, torch.int64, torch.bool]
DTYPES += [torch.float8_e4m3fn, torch.uint16, torch.complex64]


@pytest.fixture
def walked(monkeypatch):
    """The arrays whose elements were compared one by one."""
    seen = []
    values = elements._values

    def counted(path, old, new):
        seen.append(old)
        return values(path, old, new)

    monkeypatch.setattr(elements, "_values", counted)
    return seen


@pytest.mark.parametrize("dtype", DTYPES)
def test_equal_tensors_are_not_walked(walked, dtype):
    tensor = torch.rand(64, 128).to(dtype)
    assert differences(tensor, tensor.clone()) == []
    assert differences(tensor.t(), tensor.t().contiguous()) == []
    assert differences(tensor[:, ::2], tensor[:, ::2].clone()) == []
    assert differences(tensor[0, 0], tensor[0, 0].clone()) == []
    assert differences(torch.empty(0, 3, dtype=dtype), torch.empty(0, 3, dtype=dtype)) == []
    assert walked == []


def test_equal_arrays_and_numbers_are_not_walked(walked):
    array = np.random.default_rng(0).random((64, 128))
    assert differences([array, array[::-1], 1.5], [array.copy(), array[::-1].copy(), 1.5]) == []
    assert walked == []


def test_long_lists_of_equal_numbers_are_not_walked_as_arrays(monkeypatch):
    def refuse(*given):
        raise AssertionError("equal numbers were compared as arrays")

    monkeypatch.setattr("syncscope.comparison.parity._compare", refuse)
    for number in (1.5, math.inf, 10**9, "text", b"bytes"):
        old, new = number, pickle.loads(pickle.dumps(number))
        assert differences(old, new) == []
    assert differences(math.nan, -math.nan) == []


def test_a_tensor_that_differs_in_one_bit_is_walked(walked):
    old = torch.ones(64, 128, dtype=torch.bfloat16)
    new = old.clone()
    new.view(torch.int16)[3, 5] += 1
    (difference,) = differences(old, new)
    assert (difference.count, difference.first, len(walked)) == (1, [[3, 5]], 1)


def test_nans_with_other_bits_are_walked_and_equal(walked):
    old = torch.tensor([math.nan, 1.0])
    new = old.clone()
    new.view(torch.int32)[0] = -1
    assert differences(old, new) == []
    assert len(walked) == 1


def test_the_two_zeros_are_told_apart():
    (difference,) = differences(torch.zeros(3), torch.tensor([0.0, -0.0, 0.0]))
    assert difference.first == [[1]]


def test_lazy_conjugates_and_negatives_are_compared_by_what_they_mean():
    value = torch.tensor([1 + 2j])
    assert differences(value.conj(), torch.tensor([1 - 2j])) == []
    assert len(differences(value.conj(), value)) == 1
    negative = value.conj().imag  # a view with the lazy minus
    assert differences(negative, torch.tensor([-2.0])) == []


@settings(deadline=None)
@given(st.lists(st.floats(width=32)), st.data())
def test_the_bits_and_the_walk_agree(values, data):
    old = torch.tensor(values, dtype=torch.float32)
    new = torch.tensor(data.draw(st.permutations(values)), dtype=torch.float32)
    same = all(
        (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
        for a, b in zip(old.tolist(), new.tolist(), strict=True)
    )
    assert (differences(old, new) == []) is same
