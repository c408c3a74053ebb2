"""Small real waits from public projects: each with the lines that wait, and how often for n = 4, 8, 12."""

import json
import re
from pathlib import Path

import pytest

from syncscope.comparison.run import Plan, compare
from syncscope.subjects.cases import sweep_of
from syncscope.subjects.inputs import chosen_workload
from syncscope.subjects.pair import load_pair

CASES = Path(__file__).parents[3] / "shared/cases"
FILES = sorted(CASES.glob("[ks]*.py"))

if not FILES:
    pytest.skip("the cases are not beside the project", allow_module_level=True)

EXPECTED = json.loads((CASES / "expected.json").read_text())
SWEEP = sweep_of([("n", (4, 8, 12))])
FIGURES = ("waits", "dtoh", "htod", "dtod")


def compared(file):
    subjects = load_pair(f"{file}::before", f"{file}::after")
    return compare(*subjects, Plan(SWEEP, chosen_workload(*subjects, SWEEP), calls=1, device="sim"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem[:3])
def test_waits_and_copies_are_those_of_cudas_own_host_code(file):
    result = compared(file)
    found = {
        name: {
            figure: [getattr(getattr(case, side).counts, figure) for case in result.cases]
            for figure in FIGURES
        }
        for name, side in (("before", "old"), ("after", "new"))
    }
    assert found == EXPECTED[file.stem[:3]]
    assert result.equal
    assert result.disagreements == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem[:3])
def test_every_wait_has_a_line_of_the_functions_own(file):
    result = compared(file)
    lines = file.read_text().splitlines()
    before = next(i for i, line in enumerate(lines) if line.startswith("def before"))
    after = next(i for i, line in enumerate(lines) if line.startswith("def after"))
    waiting = [site for site in result.sites if site.waits and site.subject == "old"]
    assert all(before < site.line <= after and lines[site.line - 1].strip() == site.text for site in waiting)
    for case, totals in zip(
        result.cases, zip(*(site.per_case for site in waiting), strict=True), strict=True
    ):
        assert sum(r.high * s.waits for r, s in zip(totals, waiting, strict=True)) == case.old.counts.waits


def test_the_docstrings_comments_and_the_sites_name_the_same_lines():
    """Each case marks the lines that wait with a comment; a comment-marked line of `before` is a site."""
    marked = re.compile(r"#.*(read-back|D2H|per frame|hidden|one more|blocking|sync|waits|every step)")
    for file in FILES:
        result = compared(file)
        lines = file.read_text().splitlines()
        before = next(i for i, line in enumerate(lines, 1) if line.startswith("def before"))
        after = next(i for i, line in enumerate(lines, 1) if line.startswith("def after"))
        wanted = {n for n in range(before, after) if marked.search(lines[n - 1])}
        assert wanted <= {site.line for site in result.sites if site.subject == "old"}, file.stem
