"""Which lines a call visits; what another trace function sees of it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncscope.observe.visits import visited_lines

FILE = "subject.py"
HAS_MONITORING = sys.version_info >= (3, 12)


def module(source: str, file: str = FILE) -> dict[str, Any]:
    """The names that ``source`` defines; its first line is line 1 of ``file``."""
    names: dict[str, Any] = {}
    exec(compile(dedent(source).strip("\n") + "\n", file, "exec"), names)
    return names


@pytest.fixture(params=["settrace", *["monitoring"] * HAS_MONITORING], autouse=True)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Both ways of watching where Python has both: with no free tool number only settrace is left."""
    taken = (3, 4) if HAS_MONITORING and request.param == "settrace" else ()
    for tool in taken:
        sys.monitoring.use_tool_id(tool, "test")
    yield request.param
    for tool in taken:
        sys.monitoring.free_tool_id(tool)


@pytest.fixture
def watched_by_another() -> Iterator[Callable[..., Any]]:
    before = sys.gettrace()

    def tracer(*_: object) -> None:
        return None

    sys.settrace(tracer)
    yield tracer
    sys.settrace(before)


def lines_of(call: Callable[[], object]) -> set[int]:
    return set(visited_lines(call, [FILE])[FILE])


def test_the_branch_that_was_not_taken_is_not_visited() -> None:
    f = module("""
        def f(x):
            if x > 0:
                y = 1
            else:
                y = 2
            return y
    """)["f"]
    assert lines_of(lambda: f(1)) == {2, 3, 6}
    assert lines_of(lambda: f(-1)) == {2, 5, 6}


def test_the_same_line_is_found_again_by_a_later_call() -> None:
    f = module("def f():\n    return 1")["f"]
    assert [lines_of(f), lines_of(f), lines_of(f)] == [{2}, {2}, {2}]


def test_functions_called_and_nested_ones() -> None:
    f = module("""
        def helper():
            return 1

        def f():
            def nested():
                return helper()
            return nested()
    """)["f"]
    assert lines_of(f) == {2, 5, 6, 7}


def test_a_comprehensions_and_a_lambdas_lines() -> None:
    f = module("""
        def f():
            double = lambda x: (
                x * 2)
            return [
                double(x)
                for x in range(2)
            ]
    """)["f"]
    assert lines_of(f) >= {2, 3, 5, 6}


def test_a_generator_left_half_way() -> None:
    f = module("""
        def numbers():
            yield 1
            yield 2
            yield 3

        def f():
            for number in numbers():
                if number == 2:
                    break
    """)["f"]
    assert lines_of(f) == {2, 3, 7, 8, 9}


def test_a_generator_that_was_begun_before_the_call() -> None:
    running = module("def f():\n    yield 1\n    yield 2\n    yield 3")["f"]()
    next(running)
    assert lines_of(lambda: next(running)) == {3}


def test_a_coroutine() -> None:
    f = module("""
        async def inner():
            return 1

        async def f():
            return await inner()
    """)["f"]

    def run() -> None:
        with pytest.raises(StopIteration):
            f().send(None)

    assert lines_of(run) == {2, 5}


def test_an_exception_that_the_subject_handles() -> None:
    f = module("""
        def f():
            try:
                raise ValueError
                unreached = 1
            except ValueError:
                return 2
    """)["f"]
    assert lines_of(f) == {2, 3, 5, 6}


def test_each_file_has_its_own_lines_and_others_have_none() -> None:
    other = module("def g():\n    return 1", file="other.py")["g"]
    unwatched = module("def h(g):\n    return g()", file="unwatched.py")["h"]
    f = module("def f(h, g):\n\n    return h(g)")["f"]
    assert visited_lines(lambda: f(unwatched, other), [FILE, "other.py", "never.py"]) == {
        FILE: frozenset({3}), "other.py": frozenset({2}), "never.py": frozenset(),
    }  # fmt: skip


def test_another_threads_lines_are_not_this_calls() -> None:
    f = module("def f(x):\n    if x:\n        return 1\n    return 2")["f"]

    def call() -> None:
        thread = threading.Thread(target=f, args=(True,))
        thread.start()
        thread.join()
        f(False)

    assert lines_of(call) == {2, 4}


def test_one_watch_inside_another() -> None:
    names = module("def f():\n    return 1\ndef g():\n    return 2\ndef h():\n    return 3")

    def call() -> None:
        names["f"]()
        assert lines_of(names["g"]) == {4}
        names["h"]()

    assert lines_of(call) >= {2, 6}


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_the_call_raises_is_passed_on_and_nothing_is_left_behind(problem: type[BaseException]) -> None:
    def fails() -> None:
        raise problem("in the subject")

    before = sys.gettrace()
    tools = [sys.monitoring.get_tool(tool) for tool in range(6)] if HAS_MONITORING else []
    with pytest.raises(problem, match="in the subject"):
        visited_lines(fails, [FILE])
    assert sys.gettrace() is before
    assert tools == ([sys.monitoring.get_tool(tool) for tool in range(6)] if HAS_MONITORING else [])


@pytest.mark.parametrize("problem", [None, ValueError, KeyboardInterrupt])
def test_another_trace_function_is_put_back(
    watched_by_another: Callable[..., Any], problem: type[BaseException] | None
) -> None:
    def call() -> None:
        if problem is not None:
            raise problem

    if problem is None:
        visited_lines(call, [FILE])
    else:
        with pytest.raises(problem):
            visited_lines(call, [FILE])
    assert sys.gettrace() is watched_by_another


def test_a_subject_that_sets_a_trace_function_of_its_own_does_not_leave_it(
    watched_by_another: Callable[..., Any], way: str
) -> None:
    if way == "monitoring":
        pytest.skip("nothing is traced, so nothing is put back")
    visited_lines(lambda: sys.settrace(lambda *_: None), [FILE])
    assert sys.gettrace() is watched_by_another


def test_another_trace_function_sees_the_lines_after_the_call() -> None:
    f = module("def f():\n    return 1", file="traced.py")["f"]
    seen: list[int] = []

    def tracer(frame: Any, event: str, _: object) -> Any:
        if frame.f_code.co_filename == "traced.py" and event == "line":
            seen.append(frame.f_lineno)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        visited_lines(lambda: None, [FILE])
        f()
    finally:
        sys.settrace(before)
    assert seen == [2]


@given(taken=st.lists(st.booleans(), min_size=1, max_size=8))
def test_exactly_the_taken_branches_are_visited(taken: list[bool]) -> None:
    source = "def f(taken):\n" + "".join(
        f"    if taken[{number}]:\n        x = {number}\n" for number in range(len(taken))
    )
    f = module(source)["f"]
    conditions = {2 + 2 * number for number in range(len(taken))}
    bodies = {3 + 2 * number for number, took in enumerate(taken) if took}
    assert lines_of(lambda: f(taken)) == conditions | bodies
