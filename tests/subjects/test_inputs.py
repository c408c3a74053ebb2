"""Who makes the inputs, what has to be given, and that old and new get equal ones."""

from __future__ import annotations

import random
import sys

import numpy
import pytest
import torch

from syncscope.subjects import Unusable, UnusableInputs
from syncscope.subjects.cases import Sweep, parse_sweep
from syncscope.subjects.inputs import VideoInputs, chosen_workload
from syncscope.subjects.loader import load
from syncscope.subjects.pair import load_pair

PRUNE = "def compute_retention_mask(video_embeds, video_size_thw, spatial_merge_size, q): ...\n"


def sweep(*texts: str) -> Sweep:
    return Sweep(tuple(map(parse_sweep, texts)))


def chosen(old: str, new: str | None = None, *texts: str, **options):
    return chosen_workload(*load_pair(old, new or old), sweep(*texts), **options)


def refusal(*arguments: str, **options) -> str:
    with pytest.raises(UnusableInputs) as caught:
        chosen(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def make(write):
    """The workload of a file with this ``make_inputs`` and a function that takes anything."""

    def make(maker: str, *texts: str):
        write("x.py", f"import torch\ndef f(*args, **kwargs): ...\n{maker}\n")
        return chosen("x.py::f", None, *texts)

    return make


@pytest.fixture
def refused(make):
    def refused(maker: str, *texts: str) -> str:
        with pytest.raises(UnusableInputs) as caught:
            make(maker, *texts)
        return str(caught.value)

    return refused


# Who makes them


def test_the_baselines_make_inputs_serves_both(write):
    write("old.py", "def make_inputs(n): return n, 'old'\ndef f(a, b): ...\n")
    write("new.py", "def make_inputs(n): return n, 'new'\ndef f(a, b): ...\n")
    workload = chosen("old.py", "new.py", "n=4")
    assert workload.inputs({"n": 4}, 0, "cpu") == ((4, "old"), {})
    assert workload.describe() == "make_inputs of old.py; new.py has another, which is not used"


def test_two_equal_make_inputs_are_not_worth_a_word(write):
    write("old.py", "def make_inputs(n): return n\ndef f(a): ...\n")
    write("new.py", "\n\ndef make_inputs(n): return n\ndef f(a): ...\n")
    assert chosen("old.py", "new.py", "n=4").describe() == "make_inputs of old.py"


def test_if_only_new_has_make_inputs_it_serves_both(write):
    write("old.py", "def f(a): ...\n")
    write("new.py", "def make_inputs(n): return n\ndef f(a): ...\n")
    assert chosen("old.py", "new.py", "n=4").describe() == "make_inputs of new.py"


def test_a_file_given_for_both_wins(write):
    write("x.py", "def make_inputs(n): return 'own'\ndef f(a): ...\n")
    write("data.py", "def make_inputs(n): return 'given'\ndef others(n): return 'others'\n")
    workload = chosen("x.py", None, "n=4", inputs_option="data.py::others")
    assert workload.inputs({"n": 4}, 0, "cpu") == (("others",), {})
    assert workload.describe() == "others of data.py"
    assert chosen("x.py", None, "n=4", inputs_option="data.py").describe() == "make_inputs of data.py"


def test_inputs_are_of_the_classes_that_the_subjects_know(write):
    write("batch.py", "class Batch: ...\n")
    write("x.py", "from batch import Batch\ndef f(b): return isinstance(b, Batch)\n")
    write("data.py", "from batch import Batch\ndef make_inputs(): return Batch()\n")
    subjects = load_pair("x.py", "x.py")
    args, _ = chosen_workload(*subjects, Sweep(), inputs_option="data.py").inputs({}, 0, "cpu")
    assert subjects[1].function(*args)


def test_a_file_of_inputs_that_is_not_there(write):
    write("x.py", "def f(a): ...\n")
    with pytest.raises(Unusable, match="^no file data.py: give the path of a Python file$"):
        chosen("x.py", inputs_option="data.py::make")


def test_a_pruning_function_needs_nothing(write):
    write("x.py", PRUNE)
    workload = chosen("x.py", None, "frames=2", "tokens_per_frame=4", "hidden=8", "dtype=float32")
    case = {"frames": 2, "tokens_per_frame": 4, "hidden": 8, "q": 0.25}
    (embeds, size, merge, q), kwargs = workload.inputs(case, 0, "cpu")
    assert (embeds.shape, size, merge, q, kwargs) == ((8, 8), (2, 4, 4), 2, 0.25, {})
    assert workload.describe() == "built-in video workload, scenes"
    assert chosen("x.py", kind="noise").describe() == "built-in video workload, noise"


def test_a_pruning_file_with_make_inputs_uses_it_unless_videos_are_asked_for(write):
    write("x.py", PRUNE + "def make_inputs(): return 1, 2, 3, 4\n")
    assert chosen("x.py").describe() == "make_inputs of x.py"
    assert chosen("x.py", kind="scenes").describe() == "built-in video workload, scenes"


def test_videos_that_cannot_be_made(write):
    write("x.py", PRUNE)
    assert refusal("x.py", None, "framse=2").startswith("the video workload has no variable 'framse'")
    assert refusal("x.py", None, "dtype=float33").startswith("dtype is 'float33', which is unknown")
    assert refusal("x.py", None, "tokens_per_frame=196,197").startswith("tokens_per_frame is 197, a prime")
    assert refusal("x.py", kind="nosie").startswith("workload is 'nosie', which is unknown")


def test_nobody_makes_inputs(write):
    write("x.py", "def f(a): ...\n")
    assert refusal("x.py", None, "n=4") == (
        "nobody makes inputs for x.py: define make_inputs in the file or give --inputs FILE::FUNCTION"
    )
    assert refusal("x.py", kind="noise") == (
        "--workload noise makes (video_embeds, video_size_thw, spatial_merge_size, q), not what x.py takes"
    )
    assert refusal("x.py", kind="noise", inputs_option="x.py::f") == (
        "--inputs and --workload both say who makes the inputs: give one of them"
    )


# What it takes


def test_the_sweeps_variables_the_device_and_the_seed(make):
    workload = make("def make_inputs(n, device, seed, scale=2): return n, device, seed, scale", "n=4")
    assert workload.inputs({"n": 4}, 7, "cpu") == ((4, "cpu", 7, 2), {})


def test_a_swept_seed_is_the_seed(make):
    workload = make("def make_inputs(seed): return seed, torch.rand(1).item()", "seed=1,2")
    assert workload.inputs({"seed": 2}, 0, "cpu") == make(
        "def make_inputs(seed): return seed, torch.rand(1).item()"
    ).inputs({}, 2, "cpu")


def test_a_parameter_that_is_not_swept(refused):
    maker = "def make_inputs(n, device): ..."
    assert refused(maker) == "make_inputs of x.py needs `n`: give --sweep n=4,8,12"
    assert (
        refused(maker, "m=1") == "make_inputs of x.py needs `n`, the sweep has only m: give --sweep n=4,8,12"
    )


def test_a_swept_variable_that_is_no_parameter(refused, make):
    assert refused("def make_inputs(n=1, device=None): ...", "m=4") == (
        "make_inputs of x.py doesn't take `m`, which is swept: it takes n, device"
    )
    assert refused("def make_inputs(): ...", "m=4").endswith("it takes no parameters")
    assert make("def make_inputs(**case): return case", "m=4").inputs({"m": 4}, 0, "cpu")[1]["m"] == 4


# What it gives


@pytest.mark.parametrize(
    ("made", "arguments"),
    [
        ("1, 2", ((1, 2), {})),
        ("[1, 2]", ((1, 2), {})),
        ("dict(a=1)", ((), {"a": 1})),
        ("'one'", (("one",), {})),
        ("([1, 2],)", (([1, 2],), {})),
    ],
)
def test_a_tuple_a_list_a_dict_or_one_argument(make, made, arguments):
    assert make(f"def make_inputs(): return {made}").inputs({}, 0, "cpu") == arguments


def test_each_call_gets_fresh_tensors_and_equal_ones(make):
    maker = """
import random, numpy
def make_inputs(n): return torch.rand(n), numpy.random.rand(), random.random()
"""
    workload = make(maker, "n=4")
    (first, *firsts), _ = workload.inputs({"n": 4}, 3, "cpu")
    expected = first.clone()
    first.zero_()
    (second, *seconds), _ = workload.inputs({"n": 4}, 3, "cpu")
    assert torch.equal(second, expected)
    assert firsts == seconds
    (third, *thirds), _ = workload.inputs({"n": 4}, 4, "cpu")
    assert not torch.equal(third, expected)
    assert firsts != thirds


def test_a_series_is_as_one_after_another(make):
    maker = """
import random, numpy
def make_inputs(n): return torch.rand(n).tolist(), numpy.random.rand(), random.random()
"""
    workload = make(maker, "n=4")
    seeds = [3, 4, 3, 7]
    assert workload.series({"n": 4}, seeds, "cpu") == [
        workload.inputs({"n": 4}, seed, "cpu") for seed in seeds
    ]


def test_the_users_own_random_numbers_go_on_as_if_nothing_had_been(make):
    workload = make("def make_inputs(fail=0):\n    torch.rand(3)\n    assert not fail", "fail=0,1")
    torch.manual_seed(1), numpy.random.seed(1), random.seed(1)
    expected = torch.rand(1).item(), numpy.random.rand(), random.random()
    torch.manual_seed(1), numpy.random.seed(1), random.seed(1)
    with pytest.raises(UnusableInputs):
        workload.inputs({"fail": 1}, 0, "cpu")
    assert (torch.rand(1).item(), numpy.random.rand(), random.random()) == expected


def test_tensors_of_a_maker_that_knows_no_device_are_moved(make):
    maker = """
def make_inputs():
    return dict(a=[torch.ones(2, requires_grad=True)], model=torch.nn.Linear(1, 1), n=3)
"""
    _, moved = make(maker).inputs({}, 0, "meta")
    assert (moved["a"][0].device.type, moved["a"][0].requires_grad, moved["a"][0].is_leaf) == (
        "meta",
        True,
        True,
    )
    assert (moved["model"].weight.device.type, moved["n"]) == ("meta", 3)


def test_a_maker_that_chooses_devices_is_left_alone(make):
    for maker in (
        "def make_inputs(device): return torch.ones(2), torch.ones(2, device=device)",
        "def make_inputs(): return torch.ones(2), torch.ones(2, device='meta')",
    ):
        args, _ = make(maker).inputs({}, 0, "meta")
        assert [value.device.type for value in args] == ["cpu", "meta"]


# What goes wrong


def failure(workload, case) -> str:
    with pytest.raises(UnusableInputs) as caught:
        workload.inputs(case, 0, "cpu")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_maker_that_raises(make):
    workload = make("def make_inputs(n, m=1):\n    raise ValueError('too\\nfew')", "n=4")
    assert failure(workload, {"n": 4}) == "inputs can't be made for n=4: ValueError: too few (x.py:4)"
    assert failure(workload, {"n": 4, "m": 2}).startswith("inputs can't be made for n=4, m=2: ")
    workload = make("def make_inputs():\n    torch.ones(2) + torch.ones(3)")
    assert failure(workload, {}).startswith(
        "inputs can't be made for the only case: RuntimeError: The size of tensor a (2)"
    )
    assert failure(workload, {}).endswith("(x.py:4)")


def test_a_maker_that_exits_or_returns_nothing(make):
    assert failure(make("import sys\ndef make_inputs(): sys.exit(1)"), {}) == (
        "inputs can't be made for the only case: SystemExit: 1 (x.py:4)"
    )
    assert failure(make("def make_inputs(): ..."), {}) == (
        "inputs can't be made for the only case: make_inputs of x.py returns nothing: return the arguments "
        "in a tuple"
    )


OWN = """
class Own(BaseException):
    def __str__(self): raise ValueError
def make_inputs(): raise Own
"""


def test_a_maker_that_raises_what_is_no_exception_and_cannot_say_what(make):
    expected = "inputs can't be made for the only case: Own: its text can't be made (x.py:6)"
    assert failure(make(OWN), {}) == expected


def test_a_video_that_there_is_no_room_for_is_told_as_other_inputs_are():
    case = {"frames": 99_999_999, "tokens_per_frame": 196}
    with pytest.raises(UnusableInputs, match="inputs can't be made for frames=99999999, tokens_per_frame"):
        VideoInputs("noise").inputs(case, 0, "cpu")


def test_an_interrupt_passes(make):
    with pytest.raises(KeyboardInterrupt):
        make("def make_inputs(): raise KeyboardInterrupt").inputs({}, 0, "cpu")


def test_the_subjects_file_is_not_run_again_for_its_inputs(write):
    write(
        "x.py",
        "import sys\nsys.runs = getattr(sys, 'runs', 0) + 1\ndef make_inputs(): return 1\ndef f(a): ...\n",
    )
    try:
        chosen_workload(*load_pair("x.py", "x.py"), Sweep()).inputs({}, 0, "cpu")
        assert sys.runs == 1
        load("x.py")
        assert sys.runs == 2
    finally:
        del sys.runs
