"""Reads that are allowed, by code or by a comment, with a reason."""

import pytest

import syncscope

BEGIN = """
import pytest, torch, syncscope

@pytest.fixture
def x(syncscope_device):
    return torch.tensor([3.0, 1.0, 2.0, 4.0], device=syncscope_device)

pytestmark = pytest.mark.no_host_reads
"""


@pytest.mark.parametrize("code", [
    "with syncscope.allowed('key'): x.tolist(), x[0].item()",
    "with syncscope.allowed('key', reads=2): x.tolist(), x[0].item()",
    "with syncscope.allowed('key', reads=1), syncscope.allowed('log', reads=1): x.tolist(), x[0].item()",
    "syncscope.allowed('key', reads=1)(x.tolist)()",
    "x.tolist()  # syncscope: allow the cache key",
    "x.tolist()  # noqa: B018  # syncscope: allow the cache key",
    "x.tolist()  # syncscope: allow: the cache key",
    "x.add(\n        1,\n    ).tolist(  # syncscope: allow the cache key\n    )",
    "# syncscope: allow the cache key\n    x.tolist()",
    "[\n        v.item()\n        for v in x\n    ]  # syncscope: allow the cache key",
    "if x.any():  # syncscope: allow the cache key\n        x + 1",
])  # fmt: skip
def test_what_is_allowed_does_not_count(run, code):
    run(f"{BEGIN}\ndef test(x):\n    {code}\n").assert_outcomes(passed=1)


@pytest.mark.parametrize("code", [
    "with syncscope.allowed('key', reads=1): x.tolist(), x[0].item()",
    "with syncscope.allowed('key', uploads=1): x.tolist()",
    "with syncscope.allowed('key'): pass\n    x.tolist()",
    "x.tolist()  # an allowance would be: `# syncscope: allow reason`",
    "x.tolist(), '# syncscope: allow in a string'",
    "x + 1  # syncscope: allow another line\n    x.tolist()",
    "if x.any():\n        x + 1  # syncscope: allow another line",
    "x.tolist()  # syncscope: allowed by nobody",
])  # fmt: skip
def test_what_is_not_allowed_counts(run, code):
    run(f"{BEGIN}\ndef test(x):\n    {code}\n").assert_outcomes(failed=1)


def test_an_allowance_holds_anew_in_every_call(run):
    run(f"""{BEGIN}
@syncscope.allowed("key", reads=1)
def key(x):
    return x.tolist()

def test(x): key(x), key(x)
""").assert_outcomes(passed=1)


def test_uploads_and_explicit_waits_have_numbers_of_their_own(run):
    run("""
import pytest, torch, syncscope

@pytest.mark.no_syncs
@pytest.mark.parametrize("explicit", [1, 0])
def test(explicit):
    with syncscope.allowed("warm-up", uploads=1, explicit=explicit):
        torch.ones(3).cuda() + 1
        torch.cuda.synchronize()
""").assert_outcomes(passed=1, failed=1)


def test_a_comment_at_the_line_that_calls_a_library(run, pytester):
    library = pytester.mkdir("site-packages")
    (library / "thelibrary.py").write_text("def length(x):\n    return x[0].item()\n")
    pytester.syspathinsert(library)
    run(f"{BEGIN}\nimport thelibrary\ndef test(x):\n    thelibrary.length(x)  # syncscope: allow its check\n")


def test_a_comment_without_a_reason_allows_nothing(run):
    result = run(f"{BEGIN}\ndef test(x):\n    x.tolist()  # syncscope: allow\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["  no reason: `# syncscope: allow` at test_it.py:10 allows nothing before it says why"]
    )


@pytest.mark.parametrize(("arguments", "message"), [
    ({"reason": ""}, "allowed takes a reason in words, not '': say why the host may read here"),
    ({"reason": "  "}, "allowed takes a reason in words, not '  ': say why the host may read here"),
    ({"reason": None}, "allowed takes a reason in words, not None: say why the host may read here"),
    ({"reason": "key", "reads": -1}, "allowed takes numbers from 0 on, not {'reads': -1}"),
])  # fmt: skip
def test_an_allowance_that_cannot_be_understood(arguments, message):
    with pytest.raises(ValueError, match="^allowed takes") as caught:
        syncscope.allowed(**arguments)
    assert str(caught.value) == message


def test_allowances_that_were_never_used_are_named_at_the_end(run):
    result = run(f"""{BEGIN}
def read(x, times):
    with syncscope.allowed("key"):
        for _ in range(times): x.tolist()
    with syncscope.allowed("log"):
        x + 1
    x - 1  # syncscope: allow the old log

@pytest.mark.parametrize("times", [0, 1])
def test(x, times): read(x, times)
""")
    result.assert_outcomes(passed=2)
    said = [line for line in result.outlines if "never used" in line]
    assert said == [
        "never used in this session: the allowance at test_it.py:12 (log)",
        "never used in this session: the allowance at test_it.py:14 (the old log)",
    ]


def test_code_with_allowances_runs_where_nothing_is_observed():
    with syncscope.allowed("key", reads=1) as allowance:
        assert allowance is not None
