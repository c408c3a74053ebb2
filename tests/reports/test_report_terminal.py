"""The terminal report fits 80 columns, loses no figure, and is plain text when piped."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from syncscope.comparison.results import Comparison
from syncscope.reports.terminal import print_comparison


def printed(comparison: Comparison, width: int = 80, **settings: object) -> str:
    out = io.StringIO()
    print_comparison(comparison, Console(file=out, width=width, **settings))  # type: ignore[arg-type]
    return out.getvalue()


def joined(text: str) -> str:
    """The text without its line breaks."""
    return " ".join(text.split())


def test_the_verdict_comes_first(comparison: Comparison) -> None:
    text = printed(comparison)
    assert text.startswith("Outputs equal bit for bit in all 3 cases")
    assert "copies T + 1 → 1 (+2 where lines 71-75 run)" in joined(text[:400])


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_every_figure_of_the_table_is_whole_at_any_width(comparison: Comparison, width: int) -> None:
    text = printed(comparison, width)
    for figure in ("660 → 0", "700 → 60", "680/680", "640/640", "180 → 0", "40/40"):
        assert figure in text


def test_the_published_change_is_one_table_at_80_columns(comparison: Comparison) -> None:
    rows = [joined(line) for line in printed(comparison).splitlines() if line.startswith("32 ")]
    assert rows == ["32 660 → 0 700 → 60 700 → 60 680/680 640/640 equal"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_prose_and_tables_keep_the_width(varying: Comparison, width: int) -> None:
    assert max(map(len, printed(varying, width).splitlines())) <= width


def test_source_lines_are_whole(comparison: Comparison) -> None:
    source = "k = " + " + ".join(f"budgets[{n}].item()" for n in range(20))
    text = printed(replace(comparison, sites=[replace(comparison.sites[0], text=source)]))
    assert f"    {source}\n" in text


def test_brackets_in_source_are_no_markup(comparison: Comparison) -> None:
    text = printed(replace(comparison, sites=[replace(comparison.sites[0], text="x[red] = y[/red] :smile:")]))
    assert "x[red] = y[/red] :smile:" in text


def test_a_pipe_gets_no_escape_codes(with_unknown: Comparison) -> None:
    assert "\x1b" not in printed(with_unknown)


def test_a_terminal_gets_colours_unless_no_color_is_set(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b" in printed(comparison, force_terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in printed(comparison, force_terminal=True)


def test_lines_have_place_source_cost_and_fate(comparison: Comparison) -> None:
    text = printed(comparison, 120)
    assert (
        "  examples/vidcom2/per_frame_reads.py:60\n"
        "    k = int(budgets[frame].item())\n"
        "      scalar read by Tensor.item, int64: 1 DtoH copy, 1 wait; a call: T → gone\n"
    ) in text


def test_what_remains_says_why(comparison: Comparison) -> None:
    _, remains = printed(comparison).split("What remains in new (simulated)")
    assert "examples/vidcom2/read_once.py:72" in remains
    assert "why: an indexed write uploads its scalar" in remains


def test_warnings_differences_and_notes_are_shown(differing: Comparison) -> None:
    text = joined(
        printed(replace(differing, notes=["old.py's code was executed."], disagreements=["61, not 60."]))
    )
    assert "! torch.profiler disagrees: 61, not 60." in text
    assert "- T = 8: [1] differs (shape): old (8, 4), new (8, 5)" in text
    assert "- old.py's code was executed." in text


def test_prose_lines_do_not_end_in_spaces(comparison: Comparison) -> None:
    before, table, after = (
        printed(comparison).replace("Totals over", "\f").replace("Lines of old", "\f").split("\f")
    )
    assert [line for line in (before + after).splitlines() if line.endswith(" ")] == []
