"""The counts as CSV have the columns of the published profiler counts, and its figures."""

from __future__ import annotations

from dataclasses import replace

from syncscope.comparison.results import Comparison
from syncscope.reports import counts_csv

# The published totals over 20 calls (RTX 4090, torch.profiler).
PUBLISHED = """\
frames,calls,item_old,item_new,memcpy_old,memcpy_new,topk_old,topk_new,scatter_old,scatter_new
2,20,60,0,60,20,60,60,40,40
8,20,180,0,220,60,200,200,160,160
32,20,660,0,700,60,680,680,640,640
"""


def test_the_published_change_gives_the_published_rows(comparison: Comparison) -> None:
    assert counts_csv.render(comparison) == PUBLISHED


def test_another_sweeps_variables_stand_in_place_of_frames(other_sweep: Comparison) -> None:
    lines = counts_csv.render(other_sweep).splitlines()
    assert lines[0].startswith("n,calls,item_old,item_new,")
    assert [line.split(",")[0] for line in lines[1:]] == ["4", "8", "12"]


def test_further_families_come_last_and_the_published_ones_stay(other_sweep: Comparison) -> None:
    heading = counts_csv.render(other_sweep).splitlines()[0]
    assert heading.endswith("topk_old,topk_new,scatter_old,scatter_new,sort_old,sort_new")


def test_a_family_that_was_not_counted_is_zero(comparison: Comparison) -> None:
    counts = replace(comparison.cases[0].old.counts, launches={})
    case = replace(comparison.cases[0], old=replace(comparison.cases[0].old, counts=counts))
    row = counts_csv.render(replace(comparison, cases=[case])).splitlines()[1]
    assert row == "2,20,60,0,60,20,0,60,0,40"


def test_frames_stand_even_where_they_do_not_vary(comparison: Comparison) -> None:
    cases = [replace(comparison.cases[0], sweep={**comparison.cases[0].sweep, "q": q}) for q in (0.25, 0.5)]
    text = counts_csv.render(replace(comparison, cases=cases, swept=["q"]))
    assert text.splitlines()[0].startswith("frames,q,calls,")
    assert [line[:7] for line in text.splitlines()[1:]] == ["2,0.25,", "2,0.5,2"]


def test_what_varies_stands_beside_frames_once(comparison: Comparison) -> None:
    heading = counts_csv.render(replace(comparison, swept=["dtype", "frames"])).splitlines()[0]
    assert heading.startswith("frames,dtype,calls,")


def test_a_value_with_a_comma_stays_one_field(other_sweep: Comparison) -> None:
    case = replace(other_sweep.cases[0], sweep={"n": "a,b"})
    assert counts_csv.render(replace(other_sweep, cases=[case])).splitlines()[1].startswith('"a,b",20,')
