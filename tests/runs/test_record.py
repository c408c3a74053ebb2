"""The record of a run, and what the reports say of it."""

import json
from dataclasses import replace

import pytest
import torch

import syncscope
from syncscope.comparison.results import UnusableResult
from syncscope.events import COUNT_NAMES
from syncscope.reports import RUN_FORMATS, run_markdown, run_sentences, run_terminal, write
from syncscope.runs import record
from syncscope.runs.paths import Paths
from syncscope.runs.record import RunSite
from syncscope.runs.recording import recorded
from syncscope.subjects import Unusable


def step(x):
    x.sum().item()
    return x[x > 0]


@pytest.fixture(scope="module")
def scope():
    with syncscope.observe(per="step") as scope:
        x = torch.ones(3, device="cuda")
        for _ in range(2):
            step(x)
        x.tolist()
    return scope


@pytest.fixture
def run(scope):
    return replace(recorded(scope), command="syncscope run script.py")


def test_a_record_is_read_back_as_it_was(run):
    assert record.decode(record.encode(run)) == run
    assert record.is_run(record.encode(run))
    assert not record.is_run(b"[]")
    assert not record.is_run(b"\xff")


def test_the_json_has_the_names_of_a_comparisons_counts(run):
    found = json.loads(record.encode(run))
    assert list(found["counts"]) == [*COUNT_NAMES[:-1], "launches", "unknown_ops"]
    assert (found["schema_version"], found["record"], found["provenance"]) == (1, "run", "simulated")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"import torch", "not the record of a run"),
        (b'{"schema_version": 99}', "schema_version is 99"),
        (b'{"schema_version": 1}', "not the record of a run"),
    ],
)
def test_what_is_no_record_is_said_so(text, why):
    with pytest.raises(UnusableResult, match=f"^{why}"):
        record.decode(text)


def test_lines_are_sorted_by_how_often_they_wait(run):
    assert [(site.text, site.events) for site in run.sites] == [
        ("x.sum().item()", 2), ("return x[x > 0]", 2), ("x.tolist()", 1),
    ]  # fmt: skip


def test_the_report_of_a_scope_is_the_text_of_what_run_prints(scope, run, capsys):
    text = scope.report()
    assert capsys.readouterr() == ("", "")
    assert text.startswith("3 lines read, copy or wait.\n")
    assert "2 times, 1 a step: scalar read by Tensor.item, float32: 2 DtoH copies, 2 waits" in text
    assert "once, in no step: vector read by Tensor.tolist" in text
    assert "\x1b" not in text
    assert text == run_terminal.render(recorded(scope))


def test_totals_and_steps_in_words(run):
    assert run_sentences.totals(run) == (
        "The whole run, simulated (no GPU ran): 2 scalar reads, 1 vector read, 2 size reads, 5 DtoH copies, "
        "5 waits."
    )
    assert run_sentences.steps(run) == [
        "A step is a call of step; 2 steps, each: 1 scalar read, 1 size read, 2 DtoH copies, 2 waits.",
        "All steps together: 2 scalar reads, 2 size reads, 4 DtoH copies, 4 waits.",
        "Outside of any step: 1 vector read, 1 DtoH copy, 1 wait.",
    ]


def test_a_scope_without_events_says_that_nothing_was_read():
    with syncscope.observe() as empty:
        pass
    assert empty.report().startswith(
        "No line reads, copies or waits.\nThe whole run, simulated (no GPU ran): no read, no copy, no wait.\n"
    )


def test_a_function_that_was_never_called_is_said_so():
    with syncscope.observe(per="no_such_function") as empty:
        pass
    assert run_sentences.warnings(recorded(empty)) == [
        "No function of your own code that is named 'no_such_function' was called: there are no steps."
    ]


def test_what_is_unknown_is_a_warning_in_every_report(run):
    site = RunSite("a.py", 3, "f", "my.op(x)", False, "unknown", "my::op", 2, reason="nothing is known of it")
    unsure = replace(run, sites=[site])
    said = "Unknown: my::op at a.py:3, 2 times: nothing is known of it."
    assert said in run_terminal.render(unsure)
    assert said in run_markdown.render(unsure)


def test_what_was_left_out_is_told_and_in_the_totals(scope):
    run = recorded(scope, Paths(skip=(__file__,)))
    assert run.sites == []
    assert run.counts == scope.counts
    assert run_sentences.verdict(run) == "No line of those shown reads, copies or waits."
    (said,) = run_sentences.left_out(run)
    assert said.startswith(f"Left out by --skip {__file__}: 3 sites (2 scalar reads, 1 vector read")


def test_a_pattern_that_matches_no_file_is_told(scope):
    run = recorded(scope, Paths(only=("no_such_*.py", __file__, "*/test_record.py")))
    assert run_sentences.warnings(run) == [
        "No file matches --only no_such_*.py: give a file, a folder or a glob that does."
    ]
    assert "No file matches --only no_such_*.py" in run_terminal.render(run)


def test_a_long_page_is_cut_and_says_so(run):
    sites = [replace(run.sites[0], line=line, text="x" * 100, reason="y" * 200) for line in range(1000)]
    page = run_markdown.render(replace(run, sites=sites))
    assert len(page) < 65_000
    assert "more sites, in the JSON record" in page


@pytest.mark.parametrize("extension", RUN_FORMATS)
def test_a_report_is_written_in_each_format(run, extension, tmp_path):
    path = tmp_path / f"run{extension}"
    write(run, path)
    assert "Tensor.item" in path.read_text()


def test_paths_are_files_folders_and_globs(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "a.py").touch()
    folder = str(tmp_path)
    file = str(tmp_path / "models" / "a.py")
    for path in ("models", "models/a.py", "./models/", "models/*.py", "*.py", "**/a.py", file, folder):
        assert Paths(only=(path,), folder=folder).show(file), path
        assert not Paths(skip=(path,), folder=folder).show(file), path
    for path in ("model", "models/b.py", "a.p"):
        assert not Paths(only=(path,), folder=folder).show(file), path
    with pytest.raises(Unusable, match=r"^skip: none: no such file or folder"):
        Paths(skip=("none",), folder=folder).check()
