from __future__ import annotations

import collections
import enum
import math
import warnings
from dataclasses import dataclass, make_dataclass
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.comparison.parity import agreement, differences, over_calls
from syncscope.comparison.results import Difference

NAN = math.nan
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
FLOAT8 = [torch.float8_e4m3fn, torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz]
COMPLEX = [torch.complex64, torch.complex128]
WHOLE = [torch.int8, torch.int16, torch.int32, torch.int64]
WHOLE += [torch.uint8, torch.uint16, torch.uint32, torch.uint64]


class Output(NamedTuple):
    mask: object
    scores: object


@dataclass
class Features:
    mask: object
    scores: object = None


def only(old: object, new: object, **keywords) -> Difference:
    (difference,) = differences(old, new, **keywords)
    return difference


def place(old: object, new: object) -> tuple[str, str]:
    difference = only(old, new)
    return difference.path, difference.what


def test_equal_outputs_of_every_kind_have_no_difference():
    def output():
        return {
            "mask": torch.tensor([True, False]),
            "nested": [
                (torch.ones(2), np.arange(3)),
                Output(torch.zeros(()), None),
                Features(torch.empty(0, 3)),
            ],
            "plain": (1, 2.5, 1j, "text", b"bytes", None, True, range(3), {1, 2}, np.float32(3)),
            "dtype": torch.bfloat16,
            "device": torch.device("cpu"),
        }

    assert differences(output(), output()) == []


@pytest.mark.parametrize("dtype", FLOATS + FLOAT8 + COMPLEX + WHOLE + [torch.complex32, torch.bool])
def test_every_dtype_is_compared_element_by_element(dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # complex32 is announced as experimental
        old = torch.tensor([[0.0, 1.0], [1.0, 1.0]]).to(dtype)
        new = torch.tensor([[0.0, 1.0], [0.0, 1.0]]).to(dtype)
        assert differences(old, old.clone()) == []
        difference = only(old, new)
    assert (difference.what, difference.count, difference.numel) == ("values", 1, 4)
    assert difference.first == [[1, 0]]
    assert difference.largest == (None if dtype is torch.bool else 1)


@pytest.mark.parametrize("dtype", [torch.uint4, torch.bits8])
def test_a_dtype_without_arithmetic_is_compared_by_its_bytes(dtype):
    old, new = torch.tensor([1, 2], dtype=torch.uint8), torch.tensor([1, 3], dtype=torch.uint8)
    assert differences(old.view(dtype), old.clone().view(dtype)) == []
    assert only(old.view(dtype), new.view(dtype)).first == [[1]]


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_equals_nan_whatever_its_sign_and_payload(dtype):
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize]
    old = torch.tensor([NAN, 1.0], dtype=dtype)
    new = old.clone()
    new.view(bits)[0] = -1  # all bits set: another NaN
    assert differences(old, new) == []
    assert differences({"loss": NAN}, {"loss": -NAN}) == []
    assert differences(np.array([NAN]), np.array([-NAN])) == []
    assert differences({NAN}, {float("nan")}) == []


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_two_zeros_differ_bit_for_bit(dtype):
    difference = only(torch.zeros(3, dtype=dtype), torch.tensor([0.0, -0.0, 0.0], dtype=dtype))
    assert (difference.count, difference.first, difference.largest) == (1, [[1]], 0.0)
    assert (difference.old, difference.new) == ("0.0", "-0.0")
    assert place(0.0, -0.0) == ("", "values")
    assert place({0.0}, {-0.0}) == ("", "keys")


def test_both_parts_of_a_complex_number_count():
    assert differences(complex(1, NAN), complex(1, NAN)) == []
    assert place(complex(1, NAN), complex(2, NAN)) == ("", "values")
    assert place(torch.tensor(0j), torch.tensor(0j).conj()) == ("", "values")
    assert only(torch.tensor([3j]), torch.tensor([4 + 0j])).largest == 5.0


def test_the_difference_says_how_many_where_first_and_by_how_much():
    old = torch.arange(12.0).reshape(3, 4)
    new = old.clone()
    new[1:] += 0.5
    new[2, 3] = 100.0
    assert only(old, new) == Difference(
        path="",
        what="values",
        old="4.0, 5.0, 6.0, 7.0, 8.0, ...",
        new="4.5, 5.5, 6.5, 7.5, 8.5, ...",
        count=8,
        numel=12,
        first=[[1, 0], [1, 1], [1, 2], [1, 3], [2, 0]],
        largest=89.0,
    )


def test_no_largest_difference_is_given_where_one_is_not_finite():
    assert only(torch.tensor([1.0, 2.0]), torch.tensor([1.5, math.inf])).largest is None
    assert only(torch.tensor([1.0, 2.0]), torch.tensor([1.5, NAN])).largest is None
    assert only(math.inf, -math.inf).largest is None
    assert differences(torch.tensor([math.inf]), torch.tensor([math.inf])) == []


def test_nans_that_are_not_among_the_first_are_counted():
    new = torch.ones(8)
    new[6:] = NAN
    assert only(torch.zeros(8), new).new == "1.0, 1.0, 1.0, 1.0, 1.0, ... (and 2 more NaN or infinite)"


@settings(deadline=None)
@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_the_largest_difference_of_integers_is_exact(one, other):
    found = differences(torch.tensor([one]), torch.tensor([other]))
    assert [difference.largest for difference in found] == ([abs(one - other)] if one != other else [])


def test_python_integers_of_any_size_are_compared_exactly():
    assert only(2**100, 2**100 + 1).largest == 1
    assert differences(2**100, 2**100) == []


def test_shape_dtype_and_device_are_compared():
    old = torch.zeros(2, 3)
    assert only(old, torch.zeros(3, 2)) == Difference("", "shape", "[2, 3]", "[3, 2]")
    assert only(old, old.double()) == Difference("", "dtype", "torch.float32", "torch.float64")
    assert place(torch.empty(0, 3), torch.empty(3, 0)) == ("", "shape")
    assert place(np.zeros(2), np.zeros(3)) == ("", "shape")
    assert place(np.zeros(2), np.zeros(2, np.float32)) == ("", "dtype")


def test_the_caller_says_where_a_tensor_lives():
    old, new = torch.zeros(2), torch.ones(2)
    found = differences(old, new, device_of=lambda tensor: "cuda:0" if tensor is old else "cpu")
    assert found[0] == Difference("", "device", "cuda:0", "cpu")
    assert found[1].what == "values", "a tensor in the wrong place may have wrong values too"
    assert differences(old, old.clone(), device_of=lambda tensor: "cuda:0") == []


def test_the_subclass_is_not_compared():
    assert differences(torch.nn.Parameter(torch.ones(2), requires_grad=False), torch.ones(2)) == []


def test_a_gradient_that_is_lost_is_a_difference():
    found = differences((torch.ones(2, requires_grad=True) * 2), torch.full((2,), 2.0))
    assert found == [Difference("", "requires_grad", "True", "False")]


def test_what_a_view_looks_like_in_memory_does_not_matter():
    assert differences(torch.ones(1).expand(4), torch.ones(4)) == []
    assert differences(torch.ones(2, 3).t(), torch.ones(3, 2)) == []
    assert differences(torch.tensor([1 + 2j]).conj(), torch.tensor([1 - 2j])) == []


def test_other_layouts_are_compared_by_layout_and_by_value():
    dense = torch.eye(2)
    sparse = dense.to_sparse()
    assert differences(sparse, dense.to_sparse()) == []
    assert only(sparse, dense) == Difference("", "type", "torch.sparse_coo", "torch.strided")
    assert only(sparse, (2 * dense).to_sparse()).first == [[0, 0], [1, 1]]


def test_nested_tensors_are_compared_one_component_after_the_other():
    def ragged(value):
        parts = [torch.ones(2), torch.full((3,), value)]
        return torch.nested.nested_tensor(parts, layout=torch.jagged)

    assert differences(ragged(1.0), ragged(1.0)) == []
    assert place(ragged(1.0), ragged(2.0)) == ("[1]", "values")
    assert only(ragged(1.0), torch.ones(5)) == Difference("", "type", "nested Tensor", "Tensor")


@pytest.mark.filterwarnings("ignore:torch.quantize_per")
def test_quantized_tensors_are_compared_with_their_scale():
    def quantized(scale):
        return torch.quantize_per_tensor(torch.tensor([1.0, 2.0]), scale, 0, torch.quint8)

    assert differences(quantized(0.5), quantized(0.5)) == []
    difference = only(quantized(0.5), quantized(0.25))
    assert difference.what == "dtype"
    assert difference.old == "torch.quint8 (scale 0.5, zero point 0)"


def test_the_path_names_the_place():
    old = [{"mask": Output(Features(torch.ones(2)), 1)}]
    new = [{"mask": Output(Features(torch.zeros(2)), 1)}]
    assert place(old, new) == ("[0]['mask'].mask.mask", "values")


def test_differences_come_in_the_order_of_the_output():
    old = {"a": 1, "b": [1, 2], "c": torch.ones(1)}
    new = {"c": torch.zeros(1), "b": [3, 4], "a": 2}
    assert [found.path for found in differences(old, new)] == ["['a']", "['b'][0]", "['b'][1]", "['c']"]


def test_missing_parts_are_named():
    assert only([1], [1, 2]) == Difference("", "length", "1", "2")
    assert only({"a": 1, "b": 2}, {"a": 1}) == Difference("", "keys", "['b']", "none more")
    assert only({1, 2}, {2, 3}) == Difference("", "keys", "1", "3")


def test_a_difference_in_a_part_that_both_have_is_found_beside_a_missing_one():
    assert [found.path for found in differences({"a": 1, "b": 2}, {"a": 3})] == ["", "['a']"]


def test_types_are_part_of_the_output():
    for old, new in [
        (1, 1.0),
        (1, True),
        ((1,), [1]),
        (None, 0),
        (np.ones(1), torch.ones(1)),
        (np.float32(1), 1.0),
    ]:
        assert place(old, new) == ("", "type")
    assert only({1: 0}, {True: 0}).what == "keys"


def test_each_subject_may_define_its_own_output_type():
    old_type = make_dataclass("Result", ["mask", "colour"])
    new_type = make_dataclass("Result", ["mask", "colour"])
    old_colour, new_colour = (enum.Enum("Colour", {"RED": 1}) for _ in range(2))
    assert differences(old_type(torch.ones(1), old_colour.RED), new_type(torch.ones(1), new_colour.RED)) == []
    assert place(old_type(torch.ones(1), 0), new_type(torch.zeros(1), 0)) == (".mask", "values")
    assert differences({old_colour.RED: 1}, {new_colour.RED: 1}) == []


def test_arrays_of_records_objects_and_texts_are_compared():
    records = np.array([(1, NAN), (2, 0.5)], dtype=[("index", "i4"), ("score", "f4")])
    changed = records.copy()
    changed["score"][1] = 0.25
    assert place(records, changed) == ("['score']", "values")
    assert place(np.array([1, [2]], object), np.array([1, [3]], object)) == ("[1][0]", "values")
    assert place(np.array(["a"]), np.array(["abc"])) == ("", "values")
    dates = np.array(["NaT", "2020-01-01"], "M8[D]")
    assert differences(dates, dates.copy()) == []


def test_a_container_that_contains_itself_ends():
    old: list = [1, {}]
    old[1]["back"] = old
    new: list = [2, {}]
    new[1]["back"] = new
    assert [found.path for found in differences(old, new)] == ["[0]"]


def test_nesting_may_be_deeper_than_the_stack():
    old: list = [1]
    new: list = [2]
    for _ in range(3000):
        old, new = [old], [new]
    assert only(old, new).path == "[0]" * 3001


class Stubborn:
    def __eq__(self, other):
        raise RuntimeError("no\ncomparison")


WAY_OUT = "return plain tensors, numbers, containers or dataclasses of them"


@pytest.mark.parametrize(
    ("make", "type_name", "why"),
    [
        (object, "object", f"object, which has no == and no attributes that say all of it; {WAY_OUT}"),
        (Stubborn, "Stubborn", f"Stubborn, which raised RuntimeError: no when compared; {WAY_OUT}"),
        (
            lambda: torch.empty(2, device="meta"),
            "Tensor",
            "Tensor on the meta device, which has no values to compare; return one on another device",
        ),
        (
            lambda: (x for x in [1]),
            "generator",
            f"generator, which has no == and no attributes that say all of it; {WAY_OUT}",
        ),
    ],
)
def test_what_cannot_be_compared_is_reported_with_a_way_out(make, type_name, why):
    assert only([make()], [make()]) == Difference("[0]", "uncomparable", type_name, why)


def test_the_same_object_is_equal_to_itself():
    shared = object()
    assert differences([shared, Stubborn], [shared, Stubborn]) == []


def test_a_generator_is_not_consumed():
    generator = iter([1])
    differences(generator, iter([1]))
    assert list(generator) == [1]


def test_nothing_is_written_to_the_outputs():
    old, new = torch.ones(2, requires_grad=True), collections.OrderedDict(a=torch.ones(2))
    differences([old, new], [torch.zeros(2), collections.OrderedDict(a=torch.zeros(2))])
    assert old.requires_grad and old.tolist() == [1, 1] and new["a"].tolist() == [1, 1]


def test_parity_counts_the_calls():
    assert agreement([(1, 1), (torch.ones(2), torch.ones(2))]).equal
    assert agreement([(1, 1), (2, 2)]).compared == 2
    assert not agreement([(1, 1), (1, 2)]).equal


def test_each_call_is_compared_before_the_next_is_made():
    buffer = torch.zeros(2)

    def calls():
        for value in range(3):
            buffer.fill_(value)
            yield buffer, torch.full((2,), float(value))

    assert agreement(calls()).equal


def test_a_place_that_differs_in_several_calls_is_reported_once_at_its_worst():
    old = torch.zeros(4)
    calls = [torch.tensor([9.0, 0, 0, 0]), torch.tensor([1.0, 1, 0, 0]), torch.zeros(4)]
    parity = agreement((old, new) for new in calls)
    (difference,) = parity.differences
    assert (parity.compared, difference.count, difference.largest) == (3, 2, 9.0)
    unbounded = agreement([(old, calls[0]), (old, torch.tensor([NAN, 0, 0, 0]))])
    assert unbounded.differences[0].largest is None


def test_no_call_is_no_parity():
    with pytest.raises(ValueError, match="no outputs to compare: give at least one call"):
        agreement([])
    with pytest.raises(ValueError, match="give at least one call"):
        over_calls(iter([]))


outputs = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.complex_numbers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.floats(), inner) | st.tuples(inner, inner),
)


@settings(deadline=None)
@given(outputs)
def test_every_output_equals_its_copy(output):
    def copy(value):
        if isinstance(value, dict):
            return {key: copy(part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(map(copy, value))
        return value

    assert differences(output, copy(output)) == []
    assert differences([output], [output, output])[0].what == "length"


@settings(deadline=None)
@given(st.lists(st.floats(width=32), min_size=1), st.data())
def test_exactly_the_changed_elements_are_counted(values, data):
    old = torch.tensor(values)
    changed = data.draw(st.sets(st.integers(0, len(values) - 1)))
    new = old.clone()
    for index in changed:
        new[index] = 1.0 if old[index] != 1.0 else 2.0
    found = differences(old, new)
    assert sum(difference.count for difference in found) == len(changed)
    assert [index for difference in found for index in difference.first] == [[i] for i in sorted(changed)[:5]]
