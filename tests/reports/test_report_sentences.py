"""What every format says in the same words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from syncscope import events
from syncscope.comparison.results import (
    Branch,
    Comparison,
    Difference,
    Environment,
    Extra,
    Law,
    Parity,
    Range,
    SubjectRecord,
)
from syncscope.reports import figures, laws, lines, sentences, words

WITHOUT_GPU = "Per call, simulated (no GPU ran): "
EXACT = "1 of 9, by at most 12345678: old 0, new 1"


def test_the_verdict_says_equality_and_growth(comparison: Comparison) -> None:
    assert sentences.verdict(comparison) == (
        "Outputs equal bit for bit in all 3 cases (60 calls compared, computed on the CPU). "
        "Per call, simulated (no GPU ran): scalar reads T + 1 → 0, vector reads 0 → 1, "
        "copies T + 1 → 1 (+2 where lines 71-75 run), waits T + 1 → 1 (+2 where lines 71-75 run); "
        "size reads, Top-K calls and Scatter calls unchanged."
    )


def test_differing_outputs_come_first(differing: Comparison) -> None:
    assert sentences.outputs(differing) == "Outputs DIFFER in 1 of 3 cases (T = 8), computed on the CPU."


def test_nothing_compared_is_not_equality(comparison: Comparison) -> None:
    cases = [replace(case, parity=Parity(equal=True, compared=0)) for case in comparison.cases]
    said = sentences.outputs(replace(comparison, cases=cases))
    assert said == "No output was compared: nothing is known about equality."


def test_one_case_is_called_one_case(comparison: Comparison) -> None:
    one = replace(comparison, cases=comparison.cases[:1], provenance="measured")
    assert sentences.outputs(one) == "Outputs equal bit for bit in the one case (20 calls compared)."
    assert "One case was run: nothing follows about growth." in sentences.limitations(one)


@pytest.mark.parametrize("provenance", ["measured", "emulated", "simulated", "recorded"])
def test_every_sentence_with_counts_names_where_they_are_from(
    comparison: Comparison, provenance: str
) -> None:
    made = replace(comparison, provenance=provenance)
    assert provenance in sentences.counts(made)
    assert provenance in sentences.caption(made)
    assert any(limit.lower().startswith(provenance) for limit in sentences.limitations(made))


def test_only_a_measured_count_may_speak_of_a_gpu_run(comparison: Comparison) -> None:
    assert sentences.profiled(comparison) == (
        "ATen calls by torch.profiler, totals over 20 calls (CPU run: not CUDA counts)"
    )
    assert sentences.profiled(replace(comparison, provenance="measured")).endswith("(GPU run)")


def test_a_function_without_any_read_says_so(comparison: Comparison) -> None:
    nothing = replace(comparison.cases[0].old, counts=events.Counts(launches={}), per_call={})
    case = replace(comparison.cases[0], old=nothing, new=nothing)
    clean = replace(comparison, cases=[case], sites=[])
    assert sentences.counts(clean) == WITHOUT_GPU + "no read, no copy and no wait in old or new."
    assert sentences.remaining(clean) == (
        "In the cases that were run, nothing remains in new: no read, no copy, no wait."
    )


def test_a_comparison_of_a_file_with_itself_changes_nothing(comparison: Comparison) -> None:
    cases = [replace(case, new=case.old) for case in comparison.cases]
    assert sentences.counts(replace(comparison, cases=cases)) == (
        WITHOUT_GPU + "scalar reads, size reads, copies, waits, Top-K calls and Scatter calls unchanged."
    )


def test_equal_totals_of_unequal_calls_are_a_change(varying: Comparison) -> None:
    cases = [
        replace(case, new=replace(case.old, per_call={**case.old.per_call, "waits": Range(9, 9)}))
        for case in varying.cases
    ]
    assert not figures.same(replace(varying, cases=cases), "waits")


def test_counts_that_vary_are_a_range_with_a_warning(varying: Comparison) -> None:
    said = sentences.warnings(varying)
    assert "The input decides: at T = 8 old has 9 to 11 copies and 9 to 11 waits a call." in said
    assert figures.figure_columns(varying)[1].cell(varying.cases[1]) == "220 → 60 (9 to 11 → 3 a call)"


def test_lines_that_some_inputs_ran_are_a_warning(comparison: Comparison) -> None:
    assert sentences.warnings(comparison) == [
        "The input decides: lines 74-78 of old and lines 71-75 of new ran for 2 of 3 inputs."
    ]


def test_lines_that_no_input_ran_were_not_seen(comparison: Comparison) -> None:
    never = replace(comparison, branches=[Branch("new", (80, 80), 0, 3)])
    assert sentences.warnings(never) == ["Not seen: line 80 of new ran for none of 3 inputs."]


def test_an_unknown_operator_makes_figures_lower_bounds(with_unknown: Comparison) -> None:
    grew, unknown, *_ = sentences.warnings(with_unknown)
    assert grew == "Larger in new than in old: unknown operators."
    assert unknown == (
        "Unknown operators, not in the cost table: mine::pack.default (examples/vidcom2/read_once.py:80). "
        "What they copy or wait for is missing: figures are lower bounds."
    )
    assert "besides the unknown operators, nothing remains" in sentences.remaining(
        replace(with_unknown, sites=[site for site in with_unknown.sites if site.kind == "unknown"])
    )


def test_a_line_where_the_driver_may_wait_is_a_warning_and_no_count(comparison: Comparison) -> None:
    upload = next(site for site in comparison.sites if site.subject == "new" and site.kind == "upload")
    later = replace(upload, waits=0, may_wait=True)
    doubted = replace(comparison, sites=[later if site is upload else site for site in comparison.sites])
    assert sentences.warnings(doubted)[0] == (
        f"Counted as no wait, but the driver may wait: {lines.place(comparison, upload)} (new)."
    )
    assert sentences.warnings(doubted)[1:] == sentences.warnings(comparison)
    assert lines.costs(later) == "1 HtoD copy, the driver may wait"
    both = replace(comparison, sites=[replace(upload, subject="old"), later])
    assert lines.of_old(both)[0].fate == "stays, but now the driver may wait"
    assert lines.of_new(both)[0].origin == "as in old, but now the driver may wait"


def test_a_disagreement_is_a_warning(comparison: Comparison) -> None:
    doubted = replace(comparison, disagreements=["61 aten::item at T = 2, the scope saw 60."])
    assert sentences.warnings(doubted)[0] == (
        "torch.profiler disagrees: 61 aten::item at T = 2, the scope saw 60."
    )


def test_a_difference_says_where_and_how_much(differing: Comparison) -> None:
    case = differing.cases[1]
    values, shape = (sentences.difference(differing, case, found) for found in case.parity.differences)
    assert values == (
        "T = 8: [0]['mask'] differs (values): 7 of 1568, first at (4), (9), (11), …, by at most 1: "
        "old 2, 0, ..., new 1, 1, ..."
    )
    assert shape == "T = 8: [1] differs (shape): old (8, 4), new (8, 5)"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Difference("", "values", "3", "5", 1, 1, [[]], largest=2), "1 of 1, by at most 2: old 3, new 5"),
        (Difference("", "values", "a", "b", 1, 9, [[0, 1]]), "1 of 9, first at (0, 1): old a, new b"),
        (Difference("", "values", "1", "2", 1, 9, largest=0.125), "1 of 9, by at most 0.125: old 1, new 2"),
        (Difference("", "values", "0", "1", 1, largest=12345678, numel=9), EXACT),
        (Difference("", "uncomparable", "A", "no =="), "old A, new no =="),
    ],
)  # fmt: skip
def test_the_extent_of_a_difference(found: Difference, said: str) -> None:
    assert sentences.extent(found) == said


def test_the_limitations_follow_from_a_simulated_run(comparison: Comparison) -> None:
    said = " ".join(sentences.limitations(comparison))
    assert (
        "They were not seen on a GPU. Waits inside CUDA's libraries and the driver are not visible." in said
    )
    assert "equal there is not yet equal on a GPU" in said
    assert "One device" in said
    assert "no claim about end-to-end speed" in said
    assert "no claim about latency" in said
    assert "exactly in the 3 cases that were run (T = 2, 8, 32), and are not proven beyond" in said


def test_the_limitations_of_a_measured_run_name_the_gpu(comparison: Comparison) -> None:
    machine = Environment("3.12", "2.13.0+cu130", "Linux", "cuda:0", gpu="NVIDIA H200")
    first, *rest = sentences.limitations(replace(comparison, provenance="measured", environment=machine))
    assert first == "Measured on one GPU (NVIDIA H200), PyTorch 2.13.0+cu130: others may differ."
    assert "not seen on a GPU" not in " ".join(rest)


def test_an_addition_that_only_one_side_has_stays_with_it() -> None:
    old = Law(
        "constant", 3, extras=[Extra((5, 6), Law("constant", 1, text="1"))], text="3 (+1 where lines 5-6 run)"
    )
    assert laws.change(old, Law("constant", 2, text="2")) == "3 (+1 where lines 5-6 run) → 2"


def test_a_moved_branch_is_the_same_law() -> None:
    old, new = (
        Law("constant", 0, extras=[Extra(span, Law("constant", 1, text="1"))]) for span in ((4, 5), (7, 8))
    )
    assert laws.same(old, new)


def test_old_lines_are_gone_stay_or_have_a_new_growth(comparison: Comparison) -> None:
    assert [line.fate for line in lines.of_old(comparison)] == ["gone", "gone", "stays", "stays"]
    fewer = [
        replace(site, growth=Law("constant", 7, text="7")) if site.subject == "new" else site
        for site in comparison.sites
    ]
    assert [line.fate for line in lines.of_old(replace(comparison, sites=fewer))][2:] == [
        "7 a call",
        "7 a call",
    ]


def test_remaining_lines_are_added_or_as_in_old(comparison: Comparison) -> None:
    assert [line.origin for line in lines.of_new(comparison)] == ["added", "as in old", "as in old"]
    assert sentences.remaining(comparison) == "3 lines of new still read, copy or wait; 1 of them not in old."


def test_each_line_has_one_counterpart(comparison: Comparison) -> None:
    twice = [site for site in comparison.sites if site.subject == "old"] + [
        replace(site, line=site.line + 100) for site in comparison.sites if site.subject == "old"
    ]
    found = lines.of_old(
        replace(comparison, sites=[*twice, *(s for s in comparison.sites if s.subject == "new")])
    )
    assert [line.fate for line in found].count("stays") == 2


def test_launches_are_no_lines_that_wait(comparison: Comparison) -> None:
    assert "launch" not in {line.site.kind for line in lines.of_new(comparison)}


def test_a_line_says_kind_spelling_and_cost(comparison: Comparison) -> None:
    assert lines.what(comparison.sites[0]) == "scalar read by Tensor.item, int64: 1 DtoH copy, 1 wait"
    assert lines.what(replace(comparison.sites[0], dtoh=0, waits=2, api="")) == "scalar read, int64: 2 waits"


def test_a_line_that_varies_says_its_range(comparison: Comparison) -> None:
    site = replace(comparison.sites[1], per_case=[Range(1, 1), Range(0, 1), Range(0, 2)])
    assert lines.a_call(site) == "1 (the input decides: 0 to 2)"


@pytest.mark.parametrize(
    ("label", "file", "expected"),
    [
        ("a/old.py", "/home/me/a/old.py", "a/old.py:60"),
        ("a/old.py::f", "/home/me/a/old.py", "a/old.py:60"),
        ("main:a/old.py", "/home/me/a/old.py", "main:a/old.py:60"),
        ("pack.old:f", "/home/me/a/old.py", "old.py:60"),
        ("a/old.py", "/home/me/a/near/other.py", "near/other.py:60"),
        ("a/old.py", "/x/lib/site-packages/transformers/m.py", "transformers/m.py:60"),
        ("a/old.py", "/elsewhere/m.py", "/elsewhere/m.py:60"),
    ],
)
def test_a_place_is_the_path_the_user_wrote(
    comparison: Comparison, label: str, file: str, expected: str
) -> None:
    subject = SubjectRecord(label, "/home/me/a/old.py", "f")
    site = replace(comparison.sites[0], file=file)
    assert lines.place(replace(comparison, old=subject), site) == expected


def test_every_kind_and_count_has_a_word() -> None:
    assert set(words.KINDS) == set(events.KINDS)
    assert set(words.COUNTS) == set(events.COUNT_NAMES)


@pytest.mark.parametrize(
    ("amount", "noun", "said"), [(1, "wait", "1 wait"), (2, "copy", "2 copies"), (0, "case", "0 cases")]
)
def test_numbers_have_plurals(amount: int, noun: str, said: str) -> None:
    assert words.number(amount, noun) == said


def test_where_nothing_is_returned_it_says_so() -> None:
    returned, nothing = Parity(True, 1), Parity(True, 1, returned=False)
    assert sentences.equal([returned, returned]) == "Outputs equal bit for bit"
    assert sentences.equal([nothing]) == "Nothing was returned to compare; arguments equal bit for bit"
    assert sentences.equal([returned, nothing]) == "Outputs equal bit for bit (in 1 nothing was returned)"
