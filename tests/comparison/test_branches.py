from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.comparison.branches import branches, executable_lines, unvisited
from syncscope.comparison.results import Branch

PRUNE = """
def prune(budgets, target):
    \"\"\"Budgets whose sum is target.\"\"\"
    total = sum(budgets)

    if total > target:
        # the most redundant go
        budgets = budgets[:-1]
        total = sum(budgets)
    elif total < 0:
        raise ValueError(
            "negative"
        )
    return total
"""


def function(source: str) -> Callable:
    namespace: dict = {}
    exec(compile(textwrap.dedent(source).strip(), "subject.py", "exec"), namespace)
    return next(value for value in namespace.values() if callable(value))


def visited(function: Callable, *arguments: object) -> set[int]:
    """The lines of the function's file at which a tracer stops during one call."""
    lines: set[int] = set()

    def trace(frame, event, argument):
        if frame.f_code.co_filename != function.__code__.co_filename:
            return None
        if event == "line":
            lines.add(frame.f_lineno)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function(*arguments)
    except ValueError:
        pass
    finally:
        sys.settrace(before)
    return lines


def test_lines_that_some_inputs_did_not_run_are_found():
    prune = function(PRUNE)
    visits = [visited(prune, [1, 2], target) for target in (3, 2, 1)]
    assert branches("old", executable_lines(prune.__code__), visits) == [
        Branch("old", lines=(7, 8), ran=2, inputs=3),
        Branch("old", lines=(9, 9), ran=1, inputs=3),
    ]


def test_lines_that_no_input_ran_are_named():
    prune = function(PRUNE)
    visits = [visited(prune, [1, 2], target) for target in (3, 2, 1)]
    assert unvisited(executable_lines(prune.__code__), visits) == [(10, 11)]


def test_a_line_that_every_input_ran_is_neither():
    assert branches("new", {1, 2}, [{1, 2}, {1, 2}]) == []
    assert unvisited({1, 2}, [{1, 2}]) == []


def test_blank_lines_and_comments_do_not_split_a_group():
    assert branches("new", {3, 6, 9}, [{3, 6, 9}, set()]) == [Branch("new", (3, 9), 1, 2)]


def test_neighbours_that_ran_for_different_inputs_are_two_groups():
    found = branches("new", {1, 2}, [{1}, {2}])
    assert [(branch.lines, branch.ran) for branch in found] == [((1, 1), 1), ((2, 2), 1)]


def test_without_an_input_nothing_was_visited():
    assert branches("new", {4, 5}, []) == []
    assert unvisited({4, 5}, []) == [(4, 5)]


@pytest.mark.parametrize(
    ("source", "arguments"),
    [
        ("def one_line(x): return x", [0]),
        (
            '''
            def documented(x):
                """Text."""
                y = [
                    i
                    for i in range(x)
                ]
                def inner(z):
                    return z + x
                key = lambda v: inner(v)
                return sorted(y, key=key)
            ''',
            [3],
        ),
        (
            """
            def generating(n):
                def numbers():
                    for i in range(n):
                        yield i
                class Held:
                    size = 3
                    def read(self):
                        return self.size
                return Held().read() + sum(numbers())
            """,
            [3],
        ),
        (
            """
            def guarded(x):
                try:
                    int("x")
                except ValueError as error:
                    x = error
                finally:
                    del x
                with memoryview(b"text") as view:
                    while True:
                        view.tobytes()
                        break
            """,
            [0],
        ),
    ],
)
def test_the_executable_lines_are_those_a_full_run_visits(source, arguments):
    subject = function(source)
    assert visited(subject, *arguments) == executable_lines(subject.__code__)


executables = st.sets(st.integers(1, 30))


@settings(deadline=None)
@given(executables, st.lists(st.sets(st.integers(1, 30)), max_size=4))
def test_every_executable_line_is_in_one_group_or_ran_always(executable, visits):
    groups = [branch.lines for branch in branches("old", executable, visits)] + unvisited(executable, visits)
    grouped = [line for first, last in groups for line in executable if first <= line <= last]
    always = {line for line in executable if visits and all(line in ran for ran in visits)}
    assert sorted(grouped) == sorted(executable - always)


@settings(deadline=None)
@given(executables, st.lists(st.sets(st.integers(1, 30)), min_size=1, max_size=4))
def test_a_branch_says_for_how_many_inputs_it_ran(executable, visits):
    for branch in branches("old", executable, visits):
        first, last = branch.lines
        lines = {line for line in executable if first <= line <= last}
        assert [lines <= ran for ran in visits].count(True) == branch.ran
        assert all(lines <= ran or lines.isdisjoint(ran) for ran in visits)
