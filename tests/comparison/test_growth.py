from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.comparison.growth import Observation, law, total_law
from syncscope.comparison.results import Law

small = st.integers(-1000, 1000)
whole = st.integers(-(10**12), 10**12)


def frames(*counts: int) -> list[dict]:
    return [{"frames": count} for count in counts]


def text_of(values: list[int], points: list[dict] | None = None) -> str:
    return law(points or frames(2, 8, 32), values, ["frames"]).text


def value_of(text: str, x: int) -> int:
    """What a law's text says at T = x, or at n = x."""
    term = re.sub(r"(\d)\s?([A-Za-z])", r"\1*\2", text)
    return eval(term, {"T": x, "n": x, "hidden": x})


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([0, 0, 0], "0"),
        ([1, 1, 1], "1"),
        ([2, 8, 32], "T"),
        ([3, 9, 33], "T + 1"),
        ([7, 19, 67], "2T + 3"),
        ([1, 7, 31], "T - 1"),
        ([38, 32, 8], "40 - T"),
        ([76, 64, 16], "80 - 2T"),
        ([-2, -8, -32], "-T"),
        ([-3, -9, -33], "-T - 1"),
        ([8, 16, 24], "8 at T=2, 16 at T=8, 24 at T=32"),
    ],
)
def test_a_law_reads_as_in_a_paper(values, text):
    assert text_of(values) == text


def test_a_variable_keeps_its_own_name():
    assert law([{"n": 4}, {"n": 8}, {"n": 12}], [12, 24, 36], ["n"]).text == "3n"
    assert law([{"hidden": 4}, {"hidden": 8}, {"hidden": 9}], [13, 25, 28], ["hidden"]).text == "3 hidden + 1"


def test_two_cases_give_no_line_for_any_two_numbers_lie_on_one():
    assert law([{"n": 2}, {"n": 5}], [4, 25], ["n"]) == Law(
        "other", values=[4, 25], text="4 at n=2, 25 at n=5"
    )
    assert text_of([3, 9], frames(2, 8)) == "3 at T=2, 9 at T=8"
    repeated = [{"n": n, "m": m} for n in (2, 5) for m in (1, 1, 1)]
    assert law(repeated, [4, 4, 4, 25, 25, 25], ["n", "m"]).kind == "other"


def test_equal_numbers_are_a_constant_from_the_first_case_on():
    assert law(frames(2), [3], ["frames"]) == Law("constant", base=3, text="3")
    assert law(frames(2, 8), [3, 3], ["frames"]) == Law("constant", base=3, text="3")


def test_a_slope_that_is_not_whole_is_no_law():
    assert law(frames(2, 8, 32), [1, 4, 16], ["frames"]).kind == "other"
    assert law(frames(2, 4), [1, 2], ["frames"]).values == [1, 2]


def test_the_variable_that_decides_is_found_among_several():
    points = [
        {"frames": t, "q": q, "dtype": d}
        for t in (2, 8, 32)
        for q in (0.25, 0.5, 0.75)
        for d in ("half", "float")
    ]
    by_frames = law(points, [point["frames"] + 1 for point in points], ["q", "dtype", "frames"])
    assert (by_frames.variable, by_frames.base, by_frames.slope) == ("frames", 1, 1)
    by_q = law(points, [int(point["q"] * 4) for point in points], ["frames", "q", "dtype"])
    assert (by_q.text, by_q.variable) == ("4q", "q")


GRID = [{"n": n, "m": m, "hidden": h} for n in (4, 8, 12) for m in (2, 3, 4) for h in (64, 128)]


@pytest.mark.parametrize(
    ("names", "base", "slope", "text"),
    [
        (("n", "m"), 0, 1, "n*m"),
        (("n", "m"), 1, 2, "2n*m + 1"),
        (("n", "m"), 500, -3, "500 - 3n*m"),
        (("n", "hidden"), 0, 1, "n*hidden"),
        (("n", "hidden"), -7, 2, "2 n*hidden - 7"),
    ],
)
def test_reads_in_two_nested_loops_are_a_product(names, base, slope, text):
    values = [base + slope * point[names[0]] * point[names[1]] for point in GRID]
    found = law(GRID, values, ["n", "m", "hidden"])
    assert found == Law("linear", base, slope, "*".join(names), text=text)


def test_frames_in_a_product_are_written_as_in_papers():
    points = [{"frames": t, "n": n} for t in (2, 8) for n in (1, 5)]
    found = law(points, [3 * p["frames"] * p["n"] for p in points], ["frames", "n"])
    assert (found.text, found.variable) == ("3T*n", "frames*n")


def test_a_product_needs_three_distinct_products_of_two_variables_that_change():
    two = [{"n": 1, "m": 6}, {"n": 2, "m": 3}, {"n": 2, "m": 6}]
    assert law(two, [6, 6, 12], ["n", "m"]).kind == "other"
    still = [{"n": n, "q": 0.5} for n in (2, 4, 8)]
    assert law(still, [1, 2, 4], ["n", "q"]).kind == "other"


def test_one_variable_is_preferred_to_a_product():
    points = [{"n": n, "m": m} for n in (2, 4, 8) for m in (1, 2)]
    assert law(points, [p["n"] for p in points], ["m", "n"]).variable == "n"


def test_a_sum_of_two_variables_is_no_law():
    points = [{"frames": t, "n": n} for t in (2, 8) for n in (1, 5)]
    assert law(points, [p["frames"] + p["n"] for p in points], ["frames", "n"]).kind == "other"


def test_the_numbers_of_a_few_cases_are_told_with_their_cases():
    points = [{"n": n, "m": m, "q": 0.5} for n in (4, 8) for m in (2, 3)]
    assert law(points, [8, 13, 16, 25], ["n", "m", "q"]).text == (
        "8 (n=4, m=2), 13 (n=4, m=3), 16 (n=8, m=2), 25 (n=8, m=3)"
    )
    assert law([{"dtype": "half"}, {"dtype": "float"}], [1, 3], ["dtype"]).text == (
        "1 at dtype=half, 3 at dtype=float"
    )


def test_the_numbers_of_many_cases_are_told_as_a_range():
    points = [{"n": n, "m": m} for n in (4, 8, 12) for m in (2, 3, 4)]
    found = law(points, [48, 8, 9, 10, 11, 12, 13, 14, 15], ["n", "m"])
    assert (found.kind, found.text, found.values[0]) == ("other", "8 to 48", 48)


def test_a_decimal_means_what_was_written():
    points = [{"q": 0.1}, {"q": 0.2}, {"q": 0.3}]
    assert law(points, [1, 2, 3], ["q"]).text == "10q"


def test_names_and_values_that_are_no_numbers_give_no_line():
    assert law([{"dtype": "2"}, {"dtype": "8"}], [2, 8], ["dtype"]).kind == "other"
    assert law([{"x": float("nan")}, {"x": 1}], [2, 8], ["x"]).kind == "other"
    assert law([{"x": float("inf")}, {"x": 1}], [2, 8], ["x"]).kind == "other"


def test_a_law_needs_one_value_a_case():
    with pytest.raises(ValueError, match="a law needs one value for each case: got 0 for 0 cases"):
        law([], [], ["frames"])
    with pytest.raises(ValueError, match="got 1 for 2 cases"):
        law(frames(2, 8), [1], ["frames"])


@settings(deadline=None)
@given(whole, whole.filter(bool), st.sets(small, min_size=3))
def test_every_whole_line_is_recovered_exactly(base, slope, xs):
    found = law(frames(*xs), [base + slope * x for x in xs], ["frames"])
    assert (found.kind, found.base, found.slope, found.variable) == ("linear", base, slope, "frames")


@settings(deadline=None)
@given(st.sampled_from(["n", "hidden", "frames"]), small, small, st.sets(small, min_size=3))
def test_the_text_says_the_values(variable, base, slope, xs):
    values = [base + slope * x for x in xs]
    text = law([{variable: x} for x in xs], values, [variable]).text
    assert [value_of(text, x) for x in xs] == values


@settings(deadline=None)
@given(whole, whole.filter(bool), st.sets(small, min_size=2), st.sets(small, min_size=2))
def test_a_law_of_two_variables_holds_in_every_case(base, slope, ns, ms):
    points = [{"n": n, "m": m} for n in ns for m in ms]
    values = [base + slope * point["n"] * point["m"] for point in points]
    found = law(points, values, ["n", "m"])
    if len({point["n"] * point["m"] for point in points}) > 2 and found.kind == "linear":
        variable = found.variable.split("*")
        rebuilt = [found.base + found.slope * math.prod(p[name] for name in variable) for p in points]
        assert rebuilt == values
    else:
        assert found.kind in ("constant", "other") and found.values in ([], values)


@settings(deadline=None)
@given(st.dictionaries(small, whole, min_size=1))
def test_a_law_holds_in_every_case(values):
    xs, ys = list(values), list(values.values())
    found = law(frames(*xs), ys, ["frames"])
    if found.kind == "other":
        assert found.values == ys
    else:
        assert [found.base + found.slope * x for x in xs] == ys


@settings(deadline=None)
@given(small, small.filter(bool), st.sets(small, min_size=3), whole.filter(bool), st.data())
def test_a_line_with_one_case_off_is_never_called_linear(base, slope, xs, off, data):
    values = [base + slope * x for x in xs]
    # With three cases or more, moving one off the line leaves no line through all of them.
    values[data.draw(st.integers(0, len(values) - 1))] += off
    assert law(frames(*xs), values, ["frames"]).kind != "linear"


# A reconcile step at lines 71 to 75 makes two copies; line 50 uploads once and line 60 reads once a frame.
RECONCILE = (71, 75)


def reading_call(t: int, reads: int, reconciled: bool) -> Observation:
    inside = {72: 1, 74: 1} if reconciled else {}
    visited = frozenset({50, 60} | (set(range(71, 76)) if reconciled else set()))
    by_line = {50: 1, 60: reads} | inside
    return Observation({"frames": t}, sum(by_line.values()), by_line, visited)


def text(observations: list[Observation], branches=(RECONCILE,), swept=("frames",)) -> str:
    return total_law(observations, branches, swept).text


def test_what_a_branch_adds_is_told_apart():
    old = [reading_call(t, reads=t, reconciled=t > 2) for t in (2, 8, 32)]
    assert text(old) == "T + 1 (+2 where lines 71-75 run)"
    new = [reading_call(t, reads=0, reconciled=t > 2) for t in (2, 8, 32)]
    assert text(new) == "1 (+2 where lines 71-75 run)"


def test_the_extra_has_its_own_law_over_the_cases_that_ran_it():
    def call(t: int) -> Observation:
        inside = {72: 2 * t + 1} if t > 2 else {}
        return Observation({"frames": t}, 1 + sum(inside.values()), inside, frozenset(inside))

    found = total_law([call(t) for t in (2, 8, 32, 64)], [(72, 72)], ["frames"])
    assert found.text == "1 (+(2T + 1) where line 72 runs)"
    (extra,) = found.extras
    assert (extra.lines, extra.law.kind, extra.law.slope) == ((72, 72), "linear", 2)
    assert (found.kind, found.base) == ("constant", 1)


def test_an_addition_seen_at_two_sizes_is_no_law_either():
    def call(n: int) -> Observation:
        return Observation({"n": n}, n * n, {5: n * n} if n else {}, frozenset({5} if n else ()))

    squares = [call(n) for n in (0, 1, 2)]
    assert text(squares, [(5, 5)], ["n"]) == "0 (+(1 at n=1, 4 at n=2) where line 5 runs)"


def test_an_addition_may_be_constant_from_two_sizes():
    calls = [reading_call(t, reads=t, reconciled=t > 2) for t in (2, 8, 32)]
    (extra,) = total_law(calls, [RECONCILE], ["frames"]).extras
    assert extra.law == Law("constant", base=2, text="2")


def test_a_branch_that_some_calls_of_a_case_ran_counts_as_in_those_calls():
    calls = [reading_call(t, reads=t, reconciled=odd) for t in (2, 8, 32) for odd in (True, False)]
    assert text(calls) == "T + 1 (+2 where lines 71-75 run)"


def test_several_branches_are_listed_one_after_the_other():
    def call(t: int) -> Observation:
        by_line = {10: t, **({20: 3} if t == 8 else {}), **({30: 1} if t == 32 else {})}
        return Observation({"frames": t}, sum(by_line.values()), by_line, frozenset(by_line))

    observations = [call(t) for t in (2, 8, 32)]
    assert text(observations, [(20, 20), (30, 31)]) == "T (+3 where line 20 runs, +1 where lines 30-31 run)"


def test_a_branch_without_events_of_this_count_is_no_addition():
    calls = [reading_call(t, reads=t, reconciled=t > 2) for t in (2, 8, 32)]
    quiet = [replace(call, total=1, by_line={50: 1}) for call in calls]
    assert total_law(quiet, [RECONCILE], ["frames"]) == Law("constant", base=1, text="1")


def test_one_law_for_all_calls_needs_no_branch():
    def either(t: int) -> Observation:
        line = 20 if t > 2 else 30
        return Observation({"frames": t}, 1, {line: 1}, frozenset({line}))

    assert text([either(t) for t in (2, 8, 32)], [(20, 20), (30, 30)]) == "1"
    loop = [Observation({"n": n}, n, {5: n} if n else {}, frozenset({5} if n else ())) for n in (0, 4, 8)]
    assert text(loop, [(5, 5)], ["n"]) == "n"


def test_a_line_through_two_totals_does_not_hide_a_branch():
    calls = [reading_call(t, reads=0, reconciled=t > 2) for t in (2, 3)]
    assert text(calls) == "1 (+2 where lines 71-75 run)"


def test_a_number_that_the_input_decides_is_given_as_its_range():
    calls = [Observation({"frames": t}, t + extra, {7: t + extra}) for t in (2, 8) for extra in (0, 1)]
    found = total_law(calls, [], ["frames"])
    assert (found.kind, found.values, found.text) == ("other", [3, 9], "2 to 3 at T=2, 8 to 9 at T=8")


def test_an_addition_that_follows_no_law_is_given_as_its_values():
    def call(t: int, events: int) -> Observation:
        return Observation(
            {"frames": t}, events, {20: events} if events else {}, frozenset({20} if events else ())
        )

    calls = [call(2, 0), call(8, 5), call(32, 6), call(64, 1)]
    assert text(calls, [(20, 22)]) == "0 (+(5 at T=8, 6 at T=32, 1 at T=64) where lines 20-22 run)"


def test_without_a_call_there_is_no_law():
    with pytest.raises(ValueError, match="got 0 for 0 cases"):
        total_law([], [], ["frames"])


@settings(deadline=None)
@given(
    base=st.integers(0, 50),
    slope=st.integers(0, 5),
    extra=st.integers(1, 50),
    ran=st.dictionaries(st.integers(1, 200), st.sets(st.booleans(), min_size=1), min_size=1),
)
def test_base_and_additions_rebuild_every_total(base, slope, extra, ran: Mapping[int, set[bool]]):
    def call(t: int, inside: bool) -> Observation:
        by_line = {50: base + slope * t} | ({72: extra} if inside else {})
        return Observation({"frames": t}, sum(by_line.values()), by_line, frozenset(by_line))

    calls = [(t, inside, call(t, inside)) for t, both in ran.items() for inside in both]
    found = total_law([seen for *_, seen in calls], [RECONCILE], ["frames"])
    if found.kind == "other":
        assert slope and len(ran) == 2  # two points, which any line goes through
        return
    for t, inside, seen in calls:
        added = sum(e.law.base + e.law.slope * t for e in found.extras if inside)
        assert found.base + found.slope * t + added == seen.total
