"""The committed list of known waits: new ones fail, those that are gone ask to be struck."""

import json

import pytest

MODEL = """
def prune(x):
    first = x[0].item()
    return x.tolist(), first
"""
TEST = """
import pytest, torch
from model import prune

def test_prune(syncscope_device):
    prune(torch.ones(3, device=syncscope_device))
"""
LESS = MODEL.replace("    first = x[0].item()\n", "    first = x[0]\n")
MORE = MODEL.replace("return x.tolist(), first", "return x.tolist(), first, x[1].item()")


@pytest.fixture
def written(pytester):
    return lambda: json.loads((pytester.path / "syncscope-baseline.json").read_text())["sites"]


@pytest.fixture
def session(run):
    def session(model, *args, test=TEST):
        import sys

        sys.modules.pop("model", None)
        return run(test, "--syncscope", *args, model=model)

    return session


def test_updating_writes_every_line_that_reads_or_waits(session, written):
    session(MODEL, "--syncscope-update").assert_outcomes(passed=1)
    common = {"file": "model.py", "function": "prune", "count": 1, "owner": "", "reason": ""}
    test = {"test": "test_it.py::test_prune"}
    assert written() == [
        {**common, "text": "first = x[0].item()", "line": 2, **test},
        {**common, "text": "return x.tolist(), first", "line": 3, **test},
    ]


def test_known_waits_pass_wherever_their_lines_have_moved(session):
    session(MODEL, "--syncscope-update")
    session("\n\nTOKENS = 3\n" + MODEL).assert_outcomes(passed=1)


def test_a_new_wait_fails_the_test_that_met_it(session):
    session(MODEL, "--syncscope-update")
    result = session(MODEL.replace("x[0].item()", "x[1].item()"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "syncs [[]not in syncscope-baseline.json]: expected none, found 1 (1 read)",
        "  1 scalar read by Tensor.item: model.py:2 in prune: first = x[[]1].item()",
        "  allowed: 1 vector read (syncscope-baseline.json: known)",
    ])  # fmt: skip


def test_a_known_wait_that_comes_more_often_fails(session):
    session(MODEL, "--syncscope-update")
    twice = TEST.replace("    prune(", "    for _ in range(2): prune(")
    session(MODEL, test=twice).assert_outcomes(failed=1)


def test_a_wait_that_is_gone_asks_to_be_struck(session, written):
    session(MODEL, "--syncscope-update")
    result = session(LESS)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines([
        "no longer waits, strike it from syncscope-baseline.json (--syncscope-update does): "
        "model.py in prune: first = x[[]0].item()"
    ])  # fmt: skip
    session(LESS, "--syncscope-update")
    assert [site["text"] for site in written()] == ["return x.tolist(), first"]


def test_a_part_of_the_tests_strikes_only_what_it_can_tell(session, written):
    both = TEST + "\ndef test_other(syncscope_device):\n    torch.ones(3, device='cuda').tolist()\n"
    session(MODEL, "--syncscope-update", test=both)
    session(LESS, "--syncscope-update", "-k", "prune", test=both)
    assert [site["text"] for site in written()] == [
        "return x.tolist(), first",
        "torch.ones(3, device='cuda').tolist()",
    ]


def test_owners_and_reasons_stay(session, written, pytester):
    session(MODEL, "--syncscope-update")
    file = pytester.path / "syncscope-baseline.json"
    baseline = json.loads(file.read_text())
    baseline["sites"][0].update(owner="ana", reason="the cache's key")
    file.write_text(json.dumps(baseline))
    session(MORE, "--syncscope-update").assert_outcomes(passed=1)
    assert [(site["owner"], site["reason"]) for site in written()] == [("ana", "the cache's key"), ("", "")]
    session(MORE).stdout.fnmatch_lines(
        ["syncscope-baseline.json: 1 line without a reason, write why it may wait"]
    )


def test_a_budget_of_none_or_a_maximum_lets_known_waits_pass_an_exact_one_counts_them(session):
    marked = TEST.replace("def test_prune", "@pytest.mark.{mark}\ndef test_prune")
    session(MODEL, "--syncscope-update")
    for mark, outcome in (("no_host_reads", "passed"), ("host_reads(max=1)", "passed")):
        session(MODEL, test=marked.format(mark=mark)).assert_outcomes(**{outcome: 1})
    session(MODEL, test=marked.format(mark="host_reads(exactly=2)")).assert_outcomes(passed=1)
    session(MODEL, test=marked.format(mark="host_reads(exactly=1)")).assert_outcomes(failed=1)


def test_without_a_baseline_tests_without_a_budget_pass(session):
    session(MODEL).assert_outcomes(passed=1)


def test_another_file(session, pytester):
    session(MODEL, "--syncscope-update", "--syncscope-baseline", "waits.json")
    assert (pytester.path / "waits.json").is_file()
    session(MORE, "--syncscope-baseline", "waits.json").assert_outcomes(failed=1)


@pytest.mark.parametrize(("text", "why"), [
    ("{", "no baseline (*); take it away, and make it anew with --syncscope-update"),
    ('{"schema_version": 9}', "schema_version is 9, this syncscope reads 1; *"),
    ('{"schema_version": 1, "sites": [{"file": 3}]}', "no baseline (*"),
])  # fmt: skip
def test_a_file_that_is_no_baseline_is_one_line(session, pytester, text, why):
    (pytester.path / "syncscope-baseline.json").write_text(text)
    result = session(MODEL)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *syncscope-baseline.json: {why}"])


SKIPPED = "@pytest.mark.skip(reason='not now')\n"


@pytest.mark.parametrize(
    ("args", "change"), [([], ""), (["--syncscope"], SKIPPED), (["--syncscope"], "broken")]
)
def test_a_wait_of_a_test_that_was_not_watched_to_its_end_is_not_gone(
    session, run, written, pytester, args, change
):
    marked = "\n@pytest.mark.host_reads(exactly=1)\ndef test_other(): torch.ones(3, device='cuda').tolist()\n"
    session(MODEL, "--syncscope-update", test=TEST + marked)
    before = written()
    test = TEST.replace("def test_prune", f"{change}def test_prune")
    if change == "broken":
        test = TEST.replace("    prune(", "    raise ValueError\n    prune(")
    for more in ([], ["--syncscope-update"]):
        result = run(test + marked, *args, *more, model=MODEL)
        result.stdout.no_fnmatch_line("no longer waits*")
    assert written() == before


def test_a_wait_whose_test_is_no_more_is_gone(session, written):
    session(MODEL, "--syncscope-update", test=TEST.replace("test_prune", "test_before"))
    session(LESS, "--syncscope-update")
    assert [site["text"] for site in written()] == ["return x.tolist(), first"]
