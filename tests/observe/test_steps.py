"""Steps: single calls of named functions, with ranges and never averages."""

import asyncio
import cProfile
import itertools
import re
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import syncscope
from syncscope.observe.monitoring import claimed_tool
from syncscope.observe.ranges import Ranges, merged
from syncscope.observe.stepping import Profiled, step_watch
from syncscope.observe.steps import Named
from syncscope.observe.tally import Tally
from syncscope.subjects import Unusable


class Recorded(Tally):
    """A tally that remembers which of the letters that were said were said in which step."""

    def __init__(self):
        super().__init__()
        self.found = []

    def say(self, letter):
        if self.step is not None:
            self.step[letter] = self.step.get(letter, 0) + 1

    def finish(self):
        self.found.append("".join(self.step))
        self.step = None


@pytest.fixture
def steps_of():
    def steps_of(name, run):
        tally = Recorded()
        with (watch := step_watch(Named(name))), watch.follow(tally):
            run(tally.say)
        return tally.found

    return steps_of


def test_each_call_is_a_step_and_what_is_between_is_not(steps_of):
    def run(say):
        def step(letter):
            say(letter)

        step("a")
        say("-")
        step("b")

    assert steps_of("step", run) == ["a", "b"]


def test_a_call_without_an_event_is_a_step_too(steps_of):
    def run(say):
        def step():
            pass

        step(), step()

    assert steps_of("step", run) == ["", ""]


def test_a_call_in_a_step_is_part_of_it(steps_of):
    def run(say):
        def step(depth):
            say(str(depth))
            if depth:
                step(depth - 1)
            say("x")

        step(2)

    assert steps_of("step", run) == ["210x"]


def test_a_step_that_raises_has_ended(steps_of):
    def run(say):
        def step():
            say("a")
            raise ValueError

        with pytest.raises(ValueError):
            step()
        say("-")

    assert steps_of("step", run) == ["a"]


def test_a_generator_is_one_step_without_what_others_do_meanwhile(steps_of):
    def run(say):
        def step():
            say("a")
            yield
            say("b")
            yield
            say("c")

        for _ in step():
            say("-")

    assert steps_of("step", run) == ["abc"]


def test_a_generator_that_is_not_exhausted_is_a_step(steps_of):
    def run(say):
        def step():
            say("a")
            yield

        made = step()
        next(made)
        made.close()
        say("-")

    assert steps_of("step", run) == ["a"]


def test_a_coroutine_is_one_step(steps_of):
    def run(say):
        async def step(letter):
            say(letter)
            await asyncio.sleep(0)
            say(letter.upper())

        async def both():
            await asyncio.gather(step("a"), step("b"))

        asyncio.run(both())

    assert sorted(steps_of("step", run)) == ["aA", "bB"]


def test_a_regular_expression_matches_whole_names(steps_of):
    def run(say):
        def train_step():
            say("t")

        def eval_step():
            say("e")

        def stepping():
            say("s")

        train_step(), eval_step(), stepping()

    assert steps_of("(train|eval)_step", run) == ["t", "e"]


def test_a_librarys_functions_are_no_steps(steps_of):
    assert steps_of("sleep|dedent", lambda say: re.compile("x")) == []


def test_no_regular_expression_is_said_so():
    with pytest.raises(Unusable, match=r"^per: '\[' is no regular expression \(unterminated"):
        Named("[")


def test_a_profile_function_that_was_there_hears_everything_and_is_put_back():
    heard = []

    def profile(frame, event, argument):
        heard.append((frame.f_code.co_name, event))

    def step():
        pass

    tally = Recorded()
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        with Profiled(Named("step")).follow(tally):
            step()
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(before)
    assert {("step", "call"), ("step", "return")} <= set(heard)
    assert tally.found == [""]


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="cProfile has sys.monitoring there")
def test_a_profiler_in_c_is_said_to_be_in_the_way():
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        said = pytest.raises(Unusable, match=r"^per: Profiler? profiles this thread already: take it away")
        with said, Profiled(Named("step")).follow(Recorded()):
            pass
    finally:
        profiler.disable()


def test_the_number_of_the_tool_is_given_back():
    if sys.version_info >= (3, 12):
        for _ in range(5):
            with syncscope.observe(per="step"):
                pass
        tool = claimed_tool()
        assert tool is not None
        sys.monitoring.free_tool_id(tool)


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(1, 9)), min_size=1), st.integers(0, 9))
def test_ranges_are_those_of_the_steps_however_they_are_split_over_threads(steps, at):
    parts = Ranges(), Ranges()
    for step in steps[:at]:
        parts[0].add(step)
    for step in steps[at:]:
        parts[1].add(step)
    both = merged(parts)
    assert both.steps == len(steps)
    for key in "abc":
        figures = [step.get(key, 0) for step in steps]
        assert both.of(key) == (min(figures), max(figures))


def test_a_scopes_steps_have_ranges_of_counts_and_of_lines():
    def step(x, reads):
        for _ in range(reads):
            x.item()

    with syncscope.observe(per="step", threads=True) as scope:
        x = torch.ones((), device="cuda")
        for reads in (2, 0, 3):
            step(x, reads)
        x.tolist()
    steps = scope.steps
    assert (steps.number, steps.figures.of("scalar_reads"), steps.figures.of("vector_reads")) == (
        3,
        (0, 3),
        (0, 0),
    )
    assert sum(steps.inside.values()) == 5
    assert [spot.site.text for spot in steps.spots.high] == ["x.item()"]


def test_without_a_name_there_are_no_steps():
    assert syncscope.observe().steps is None
    assert list(itertools.islice(syncscope.observe(per="no_such").steps.functions, 1)) == []
