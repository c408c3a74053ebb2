"""One row: outputs first, then time with nothing patched, then counts."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
import torch

from syncscope.bench.plan import load
from syncscope.bench.rows import measured
from syncscope.subjects import Unusable

from .conftest import HERE, OLD


def row(plan, n=3):
    return measured(plan, load(plan), HERE, {"n": n})


def test_a_row_has_parity_times_and_counts(plan) -> None:
    found = row(plan(iterations=3))
    assert found.parity.equal
    assert {side: len(samples) for side, samples in found.latency.samples.host.items()} == {
        "old": 3,
        "new": 3,
    }
    assert min(found.latency.samples.host["old"]) > 0
    assert (found.counts["old"].waits, found.counts["new"].waits, found.removed) == (3, 1, 2)
    assert found.machine == HERE


def test_a_row_whose_outputs_differ_is_not_timed(plan) -> None:
    found = row(plan("def sums(x):\n    return (x.sum(1) + 1).tolist()\n"))
    assert not found.parity.equal
    assert found.latency is None


def test_a_difference_with_any_seed_is_one(plan) -> None:
    wrong = "def sums(x):\n    return x.sum(1).tolist() if x[0, 0] < 0.5 else None\n"
    assert row(plan(wrong, seeds=(0,))).parity.equal
    found = row(plan(wrong, seeds=tuple(range(9))))
    assert not found.parity.equal
    assert found.parity.compared == 9


def test_what_is_written_into_arguments_is_compared_as_well(plan) -> None:
    assert not row(
        plan("def sums(x):\n    s = x.sum(1).tolist()\n    x.zero_()\n    return s\n")
    ).parity.equal


IN_ONE_BUFFER = {
    "an array of numpy's": ("BUFFER = np.zeros(100)", "BUFFER", "x.sort()"),
    "a tensor over it": ("BUFFER = np.zeros(100)", "torch.from_numpy(BUFFER)", "x.copy_(x.sort().values)"),
    "a tensor in an object": (
        "class Held: pass\nHELD = Held()\nHELD.x = torch.zeros(100)\nBUFFER = HELD.x.numpy()",
        "HELD",
        "x.x.copy_(x.x.sort().values)",
    ),
}


@pytest.mark.parametrize(("held", "given", "sort"), IN_ONE_BUFFER.values(), ids=IN_ONE_BUFFER)
def test_inputs_in_one_buffer_are_made_right_before_each_call(plan, held: str, given: str, sort: str) -> None:
    text = f"""
import numpy as np
import torch

{held}

def make_inputs(n):
    BUFFER[:] = np.random.rand(100)
    return ({given},)

def sums(x):
    assert (BUFFER[1:] < BUFFER[:-1]).any(), "sorted by the call before"
    {sort}
    return float(BUFFER.sum())
"""
    assert not row(replace(plan(old=text, iterations=6), new="old.py")).failed
    with pytest.raises(Unusable, match="rotate: old writes into its arguments"):
        row(replace(plan(old=text, rotate=2), new="old.py"))


def test_inputs_of_several_seeds_in_one_buffer_are_those_of_their_seeds(plan) -> None:
    text = """
import numpy as np

BUFFER = np.zeros(4)

def make_inputs(n, seed):
    BUFFER[:] = seed
    return (BUFFER, seed)

def sums(x, seed):
    assert (x == seed).all(), "of another seed"
    return float(x.sum())
"""
    made = plan(new=text, old=text, iterations=6, seeds=(1, 2))
    assert not measured(made, load(made), HERE, {"n": 3}).failed


@pytest.mark.parametrize("returned", ["lazy()", "(lazy(), 1)", "{'a': map(int, lazy())}"])
def test_what_is_computed_when_it_is_asked_for_is_timed(plan, ticking, returned: str) -> None:
    text = f"""
import ticking
import torch

def make_inputs(n):
    return (torch.ones(n),)

def sums(x):
    def lazy():
        ticking.now += 3_000_000
        yield x.sum()
    return {returned}
"""
    found = row(plan(new=text, old=text, iterations=2))
    assert set(found.latency.samples.host["old"]) == {3_000_000}


SETS = """
import torch

def sums(x):
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(2)
    return x.sum(1).tolist()
"""
SEES = """
import torch

def make_inputs(n, device, seed=0):
    assert torch.tensor([0.5]).dtype is torch.float32
    return (torch.rand(n, 4, device=device),)

seen = set()
def sums(x):
    seen.add((torch.get_default_dtype(), torch.get_num_threads()))
    return x.sum(1).tolist()
"""


@pytest.mark.parametrize("rotate", [0, 2])
def test_what_one_side_sets_for_the_process_is_not_the_others(plan, rotate: int) -> None:
    made = plan(new=SETS, old=SEES, iterations=4, rotate=rotate, threads=1)
    loaded = load(made)
    before = torch.get_num_threads()
    assert measured(made, loaded, HERE, {"n": 3}).latency is not None
    assert loaded.old.module.seen == {(torch.float32, before), (torch.float32, 1)}
    assert torch.get_num_threads() == before


LATER = """
calls = []
def sums(x):
    calls.append(1)
    return x.sum(1).tolist() if len(calls) < 2 else None
"""


def test_a_subject_whose_later_calls_return_something_else_has_no_speedup(plan) -> None:
    found = row(plan(LATER, iterations=3))
    assert not found.parity.equal
    assert found.latency is None
    assert [each.path for each in found.parity.differences] == ["after the timed calls, output"]
    assert found.parity.compared == 2


def test_what_returns_nothing_is_told_apart(plan) -> None:
    nothing = "    x.add_(1)\n"
    silent = row(plan(f"def sums(x):\n{nothing}", OLD.partition("    return [row")[0] + nothing))
    assert silent.parity.equal
    assert not silent.parity.returned
    assert row(plan()).parity.returned


def test_a_simulated_device_only_counts(plan) -> None:
    found = row(plan(device="sim"))
    assert found.latency is None
    assert found.parity.equal
    assert found.removed == 2


WATCHFUL = """
import gc, sys, torch
from torch.overrides import _get_current_function_mode_stack
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

seen = []
def sums(x):
    seen.append((
        x.device.type, torch.Tensor.item, torch.cuda.synchronize,
        _get_current_function_mode_stack(), _get_current_dispatch_mode_stack(),
        sys.getprofile(), sys.gettrace(), gc.isenabled(), torch.get_num_threads(),
    ))
    return x.sum(1).tolist()
"""


def test_nothing_is_patched_or_profiled_while_time_is_taken(plan) -> None:
    """Also in the second row, after the counting run of the first."""
    made = plan(WATCHFUL, warmups=1, iterations=4, threads=1)
    loaded = load(made)
    seen = loaded.new.module.seen
    for n in (2, 3):
        seen.clear()
        measured(made, loaded, HERE, {"n": n})
        # One call for parity, one that looks at what is returned, one to warm up, four samples, one
        # for parity again, two to count.
        profile, trace = sys.getprofile(), sys.gettrace()
        assert len(seen) == 10
        assert (
            seen[1:7]
            == [("cpu", torch.Tensor.item, torch.cuda.synchronize, [], [], profile, trace, False, 1)] * 6
        )
        assert seen[8][0] == "cuda"


def test_a_generator_is_timed_to_its_end(plan) -> None:
    lazy = "ended = []\ndef sums(x):\n    yield from x.sum(1).tolist()\n    ended.append(1)\n"
    eager = OLD.replace("return [row.sum().item() for row in x]", "yield from (r.sum().item() for r in x)")
    made = plan(lazy, eager, iterations=5)
    loaded = load(made)
    found = measured(made, loaded, HERE, {"n": 3})
    assert found.parity.equal
    # One for parity, one that looks at what is returned, five samples, one for parity again, two to count.
    assert len(loaded.new.module.ended) == 10


def test_seeds_and_fresh_inputs_are_taken_in_turn(plan) -> None:
    noting = "seen = []\ndef sums(x):\n    seen.append(x)\n    return x.sum(1).tolist()\n"
    made = plan(noting, iterations=4, seeds=(5, 6))
    loaded = load(made)
    measured(made, loaded, HERE, {"n": 3})
    timed = [x for x in loaded.new.module.seen][3:7]
    assert len({id(x) for x in timed}) == 4
    assert [torch.equal(x, timed[0]) for x in timed] == [True, False, True, False]


def test_rotated_inputs_are_made_once(plan) -> None:
    noting = "seen = []\ndef sums(x):\n    seen.append(x)\n    return x.sum(1).tolist()\n"
    made = plan(noting, iterations=40, rotate=2)
    loaded = load(made)
    measured(made, loaded, HERE, {"n": 3})
    timed = [id(x) for x in loaded.new.module.seen][2:42]
    # Two sets, and the two that are old's in other turns.
    assert len(set(timed)) <= 4
    assert not set(timed[::2]) & set(timed[1::2])


def test_what_is_written_into_is_not_rotated(plan) -> None:
    writes = "    x.mul_(2)\n    return x.sum(1).tolist()\n"
    made = plan(f"def sums(x):\n{writes}", OLD.partition("    return [row")[0] + writes, rotate=2)
    with pytest.raises(Unusable, match="rotate: old writes into its arguments, .* leave --rotate out"):
        row(made)


def test_a_subject_that_raises_while_it_is_timed_is_named(plan) -> None:
    tired = "calls = []\ndef sums(x):\n    calls.append(1)\n    assert len(calls) < 4, 'tired'\n"
    found = row(plan(f"{tired}    return x.sum(1).tolist()\n", iterations=20))
    assert found.failed == "new (new.py) failed for n=3: AssertionError: tired (new.py:4)"
    assert found.latency is None


def test_what_only_runs_on_a_cpu_is_timed_and_not_counted(plan) -> None:
    found = row(plan("def sums(x):\n    return x.sum(1).numpy().tolist()\n"))
    assert found.latency is not None
    assert found.counts == {}
    assert found.removed is None
    assert found.uncounted.startswith("new (new.py) failed for n=3: TypeError: ")


COUNTING = """
import torch
calls = []
def make_inputs(n):
    calls.append("make")
    return (torch.rand(n, 4),)
def sums(x):
    calls.append("call")
    return x.sum(1).tolist()
"""


def test_inputs_are_made_for_many_calls_at_once_and_not_between_samples(plan) -> None:
    made = plan(old=COUNTING, warmups=25, iterations=20, recheck_beyond=1e9)
    loaded = load(made)
    measured(made, loaded, HERE, {"n": 3})
    # 25 calls of each side to warm up and 20 samples of each; old's are listed.
    pauses = "".join(each[0] for each in loaded.old.module.calls).split("m")
    assert 45 in map(len, pauses)


def test_inputs_over_what_a_call_wrote_are_made_before_each_call(plan) -> None:
    common = """
import torch
common, seen = torch.zeros(3, 4), []
def make_inputs(n):
    common.fill_(1)
    return (common,)
def sums(x):
    seen.append(x[0, 0].item())
    x.add_(1)
    return x.sum(1).tolist()
"""
    new = "def sums(x):\n    x.add_(1)\n    return x.sum(1).tolist()\n"
    made = plan(new, common, warmups=3, iterations=10)
    loaded = load(made)
    assert measured(made, loaded, HERE, {"n": 3}).latency
    assert set(loaded.old.module.seen[:14]) == {1.0}


CYCLES = """
import weakref
class Large: pass
alive, most = weakref.WeakSet(), []
def sums(x):
    each = Large()
    each.itself = each
    alive.add(each)
    most.append(len(alive))
    return x.sum(1).tolist()
"""


def test_what_calls_leave_in_cycles_does_not_pile_up(plan, ticking) -> None:
    made = plan(CYCLES, warmups=50, iterations=200)
    loaded = load(made)
    measured(made, loaded, HERE, {"n": 3})
    # A block calls new twice; what was there before the row is another matter.
    assert max(loaded.new.module.most) <= 6


def waiting(ns: int) -> str:
    """A subject that takes ``ns`` on the ticking clock."""
    return f"import ticking\ndef sums(x):\n    ticking.now += {ns}\n    return x.sum(1).tolist()\n"


MAKING = OLD.partition("def sums")[0]


def test_a_row_that_looks_slower_is_run_again(plan, ticking) -> None:
    made = plan(waiting(110), MAKING + waiting(100), iterations=4, recheck_beyond=0.03, recheck_iterations=2)
    found = row(made).latency
    assert found.speedup == pytest.approx(100 / 110)
    assert (found.recheck.iterations, found.recheck.speedups) == (2, [pytest.approx(100 / 110)] * 5)
    assert found.regressed


def test_the_trials_share_a_time_budget(plan, ticking) -> None:
    made = plan(waiting(110), MAKING + waiting(100), budget_s=21e-6, recheck_beyond=0.03)
    found = row(made).latency
    # Of 21 µs each trial has 4.2, which are 20 pairs of 210 ns.
    assert {len(trial.host["old"]) for trial in found.recheck.trials} == {20}
    assert found.regressed


def test_what_takes_long_is_announced(plan, ticking, caplog) -> None:
    minute = 60 * 10**9
    row(plan(waiting(11 * minute), MAKING + waiting(10 * minute), recheck_beyond=0.03, recheck_iterations=2))
    assert [record.getMessage() for record in caplog.records] == ["n=3: slower, and run again: about 210 min"]


def test_a_row_that_goes_on_for_long_is_announced_once(plan, ticking, caplog) -> None:
    slow = NOISY.replace("1000 *", "1e9 *")
    row(plan(slow, MAKING + slow, iterations=20, prolong=4))
    (record,) = caplog.records
    assert record.getMessage().startswith("n=3: noise could hide 10 %, and it goes on: at most ")


def test_what_is_soon_done_is_not_announced(plan, ticking, caplog) -> None:
    row(plan(waiting(110), MAKING + waiting(100), iterations=40, recheck_beyond=0.03))
    assert caplog.records == []


def test_a_row_within_the_limit_is_not(plan, ticking) -> None:
    made = plan(waiting(102), MAKING + waiting(100), iterations=40, recheck_beyond=0.03)
    found = row(made).latency
    assert (found.verdict, found.recheck) == ("slower", None)


NOISY = "import random\n" + waiting(100).replace("100", "round(1000 * random.lognormvariate(0, 0.5))")


def test_a_row_goes_on_while_noise_could_hide_a_difference(plan, ticking) -> None:
    found = row(plan(NOISY, MAKING + NOISY, iterations=20, prolong=100)).latency
    assert found.iterations > 20
    assert found.iterations % 20 == 0
    assert found.smallest_visible < 0.1


def test_it_goes_on_longer_among_many_rows(plan, ticking) -> None:
    many = plan(NOISY, MAKING + NOISY, tuple(range(1, 289)), iterations=40, prolong=100)
    one = plan(NOISY, MAKING + NOISY, iterations=40, prolong=100)
    assert row(many).latency.iterations > row(one).latency.iterations


def test_a_row_does_not_go_on_where_it_is_not_to(plan, ticking) -> None:
    assert row(plan(NOISY, MAKING + NOISY, iterations=20, prolong=1)).latency.iterations == 20


def test_a_time_budget_stands_in_place_of_iterations(plan, ticking) -> None:
    noisy = "import random\n" + waiting(100).replace("+= 100", "+= random.randint(100, 300)")
    found = row(plan(noisy, MAKING + noisy, iterations=1, budget_s=1e-4)).latency.samples
    # A pair of calls takes 400 ns.
    assert 200 < len(found.host["old"]) == len(found.host["new"]) < 300


def test_a_time_budget_is_left_where_the_interval_is_narrow(plan, ticking) -> None:
    found = row(plan(waiting(200), MAKING + waiting(100), budget_s=1e9)).latency.samples
    # After 16 it isn't enough for one of three rows; it is asked again after half as many more.
    assert len(found.host["old"]) == 24
