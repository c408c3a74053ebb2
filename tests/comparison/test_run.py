"""Old against new, end to end, on a simulated device."""

import re
from textwrap import dedent

import pytest
import torch

from syncscope.comparison.calls import CallFailed
from syncscope.comparison.run import Plan, UnusableDevice, compare
from syncscope.observe.families import UnknownFamily
from syncscope.subjects.cases import sweep_of
from syncscope.subjects.inputs import chosen_workload
from syncscope.subjects.pair import load_pair

INPUTS = """
def make_inputs(n, device, seed=0):
    values = torch.rand(n, 4, generator=torch.Generator().manual_seed(seed))
    return (values.to(device),)
"""


@pytest.fixture
def compared(tmp_path):
    def run(old, new, calls=2, sweep=(("n", (4, 8, 12)),), inputs=INPUTS, **plan):
        for name, code in (("old", old), ("new", new)):
            (tmp_path / f"{name}.py").write_text("import torch\n" + dedent(inputs) + dedent(code))
        subjects = load_pair(str(tmp_path / "old.py"), str(tmp_path / "new.py"))
        cases = sweep_of(sweep)
        workload = chosen_workload(*subjects, cases)
        return compare(*subjects, Plan(cases, workload, calls=calls, device="sim", **plan))

    return run


READS = """
    def total(x):
        return [row.sum().item() for row in x]
"""
READS_ONCE = """
    def total(x):
        return x.sum(1).tolist()
"""


def test_reads_that_grow_with_the_data_against_one(compared):
    result = compared(READS, READS_ONCE)
    assert [case.old.counts.scalar_reads for case in result.cases] == [8, 16, 24]
    assert [case.new.counts.vector_reads for case in result.cases] == [2, 2, 2]
    assert result.growth["old"]["scalar_reads"].text == "n"
    assert result.growth["new"]["waits"].text == "1"
    (old,) = [site for site in result.sites if site.subject == "old"]
    assert (old.text, old.kind, old.api) == (
        "return [row.sum().item() for row in x]", "scalar_read", "Tensor.item",
    )  # fmt: skip
    assert [str(each) for each in old.per_case] == ["4", "8", "12"]


def test_outputs_that_differ_are_a_finding_with_where_and_how_much(compared):
    result = compared(
        "def f(x):\n    return x", "def f(x):\n    y = x.clone()\n    y[1, 2] += 1\n    return y"
    )
    assert not result.equal
    (difference,) = result.cases[0].parity.differences
    assert (difference.what, difference.count, difference.numel) == ("values", 1, 16)
    assert difference.first == [[1, 2]]
    assert difference.largest == pytest.approx(1.0)


def test_an_output_on_the_host_differs_from_one_on_the_device(compared):
    result = compared("def f(x):\n    return x * 1", "def f(x):\n    return (x * 1).cpu()")
    (difference,) = result.cases[0].parity.differences
    assert (difference.what, difference.old, difference.new) == ("device", "cuda:0", "cpu")


def test_counts_that_the_input_decides_are_a_range_and_name_the_lines(compared):
    branching = """
    def total(x):
        if x.shape[0] > 4:
            return x.sum().item()
        return 0.0
    """
    result = compared(branching, branching)
    law = result.growth["old"]["scalar_reads"]
    line = (3 + INPUTS.count("\n") + 1) + 1
    assert re.fullmatch(rf"0 \(\+1 where line {line} runs\)", law.text), law.text
    (branch, other) = [branch for branch in result.branches if branch.subject == "old"]
    assert (branch.ran, branch.inputs, other.ran) == (2, 3, 1)


def test_seeds_that_need_different_counts_are_a_range(compared):
    by_seed = """
    def total(x):
        return x.sum().item() if x.shape[0] > 3 else None
    """
    inputs = """
    def make_inputs(n, device, seed=0):
        return (torch.ones(n - seed, 4).to(device),)
    """
    result = compared(by_seed, by_seed, sweep=(("n", (4, 5)),), seeds=(0, 1), inputs=inputs)
    assert [str(case.old.per_call["scalar_reads"]) for case in result.cases] == ["0 to 1", "1"]
    assert [case.old.calls for case in result.cases] == [4, 4]


def test_lines_that_ran_for_no_input_are_named(compared):
    never = """
    def f(x):
        if x.shape[0] > 100:
            return x.sum().item()
        return 0
    """
    result = compared(never, never)
    assert any("ran for no input: nothing is known of it" in note for note in result.notes)


def test_of_a_class_only_the_methods_that_ran_are_looked_at(compared):
    whole = """
    class Net:
        scale = 2

        def __init__(self, x):
            self.x = x

        def total(self):
            return self.x.sum() * self.scale

        def never(self):
            return self.x.max().item()

    def f(x):
        return Net(x).total()
    """
    assert not any("ran for no input" in note for note in compared(whole, whole).notes)


def test_a_generator_is_run_to_its_end(compared):
    lazy = "def f(x):\n    for row in x:\n        yield row.sum().item()"
    result = compared(lazy, READS_ONCE)
    assert [case.old.counts.scalar_reads for case in result.cases] == [8, 16, 24]


@pytest.mark.parametrize(
    "returned",
    [
        "(0, lazy)",
        "{'rows': [lazy]}",
        "Rows(lazy)",
        "Kept(lazy)",
        "Named(lazy)",
        "map(float, lazy)",
        "[zip(lazy)]",
    ],
)
def test_a_generator_inside_of_what_is_returned_is_run_as_well(compared, returned):
    lazy = f"""
    from collections import namedtuple
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Rows:
        rows: object

    class Kept(dict):
        def __init__(self, rows):
            super().__init__(rows=rows)

    Named = namedtuple("Named", "rows")

    def f(x):
        lazy = (row.sum().item() for row in x)
        return {returned}
    """
    result = compared(lazy, lazy)
    assert [case.old.counts.scalar_reads for case in result.cases] == [8, 16, 24]
    assert result.equal


def test_what_a_function_keeps_is_not_changed_where_it_holds_a_generator(compared):
    keeps = """
    import itertools
    kept = {"endless": itertools.count(), "itself": None}
    kept["itself"] = kept

    def f(x):
        kept["rows"] = (row.sum().item() for row in x)
        result = [kept["rows"], kept["endless"]]
        return type(kept["rows"]).__name__, result[:1]
    """
    assert compared(keeps, keeps).equal


def test_a_counted_operator_of_ones_own(compared):
    result = compared(
        "def f(x):\n    return x.cumsum(0)", "def f(x):\n    return x.cumsum(0)", families=("cumsum",)
    )
    assert [case.old.counts.launches["cumsum"] for case in result.cases] == [2, 2, 2]
    assert result.cases[0].old.aten["cumsum"] == 2


def test_an_operator_that_is_never_launched_is_refused_rather_than_counted_as_zero(compared):
    with pytest.raises(UnknownFamily, match=r"^count: aten::linear is made of other operators"):
        compared(READS, READS, families=("linear",))
    with pytest.raises(UnknownFamily, match=r"^count: ATen has no operator 'cumsun': did you mean cumsum"):
        compared(READS, READS, families=("cumsun",))


def test_a_custom_operator_is_unknown_never_zero(compared):
    custom = """
    if not hasattr(torch.ops.syncscope_tests, "twice"):
        @torch.library.custom_op("syncscope_tests::twice", mutates_args=())
        def twice(x: torch.Tensor) -> torch.Tensor:
            return x * 2

    def f(x):
        return torch.ops.syncscope_tests.twice(x)
    """
    result = compared("def f(x):\n    return x * 2", custom)
    assert [case.new.counts.unknown_ops for case in result.cases] == [2, 2, 2]
    assert result.grew == ["unknown operators"]
    (site,) = [site for site in result.sites if site.kind == "unknown"]
    assert (site.op, site.text) == ("syncscope_tests::twice", "return torch.ops.syncscope_tests.twice(x)")


def test_a_subject_that_raises_says_which_for_which_case_and_where(compared):
    failing = """
    def f(x):
        if x.shape[0] == 8:
            raise ValueError("no such size")
        return x
    """
    with pytest.raises(CallFailed) as caught:
        compared("def f(x):\n    return x", failing)
    first, *frames = str(caught.value).splitlines()
    assert re.fullmatch(
        r"new \(.*new\.py\) failed for n=8: ValueError: no such size \(.*new\.py:\d+\)", first
    ), first
    assert re.fullmatch(r'  .*new\.py:\d+ in f: raise ValueError\("no such size"\)', frames[-1]), frames
    assert not any("syncscope/" in frame for frame in frames)


def test_a_gpu_that_is_not_there_is_said_before_anything_runs(compared):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(UnusableDevice, match="^device: torch finds no CUDA GPU on this machine"):
        compared(READS, READS)  # the fixture's own device is sim
        from syncscope.comparison.run import resolved

        resolved("cuda")


CACHED = """
    import functools

    @functools.lru_cache(maxsize=None)
    def _positions(n, device):
        return torch.tensor(list(range(n)), device=device)

    def f(x):
        return x[:, 0] + _positions(x.shape[0], x.device)
"""


def test_what_a_cache_keeps_is_neither_olds_cost_nor_news_gain(compared):
    result = compared(CACHED, CACHED)
    for side in ("old", "new"):
        counts = [getattr(case, side).counts for case in result.cases]
        assert [(each.htod, each.waits) for each in counts] == [(0, 0)] * 3
    assert any("the first call with an input, which isn't counted, did up to 1 HtoD copies" in note
               for note in result.notes)  # fmt: skip


def test_an_argument_that_a_function_writes_into_is_compared(compared):
    inputs = """
    def make_inputs(n, device):
        return {"cache": torch.zeros(n, 4, device=device), "x": torch.ones(4, device=device)}
    """
    old = "def f(cache, x):\n    cache[1:2] = x"
    same = compared(old, old, inputs=inputs)
    assert same.equal
    other = compared(old, "def f(cache, x):\n    cache[1:2] = x + 1", inputs=inputs)
    assert not other.equal
    (difference,) = other.cases[0].parity.differences
    assert (difference.path, difference.what, difference.count) == ("argument cache", "values", 4)


def test_functions_that_draw_random_numbers_draw_the_same_ones(compared):
    sampling = "def f(x):\n    return torch.multinomial(x.softmax(-1), 3), torch.rand(2, device=x.device)"
    result = compared(sampling, sampling, calls=3)
    assert result.equal


def test_a_default_that_old_sets_is_gone_before_new_runs(compared):
    old = "def f(x):\n    torch.set_default_dtype(torch.float64)\n    return x.sum()"
    result = compared(old, "def f(x):\n    return x.sum() + 0 * torch.zeros(3, device=x.device).sum()")
    assert result.equal
    assert torch.get_default_dtype() == torch.float32


def test_code_at_a_modules_top_sees_the_device(tmp_path):
    from syncscope.comparison.run import loading

    (tmp_path / "x.py").write_text(
        "import torch\n"
        "DEVICE = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
        "TABLE = torch.arange(100, device='cuda')\n"
        "def make_inputs(n, device):\n    return torch.rand(n, 4, device=device)\n"
        "def f(x):\n    return torch.tensor([len(r) for r in x], device=DEVICE) + TABLE[: x.shape[0]]\n"
    )
    cases = sweep_of([("n", (4, 8))])
    with loading("sim"):
        subjects = load_pair(f"{tmp_path}/x.py::f", f"{tmp_path}/x.py::f")
        workload = chosen_workload(*subjects, cases)
    result = compare(*subjects, Plan(cases, workload, calls=1, device="sim"))
    assert [case.old.counts.htod for case in result.cases] == [1, 1]


def test_zeros_of_code_that_never_touched_the_device_are_no_clean_result(compared):
    host = """
    def make_inputs(n, device):
        return torch.rand(n)
    """
    result = compared("def f(x):\n    return x.sum().item()", "def f(x):\n    return 0.0", inputs=host)
    assert result.idle == ["old", "new"]
    assert result.findings


def test_code_that_only_uploads_or_only_views_is_not_idle(compared):
    uploads = "def f(x):\n    return torch.tensor([1.0], device=x.device)"
    assert compared(uploads, uploads).idle == []
    views = "def f(x):\n    return x[:1]"
    assert compared(views, views).idle == []
    fetches = "def f(x):\n    return x.tolist()"
    assert compared(fetches, fetches).idle == []


def test_code_that_leaves_its_device_inputs_alone_is_idle(compared):
    on_the_host = "def f(x):\n    return torch.zeros(3) + 1"
    assert compared(on_the_host, on_the_host).idle == ["old", "new"]


@pytest.mark.parametrize(
    "statement",
    [
        "x[x > 2] = 0",
        "x.masked_fill_(x > 2, torch.tensor(0.0))",
        "x.index_fill(0, torch.tensor([0], device=x.device), torch.tensor(1.0))",
        "x.index_fill(0, torch.tensor([0], device=x.device), 1.0)",
        "x[[0, 1]] = 4.0",
        "torch.linalg.inv(torch.eye(3, device=x.device).expand(2, -1, -1) * 2)",
        "x.sort(), x.topk(1), x.flatten().scatter(0, x.flatten()[:1].long() * 0, 2.0)",
        "x.unique(), x.sum().item()",
    ],
)
def test_what_cpu_kernels_do_with_host_numbers_is_no_disagreement(compared, statement):
    f = f"def f(x):\n    {statement}\n    return x"
    assert compared(f, f).disagreements == []


def test_a_gradient_that_is_lost_is_a_difference(compared):
    inputs = """
    def make_inputs(n, device):
        return torch.ones(n, device=device), torch.ones(n, device=device, requires_grad=True)
    """
    result = compared(
        "def f(x, w):\n    return x * w", "def f(x, w):\n    return x * w.detach()", inputs=inputs
    )
    (difference,) = result.cases[0].parity.differences
    assert (difference.what, difference.old, difference.new) == ("requires_grad", "True", "False")


def test_scripted_code_is_unknown(compared):
    scripted = """
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch.jit is deprecated, and still used

        @torch.jit.script
        def _moved(x):
            return x.cpu()

    def f(x):
        return _moved(x)
    """
    result = compared("def f(x):\n    return x.cpu()", scripted)
    assert [case.new.counts.unknown_ops for case in result.cases] == [2, 2, 2]


def test_old_constructors_read_what_they_are_made_of(compared):
    result = compared(
        "def f(x):\n    return torch.tensor([row.sum() for row in x])",
        "def f(x):\n    return torch.Tensor([row.sum() for row in x])",
    )
    assert result.growth["old"]["scalar_reads"].text == "n"
    assert result.growth["new"]["scalar_reads"].text == "n"
    assert result.disagreements == []


def stacks():
    return (
        torch._C._len_torch_function_stack(),
        torch._C._len_torch_dispatch_stack(),
        torch._C._dispatch_tls_local_include_set(),
        torch.Tensor.item,
        {name: getattr(torch.cuda, name) for name in dir(torch.cuda)},
    )


LEAVES_THINGS_BEHIND = """
from contextlib import suppress
from torch.utils._python_dispatch import TorchDispatchMode

class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

def _half_way():
    with suppress(RuntimeError):  # when it is closed, its modes are off the stack already
        with torch.device("cpu"), Mode():
            yield 1

KEPT = []

def f(x):
    KEPT.append(_half_way())
    next(KEPT[-1])
    ENDING
"""


@pytest.mark.parametrize(
    ("ending", "raised"),
    [
        ("raise ValueError('no')", CallFailed),
        ("raise SystemExit(3)", CallFailed),
        ("raise __import__('asyncio').CancelledError", CallFailed),
        ("raise KeyboardInterrupt", KeyboardInterrupt),
        ("return x", None),
    ],
)
def test_whatever_ends_a_subject_nothing_stays_patched(compared, ending, raised):
    before = stacks()
    code = LEAVES_THINGS_BEHIND.replace("ENDING", ending)
    if raised is None:
        compared(code, code)
    else:
        with pytest.raises(raised):
            compared(code, code)
    assert stacks() == before
