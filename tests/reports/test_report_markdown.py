"""The Markdown page pastes into a pull request: GitHub's tables, everything of the user's made harmless."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from syncscope.comparison.results import Comparison, Environment
from syncscope.reports import github, markdown

PUBLISHED = """\
| T | item calls, old → new | CUDA memcpy events, old → new | Top-K calls, old/new | Scatter calls, old/new |
| --- | --- | --- | --- | --- |
| 2 | 60 → 0 | 60 → 20 | 60/60 | 40/40 |
| 8 | 180 → 0 | 220 → 60 | 200/200 | 160/160 |
| 32 | 660 → 0 | 700 → 60 | 680/680 | 640/640 |
"""

# What a source line can hold; other whitespace is folded into one space.
SOURCE = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=80)


def parsed(text: str) -> list:
    return MarkdownIt("commonmark").enable("table").parse(text)


def cells(text: str) -> list:
    return [token for token in parsed(text) if token.type == "inline"]


def test_the_verdict_comes_first(comparison: Comparison) -> None:
    assert markdown.render(comparison).startswith(
        "**Outputs equal bit for bit in all 3 cases (60 calls compared, computed on the CPU).** "
        "Per call, simulated (no GPU ran): scalar reads T + 1 → 0, vector reads 0 → 1, "
        "copies T + 1 → 1 (+2 where lines 71-75 run), "
    )


def test_the_table_is_the_published_one_under_its_provenance(comparison: Comparison) -> None:
    assert f"Totals over 20 calls, simulated (no GPU ran); T = frames.\n\n{PUBLISHED}" in markdown.render(
        comparison
    )


def test_another_sweep_and_other_families_have_their_own_columns(other_sweep: Comparison) -> None:
    page = markdown.render(other_sweep)
    assert "| n | item calls, old → new | CUDA memcpy events, old → new | sort calls, old/new |" in page
    assert "| 12 | 660 → 0 | 700 → 60 | 0/0 |" in page


def test_growth_drops_what_never_happens(comparison: Comparison) -> None:
    page = markdown.render(comparison)
    assert "| copies | T + 1 (+2 where lines 74-78 run) | 1 (+2 where lines 71-75 run) |" in page
    assert "| HtoD copies | 1 where lines 74-78 run | 1 where lines 71-75 run |" in page
    assert "| DtoD copies |" not in page
    assert "| unknown operators |" not in page


def test_lines_have_source_growth_and_fate(comparison: Comparison) -> None:
    assert (
        "| `examples/vidcom2/per_frame_reads.py:60` | `k = int(budgets[frame].item())` "
        "| scalar read by `Tensor.item`, `int64`: 1 DtoH copy, 1 wait | T | gone |"
    ) in markdown.render(comparison)


def test_what_remains_says_why(comparison: Comparison) -> None:
    assert (
        "| `examples/vidcom2/read_once.py:74` | `mask[kept[drop]] = False` "
        "| upload by `Tensor.__setitem__`, `bool`: 1 HtoD copy, 1 wait | 1 where lines 71-75 run | as in old "
        "| an indexed write uploads its scalar |"
    ) in markdown.render(comparison)


def test_differences_are_a_table(differing: Comparison) -> None:
    page = markdown.render(differing)
    assert page.startswith("**Outputs DIFFER in 1 of 3 cases (T = 8), computed on the CPU.**")
    assert "| T = 8 | `[1]` | shape | old (8, 4), new (8, 5) |" in page


def test_a_cpu_profile_is_marked_as_no_cuda_count(comparison: Comparison) -> None:
    page = markdown.render(comparison)
    assert (
        "<summary>ATen calls by torch.profiler, totals over 20 calls (CPU run: not CUDA counts)</summary>"
        in page
    )


def test_a_measured_page_never_says_simulated(comparison: Comparison) -> None:
    machine = Environment(
        "3.12", "2.13.0+cu130", "Linux", "cuda:0", gpu="NVIDIA H200", driver="580.1", cuda="13.0"
    )
    page = markdown.render(replace(comparison, provenance="measured", environment=machine))
    assert "simulated" not in page.lower()
    assert "CPU" not in page
    assert "| GPU | `NVIDIA H200` |" in page


def test_no_path_of_the_machine_is_in_the_page(comparison: Comparison) -> None:
    assert "/home/" not in markdown.render(comparison)


def test_folded_parts_are_closed(comparison: Comparison) -> None:
    page = markdown.render(comparison)
    assert page.count("<details>") == page.count("</details>") == 3


@given(SOURCE)
def test_any_source_line_stays_one_cell_with_its_text(source: str) -> None:
    found = cells(github.table(["a", "b"], [[github.code(source), "end"]]))
    expected = " ".join(source.split())
    assert [cell.content for cell in found][-1] == "end"
    assert [child.content for child in found[2].children if child.type == "code_inline"] == [expected] * bool(
        expected
    )


@given(st.text("ab01 _*`<>&|[]()~#+-=\\!", max_size=60))
def test_any_sentence_stays_one_sentence_in_one_cell(sentence: str) -> None:
    found = cells(github.table(["a", "b"], [[github.prose(f"x {sentence}"), "end"]]))
    types = {child.type for cell in found for child in cell.children}
    assert [cell.content for cell in found][-1] == "end"
    assert types <= {"text", "text_special", "code_inline"}


@pytest.mark.parametrize(
    ("raw", "cell"),
    [
        ("a | b", r"`a \| b`"),
        ("f'`{x}`'", "`` f'`{x}`' ``"),
        ("a <b>\n c", "`a <b> c`"),
        ("", ""),
    ],
)
def test_source_in_a_cell(raw: str, cell: str) -> None:
    assert github.code(raw) == cell


def test_long_source_is_shortened_visibly() -> None:
    assert github.code("x" * 500) == f"`{'x' * 119}…`"


def test_prose_keeps_code_spans_and_escapes_the_rest() -> None:
    assert (
        github.prose("`a_b*` is <b> & *c* | __init__") == r"`a_b*` is &lt;b&gt; &amp; \*c\* \| \_\_init\_\_"
    )


def test_a_fence_is_longer_than_any_inside() -> None:
    assert github.fenced("```").startswith("````\n")


def test_a_huge_record_stays_under_githubs_limit_and_says_what_is_missing(huge: Comparison) -> None:
    page = markdown.render(huge)
    assert len(page) < 65_000
    assert re.search(r"^… and \d+ more sites, in result\.json$", page, re.M)
    assert re.search(r"^… and \d+ more cases, in result\.json$", page, re.M)
    assert len(page) > 10_000


def test_cut_tables_count_what_they_hide(comparison: Comparison) -> None:
    sites = [replace(comparison.sites[0], line=line) for line in range(1000)]
    page = markdown.render(replace(comparison, sites=sites))
    shown, hidden = page.count("| gone |"), re.search(r"… and (\d+) more sites", page)
    assert hidden is not None
    assert shown + int(hidden[1]) == 1000


def test_many_families_are_cut_as_well(comparison: Comparison) -> None:
    families = [f"family{n}" for n in range(3000)]
    zero = comparison.growth["old"]["dtod"]
    growth = {
        side: {f"launches.{family}": zero for family in families} | comparison.growth[side]
        for side in ("old", "new")
    }
    page = markdown.render(replace(comparison, families=families, growth=growth))
    assert len(page) < 65_000
    assert "more columns, in result.json" in page
