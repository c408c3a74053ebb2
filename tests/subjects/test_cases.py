"""The sweep: variables, their values, and the cases that come of them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncscope.subjects import UnusableSweep
from syncscope.subjects.cases import Sweep, parse_sweep, parse_value, sweep_of

names = st.sampled_from(["n", "m", "depth", "rows", "heads"])
values = st.lists(
    st.integers() | st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=4, unique=True
)
variables = st.lists(st.tuples(names, values.map(tuple)), unique_by=lambda variable: variable[0], max_size=4)


def refusal(*options: tuple[str, list[object]]) -> str:
    with pytest.raises(UnusableSweep) as caught:
        sweep_of(options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_several_variables_multiply_with_the_first_outermost():
    sweep = sweep_of([("frames", [2, 8]), ("q", ["0.5"]), ("dtype", ["bfloat16", "float32"])])
    assert sweep.cases() == [
        {"frames": 2, "q": 0.5, "dtype": "bfloat16"},
        {"frames": 2, "q": 0.5, "dtype": "float32"},
        {"frames": 8, "q": 0.5, "dtype": "bfloat16"},
        {"frames": 8, "q": 0.5, "dtype": "float32"},
    ]
    assert sweep.swept == ["frames", "dtype"]
    assert sweep.names == ("frames", "q", "dtype")


def test_without_variables_there_is_one_case():
    assert Sweep().cases() == [{}]


@given(variables)
def test_every_combination_comes_once(variables):
    sweep = Sweep(tuple(variables))
    cases = [tuple(case.items()) for case in sweep.cases()]
    assert len(cases) == math.prod(len(values) for _, values in variables)
    assert len(set(cases)) == len(cases)
    assert all(tuple(case) == sweep.names for case in sweep.cases())


@given(variables)
def test_the_first_variable_changes_last(variables):
    sweep = Sweep(tuple(variables))
    places = [[values.index(case[name]) for name, values in variables] for case in sweep.cases()]
    assert places == sorted(places)


@given(names, values)
def test_what_is_written_is_what_is_read(name, values):
    assert parse_sweep(f"{name}={','.join(map(str, values))}") == (name, tuple(values))


@pytest.mark.parametrize(
    ("text", "value"),
    [("4", 4), ("-1", -1), ("0.5", 0.5), ("1e-3", 0.001), ("bfloat16", "bfloat16"), ("nan", "nan")],
)
def test_whole_numbers_other_numbers_and_words(text, value):
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)


def test_spaces_do_no_harm():
    assert parse_sweep(" n = 4, 8 ") == ("n", (4, 8))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n", "`n` is no sweep: write a name and its values, n=4,8,12"),
        ("n=", "`n=` is no sweep: write a name and its values, n=4,8,12"),
        ("", "`` is no sweep: write a name and its values, n=4,8,12"),
        ("=4", "`` is no name of a variable: write n=4,8,12"),
        ("2n=4", "`2n` is no name of a variable: write n=4,8,12"),
        ("class=4", "`class` is no name of a variable: write n=4,8,12"),
        ("n=4,,8", "n has an empty value: write n=4,8,12"),
        ("n=4,8,4", "n has a value twice in 4, 8, 4: give each once"),
        ("frames=2,abc", "frames must be a whole number >= 1, not `abc`"),
        ("device=cuda,cpu", "device is not swept: one run has one device, --device"),
    ],
)
def test_what_is_no_sweep(text, message):
    with pytest.raises(UnusableSweep) as caught:
        parse_sweep(text)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", ["0", "-1", "abc", "2.0", "2.5"])
@pytest.mark.parametrize("name", ["frames", "tokens_per_frame", "hidden"])
def test_counts_are_whole_numbers_from_1(name, value):
    shown = parse_value(value)
    assert refusal((name, ["8", value])) == f"{name} must be a whole number >= 1, not `{shown}`"


@pytest.mark.parametrize("value", ["1", "-0.1", "half", "1.5"])
def test_q_is_a_fraction(value):
    assert refusal(("q", [value])) == f"q must be a number in [0, 1), the fraction pruned, not `{value}`"
    assert sweep_of([("q", ["0", "0.99"])]).cases() == [{"q": 0}, {"q": 0.99}]


@pytest.mark.parametrize("value", ["-1", "x", "4294967296"])
def test_a_seed_is_what_all_generators_take(value):
    assert refusal(("seed", [value])) == f"seed must be a whole number from 0 to 4294967295, not `{value}`"


def test_no_values_and_a_variable_that_comes_twice():
    assert refusal(("frames", [])) == "frames has no values: give at least one, frames=4,8,12"
    assert refusal(("n", [1]), ("n", [2])) == "n is swept twice: give all its values at once, n=4,8,12"
