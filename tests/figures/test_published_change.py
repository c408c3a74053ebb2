"""The published change "read the frame budgets once": its 24 figures, on a machine with no GPU."""

import csv
import io
from pathlib import Path

import pytest

from syncscope.comparison.results import decode
from syncscope.comparison.run import Plan, compare
from syncscope.reports import counts_csv
from syncscope.subjects.cases import sweep_of
from syncscope.subjects.inputs import chosen_workload
from syncscope.subjects.pair import load_pair

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/vidcom2"
ATTACHED = ROOT / "reports/vidcom2-read-once"

# RTX 4090, driver 580.76.05, CUDA 13.2, PyTorch 2.13.0+cu132; totals over 20 complete mask calls.
PUBLISHED = """\
frames,calls,item_old,item_new,memcpy_old,memcpy_new,topk_old,topk_new,scatter_old,scatter_new
2,20,60,0,60,20,60,60,40,40
8,20,180,0,220,60,200,200,160,160
32,20,660,0,700,60,680,680,640,640
"""


def compared(old, new, calls=20, frames=(2, 8, 32), kind=None, device="sim", **variables):
    subjects = load_pair(str(EXAMPLES / old), str(EXAMPLES / new))
    sweep = sweep_of([("frames", frames), *((name, [value]) for name, value in variables.items())])
    workload = chosen_workload(*subjects, sweep, kind=kind)
    return compare(*subjects, Plan(sweep, workload, calls=calls, device=device))


@pytest.fixture(scope="module")
def published():
    return compared("per_frame_reads.py", "read_once.py")


def rows(text):
    return list(csv.DictReader(line for line in io.StringIO(text) if not line.startswith("#")))


def test_all_24_figures_are_the_published_ones(published):
    assert rows(counts_csv.render(published)) == rows(PUBLISHED)


def test_the_figures_written_here_are_those_of_the_published_file():
    golden = ROOT.parent / "shared/golden/profiler_counts.csv"
    if not golden.exists():
        pytest.skip("the published file is not beside the project; its figures are carried over above")
    assert rows(golden.read_text()) == rows(PUBLISHED)


def test_the_outputs_are_equal_and_torch_profiler_contradicts_nothing(published):
    assert published.equal
    assert published.disagreements == []
    assert published.grew == []


def test_the_laws_are_those_that_the_change_claims(published):
    texts = {side: {name: law.text for name, law in laws.items()} for side, laws in published.growth.items()}
    assert texts["old"]["scalar_reads"] == "T + 1"
    assert texts["new"]["scalar_reads"] == "0"
    assert texts["new"]["vector_reads"] == "1"
    assert texts["old"]["memcpy"].startswith("T + 1 (+2 where lines")
    assert texts["new"]["memcpy"].startswith("1 (+2 where lines")


def test_the_two_copies_that_remain_are_named_by_line(published):
    remaining = {
        (site.text, site.kind, site.dtoh, site.htod)
        for site in published.sites
        if site.subject == "new" and site.kind != "vector_read"
    }
    assert remaining == {
        ("candidates = torch.nonzero(mask == too_many).squeeze(1)", "size_read", 1, 0),
        ("mask[candidates[chosen]] = not too_many", "upload", 0, 1),
    }
    lines = (EXAMPLES / "read_once.py").read_text().splitlines()
    assert all(lines[site.line - 1].strip() == site.text for site in published.sites if site.subject == "new")


def test_equal_frames_never_need_the_reconcile_step():
    noise = compared("per_frame_reads.py", "read_once.py", calls=3, kind="noise")
    assert [case.new.counts.memcpy for case in noise.cases] == [3, 3, 3]
    assert [case.old.counts.memcpy for case in noise.cases] == [9, 27, 99]
    assert not any(site.kind == "size_read" for site in noise.sites)


def test_no_host_reads_keeps_the_masks_and_reads_copies_and_grows_nothing():
    further = compared("read_once.py", "no_host_reads.py", calls=2, dtype="float32")
    assert further.equal
    for case in further.cases:
        counts = case.new.counts
        assert (counts.host_reads, counts.memcpy, counts.waits, counts.unknown_ops) == (0, 0, 0, 0)
    laws = further.growth["new"]
    assert {laws["launches.topk"].kind, laws["launches.scatter"].kind} == {"constant"}


def test_the_review_attachment_holds_the_counts_that_are_found_now(published):
    attached = decode((ATTACHED / "result.json").read_bytes())
    assert [(case.sweep, case.old.counts, case.new.counts) for case in attached.cases] == [
        (case.sweep, case.old.counts, case.new.counts) for case in published.cases
    ]
    assert rows((ATTACHED / "counts.csv").read_text()) == rows(PUBLISHED)


@pytest.mark.gpu
def test_a_real_gpu_measures_the_published_figures_and_the_scope_names_every_copy():
    measured = compared("per_frame_reads.py", "read_once.py", device="cuda")
    assert measured.provenance == "measured"
    assert measured.disagreements == []
    assert rows(counts_csv.render(measured)) == rows(PUBLISHED)
