"""What a failing budget says, line by line."""

import pytest

MODEL = """
    def prune(scores):
        budgets = [int(score) for score in scores]
        return budgets, scores.tolist()
"""


def said(result, first):
    """The lines of the failure that begins with ``first``."""
    lines = list(result.outlines)
    start = lines.index(first)
    rest = lines[start + 1 :]
    return [line for line in rest[: next(i for i, line in enumerate(rest) if not line.startswith("  "))]]


@pytest.fixture
def failure(run):
    def failure(body, first, *args, mark="no_host_reads"):
        result = run(f"""
import pytest, torch, syncscope
from model import prune

@pytest.mark.{mark}
def test(syncscope_device):
    x = torch.full((4,), 2.0, device=syncscope_device)
{body}
        """, *args, model=MODEL)  # fmt: skip
        result.assert_outcomes(failed=1)
        return said(result, first)

    return failure


def test_the_numbers_first_then_each_line_most_frequent_first(failure):
    expected = "host reads: expected exactly 1, found 5 (4 scalar, 1 vector)"
    assert failure("    prune(x)", expected, mark="host_reads(exactly=1)") == [
        "  4 scalar read by Tensor.__int__: model.py:2 in prune.<locals>.<listcomp>: "
        "budgets = [int(score) for score in scores]",
        "  1 vector read by Tensor.tolist: model.py:3 in prune: return budgets, scores.tolist()",
    ]


def test_the_short_summary_begins_with_the_numbers(run):
    result = run("""
    import pytest, torch
    @pytest.mark.no_host_reads
    def test(): torch.ones(1, device="cuda").item()
    """)
    result.stdout.fnmatch_lines(
        ["FAILED test_it.py::test - Failed: host reads: expected none, found 1 (1 scalar)"]
    )


def test_verbosely_with_who_called_each_line(failure):
    first = "host reads: expected none, found 5 (4 scalar, 1 vector)"
    lines = failure("    prune(x)", first, "-v")
    vector = next(at for at, line in enumerate(lines) if "vector" in line)
    assert lines[vector : vector + 2] == [
        "  1 vector read by Tensor.tolist: model.py:3 in prune: return budgets, scores.tolist()",
        "      called from test_it.py:7 in test: prune(x)",
    ]


def test_the_causes_of_waits(failure):
    first = "syncs: expected at most 1, found 4 (1 read, 2 uploads, 1 explicit)"
    body = """
    torch.cuda.synchronize()
    torch.tensor([1.0], device="cuda"), torch.ones(2).cuda()
    x[x > 1]
"""
    uploading = 'test_it.py:9 in test: torch.tensor([1.0], device="cuda"), torch.ones(2).cuda()'
    assert failure(body, first, mark="syncs(max=1)") == [
        "  1 wait by torch.cuda.synchronize: test_it.py:8 in test: torch.cuda.synchronize()",
        f"  1 upload by Tensor.cuda: {uploading}",
        f"  1 upload by torch.tensor: {uploading}",
        "  1 size read by Tensor.__getitem__: test_it.py:10 in test: x[x > 1]",
    ]


@pytest.mark.parametrize(("mark", "first"), [
    ("host_reads(scalar=0)", "host reads: expected no scalar, found 1 (1 scalar)"),
    ("host_reads(max=1, scalar=0, vector=0)",
     "host reads: expected at most 1 (no scalar, no vector), found 1 (1 scalar)"),
    ("host_reads(max=3, scalar=0)", "host reads: expected at most 3 (no scalar), found 1 (1 scalar)"),
    ("syncs(copies=3)", "syncs: expected exactly 3 copies, found 1 (1 read, 1 copy)"),
    ("syncs(exactly=2, uploads=1)", "syncs: expected exactly 2 (exactly 1 upload), found 1 (1 read)"),
])  # fmt: skip
def test_limits_of_parts(failure, mark, first):
    assert failure("    x[0].item()", first, mark=mark)


def test_nothing_ran_on_the_device(run):
    result = run("""
    import pytest, torch

    @pytest.mark.no_host_reads
    @pytest.mark.no_syncs
    def test(): torch.ones(3).tolist()

    @pytest.mark.no_host_reads(allow_idle=True)
    def test_allowed(): torch.ones(3).tolist()
    """)
    result.assert_outcomes(failed=1, passed=1)
    first = (
        "host reads: nothing ran on the device, so nothing was checked; "
        "make the tensors on syncscope_device, or say allow_idle=True"
    )
    assert result.outlines.count(first) == 1
    result.stdout.no_fnmatch_line("syncs: *")


def test_what_was_allowed_is_said(failure):
    body = """
    with syncscope.allowed("the cache's key", reads=2):
        x.tolist(), x.tolist()
    x[0].item()  # syncscope: allow the log
    x[1].item()
"""
    assert failure(body, "host reads: expected none, found 1 (1 scalar)") == [
        "  1 scalar read by Tensor.item: test_it.py:11 in test: x[1].item()",
        "  allowed: 2 vector reads (test_it.py:8: the cache's key)",
        "  allowed: 1 scalar read (test_it.py:10: the log)",
    ]


def test_an_operator_of_which_nothing_is_known(failure):
    body = """
    @torch.library.custom_op("mylib::twice", mutates_args=())
    def twice(value: torch.Tensor) -> torch.Tensor:
        return value * 2
    twice(x)
"""
    lines = failure(body, "host reads: expected none, found 0, and 1 unknown operator that may read")
    assert lines[0].startswith("  1 unknown by mylib.twice")
    assert "test_it.py:11 in test: twice(x)" in lines[0]
    assert "nothing is known of what this operator does on the host" in lines[1]


def test_a_library_that_reads_is_named_with_the_line_that_called_it(failure, pytester):
    library = pytester.mkdir("site-packages")
    (library / "thelibrary.py").write_text("def length(x):\n    return x[0].item()\n")
    pytester.syspathinsert(library)
    body = "    import thelibrary\n    thelibrary.length(x)"
    assert failure(body, "host reads: expected none, found 1 (1 scalar)") == [
        "  1 scalar read by Tensor.item: thelibrary.py:2 in length: return x[0].item()",
        "      called from test_it.py:8 in test: thelibrary.length(x)",
    ]
