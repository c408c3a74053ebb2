"""A benchmark as a terminal's text, a page, a table and plots."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure
from rich.console import Console

from syncscope.bench.record import Bench, Counted, Device, Machine, Row
from syncscope.bench.summary import summaries
from syncscope.comparison.results import Difference, Environment, Parity, SubjectRecord
from syncscope.events import Counts
from syncscope.latency import recheck, verdicts
from syncscope.latency.clock import ClockFigures
from syncscope.latency.record import Interval, Samples, Timing
from syncscope.reports import bench_csv, bench_markdown, bench_plots, bench_rows, bench_sentences
from syncscope.reports import latency as latency_words
from syncscope.reports.bench_terminal import print_bench

HERE = Machine("node1", "cpu", "Processor 9", "2.13.0")
EQUAL = Parity(equal=True, compared=1)


def samples(old_us: float, new_us: float, number: int = 40) -> Samples:
    """With a little noise, in which old and new are not alike."""
    old = [round(1e3 * old_us * (1 + 0.001 * (at * 7 % 10))) for at in range(number)]
    new = [round(1e3 * new_us * (1 + 0.001 * (at * 3 % 10))) for at in range(number)]
    return Samples({"old": old, "new": new}, "onno " * (number // 2))


def row(frames: int, dtype: str = "float32", speedup: float | None = None, machine: Machine = HERE) -> Row:
    """One read a frame against one: each costs 10 µs beside 100 µs."""
    old_us = 100 + 10 * frames
    new_us = 110 if speedup is None else old_us / speedup
    counts = {"old": Counted(2, Counts(waits=2 * (frames + 1))), "new": Counted(2, Counts(waits=2))}
    latency = verdicts.latency(samples(old_us, new_us), "cuda" if machine.device == "cuda" else "cpu")
    return Row({"dtype": dtype, "frames": frames}, EQUAL, machine, counts, latency=latency)


def bench(*rows: Row, device: Device = "cpu", swept: tuple[str, ...] = ("dtype", "frames")) -> Bench:
    final = verdicts.with_corrected(rows)
    return Bench(
        command="syncscope bench old.py new.py",
        old=SubjectRecord("old.py", "old.py", "f"),
        new=SubjectRecord("new.py", "new.py", "f"),
        swept=list(swept),
        workload="make_inputs of old.py",
        seeds=[0],
        device=device,
        timing=Timing(),
        rows=final,
        summaries=summaries(final),
        environment=Environment("3.11", "2.13.0", "Linux", device),
        clock=ClockFigures(60, 70.0),
    )


@pytest.fixture
def found() -> Bench:
    return bench(*(row(frames, dtype) for dtype in ("float16", "float32") for frames in (2, 4, 8)))


def printed(bench: Bench, width: int = 80) -> str:
    text = io.StringIO()
    print_bench(bench, Console(file=text, width=width))
    return text.getvalue()


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_verdict_stands_first(found: Bench) -> None:
    assert printed(found).startswith("Outputs equal bit for bit in all 6 rows.\nOn the CPU Processor 9: ")
    said = flat(printed(found))
    assert "; 6 faster (corrected for 6 rows). No regression beyond 3 % holds." in said
    assert "geometric mean 1.315x (" in said


def test_no_figure_is_cut_on_a_narrow_terminal(found: Bench) -> None:
    assert "…" not in printed(found, width=40)
    assert "float16  2  120.5 µs  110.5 µs  1.091x" in printed(found, width=40)


def test_cpu_times_are_never_a_gpus(found: Bench) -> None:
    for text in (printed(found), bench_markdown.render(found)):
        assert "never a GPU's" in flat(text)
        assert "Nothing waits on a CPU" in flat(text)


def test_gpu_times_say_what_a_sample_is() -> None:
    gpu = replace(HERE, device="cuda", name="A100")
    said = flat(printed(bench(*(row(frames, machine=gpu) for frames in (2, 4, 8)), device="cuda")))
    assert "On the GPU A100" in said
    assert "from an idle device to an idle device" in said
    assert "A removed wait is worth 10.04 µs (10.04 to 10.04) and explains 127 % of the gain" in said
    assert "10.0 µs a call lost has nothing to do with them" in said
    assert "CPU" not in said


def test_unlike_machines_are_told_apart() -> None:
    gpus = [replace(HERE, device="cuda", name=name) for name in ("A100", "H200")]
    sentences = bench_sentences.speed(bench(row(2, machine=gpus[0]), row(4, machine=gpus[1]), device="cuda"))
    assert [sentence[:17] for sentence in sentences[:2]] == ["On the GPU A100: ", "On the GPU H200: "]


def test_among_unlike_machines_each_row_and_each_figure_names_its_own() -> None:
    gpus = [replace(HERE, device="cuda", name=name) for name in ("A100", "H200")]
    made = bench(*(row(frames, gpu.name, machine=gpu) for gpu in gpus for frames in (2, 4, 8)), device="cuda")
    column = bench_rows.headings(made).index("machine")
    assert [bench_rows.cells(made, row)[column] for row in made.rows] == ["A100"] * 3 + ["H200"] * 3
    assert [sentence.partition(" is worth")[0] for sentence in bench_sentences.worth(made)] == [
        "A100: A removed wait", "H200: A removed wait"
    ]  # fmt: skip
    axes = Figure().add_subplot()
    bench_plots._worth(axes, bench_plots._THEMES[0], made)
    lines = [line for line in axes.lines if "µs a wait" in str(line.get_label())]
    assert [str(line.get_label()).partition(":")[0] for line in lines] == ["A100", "H200"]
    assert len({line.get_linestyle() for line in lines}) == 2


def test_what_the_device_took_stands_beside_what_the_caller_waited() -> None:
    gpu = replace(HERE, device="cuda", name="A100")
    with_device = replace(samples(500, 400), device={"old": [300_000] * 40, "new": [200_000] * 40})
    made = bench(replace(row(2, machine=gpu), latency=verdicts.latency(with_device, "cuda")), device="cuda")
    assert dict(zip(bench_rows.headings(made), bench_rows.cells(made, made.rows[0]), strict=True))[
        "device p50"
    ] == ("300 µs → 200 µs")
    (table,) = csv.DictReader(bench_csv.render(made).splitlines())
    figures = [table[f"device_{name}"] for name in ("old_p50", "new_p50", "speedup")]
    assert figures == ["300.0", "200.0", "1.5"]


def test_waits_whose_worth_may_be_nothing_explain_nothing(found: Bench) -> None:
    (summary,) = found.summaries
    doubtful = replace(summary, worth=replace(summary.worth, interval=Interval(-1.68, 11.84)))
    (said,) = bench_sentences.worth(replace(found, summaries=[doubtful]))
    assert "(-1.68 to 11.84) saved, which may be nothing (a line" in said
    assert "explains" not in said and "nothing to do with them" not in said


def test_an_interval_that_leaves_out_1_beside_no_difference_is_told(found: Bench) -> None:
    latency = replace(found.rows[0].latency, corrected="no difference", interval=Interval(1.01, 1.02))
    made = replace(found, rows=[replace(found.rows[0], latency=latency), *found.rows[1:]])
    assert (
        "1 row without a difference beside an interval that leaves out 1: among 6 rows that may be chance."
        in bench_sentences.notes(made)
    )


def test_a_row_that_differs_has_no_speedup() -> None:
    difference = Difference("[0]", "values", "1", "2", count=3, numel=9)
    differing = Row({"dtype": "float32", "frames": 4}, Parity(False, 1, [difference]), HERE)
    made = bench(row(2), differing)
    assert "Outputs DIFFER in 1 of 2 rows (T = 4): no speedup there." in printed(made)
    assert "T = 4: [0] differs (values): 3 of 9: old 1, new 2" in flat(printed(made))
    cells = dict(zip(bench_rows.headings(made), bench_rows.cells(made, differing), strict=True))
    assert (cells["speedup"], cells["verdict"], cells["outputs"]) == ("", "", "DIFFER")


def rechecked(speedups: list[float]) -> Bench:
    slow = row(2, speedup=0.94)
    again = recheck.judged(500, speedups, beyond=0.03)
    return bench(row(4), replace(slow, latency=replace(slow.latency, recheck=again)))


def test_both_results_of_a_row_that_was_run_again_are_shown() -> None:
    made = rechecked([1.041, 1.037, 1.04, 1.041, 1.041])
    assert (
        "T = 2: 0.940x at first; in 5 trials of 500 iterations in alternating order 1.041x "
        "(1.037x to 1.041x): no regression that holds." in flat(printed(made))
    )
    assert not made.findings
    assert (
        "1 row slower at first and not when run again: verdicts, speedups and means have the first result."
        in bench_sentences.notes(made)
    )
    assert "No regression beyond 3 % holds." in flat(printed(made))


def test_only_a_regression_that_holds_counts() -> None:
    made = rechecked([0.94] * 5)
    assert made.findings
    assert "1 row slower by more than 3 %, and so again." in flat(printed(made))
    assert "the regression holds" in bench_markdown.render(made)


def test_trials_of_unlike_length_say_so() -> None:
    trials = [samples(100, 110, number) for number in (12, 12, 14, 16, 12)]
    again = replace(recheck.judged(12, [0.9] * 5, beyond=0.03), trials=trials)
    said = latency_words.rechecked("T = 2", replace(row(2).latency, recheck=again))
    assert "in 5 trials of 12 to 16 iterations in alternating order 0.900x" in said


def test_rows_that_went_on_are_told() -> None:
    longer = replace(row(2), latency=verdicts.latency(samples(200, 100, number=300), "cpu"))
    usual = replace(row(4), latency=verdicts.latency(samples(200, 100, number=100), "cpu"))
    said = "100 a side, up to 300 in 1 row whose noise could have hidden 10 %"
    assert said in flat(printed(bench(longer, usual)))
    assert said in bench_markdown.render(bench(longer, usual))
    assert "samples 100 a side, warm-ups" in flat(printed(bench(usual)))
    columns = list(csv.DictReader(io.StringIO(bench_csv.render(bench(longer, usual)))))
    assert [each["iterations"] for each in columns] == ["300", "100"]


def test_too_few_iterations_are_told() -> None:
    few = replace(row(2), latency=verdicts.latency(samples(200, 100, number=5), "cpu"))
    said = flat(printed(bench(few)))
    assert "Fewer than 14 iterations can't tell anything from noise" in said
    assert "inconclusive" in said


def test_too_few_iterations_for_so_many_rows_are_told() -> None:
    equal = verdicts.latency(Samples({"old": [100, 120] * 10, "new": [120, 100] * 10}, ""), "cpu")
    one = replace(row(1), latency=equal)
    rows = [replace(one, sweep={"dtype": "float32", "frames": at}) for at in range(288)]
    few = replace(row(289), latency=verdicts.latency(samples(100, 200, number=20), "cpu"))
    made = bench(*rows[1:], few)
    assert made.rows[-1].latency.verdict == "slower"
    assert bench_rows.cells(made, made.rows[-1])[5:7] == ["inconclusive", "none"]
    said = flat(printed(made))
    assert (
        "Among 288 rows one that differs has a verdict only with 30 iterations or more: 288 rows had fewer."
        in said
    )
    assert "could see" not in said


def test_a_verdict_beside_an_interval_that_holds_1_is_explained() -> None:
    certain = row(2).latency
    made = bench(replace(row(2), latency=replace(certain, interval=Interval(0.99, 1.2))), row(4))
    said = flat(printed(made))
    assert "1 row faster or slower beside an interval that holds 1: the direction is beyond chance" in said
    assert "holds 1" not in flat(printed(bench(row(2), row(4))))


def test_the_table_has_a_row_a_case_and_empty_cells_for_what_is_not_known(found: Bench) -> None:
    rows = list(csv.DictReader(bench_csv.render(found).splitlines()))
    first = rows[0]
    assert len(rows) == 6
    assert (first["dtype"], first["frames"], first["waits_old"], first["waits_new"]) == (
        "float16",
        "2",
        "3",
        "1",
    )
    assert (first["old_p20"], first["old_p50"], first["old_p80"]) == ("120.22", "120.54", "120.86")
    assert first["p50_speedup"] == "1.0909"
    assert float(first["speedup_low"]) <= 1.0909 <= float(first["speedup_high"])
    assert (first["verdict"], first["uncorrected_verdict"]) == ("faster", "faster")
    assert (first["recheck_speedup"], first["recheck_holds"]) == ("", "")
    assert (first["host"], first["machine"]) == ("node1", "Processor 9")


def test_a_page_is_short_enough_whatever_the_matrix() -> None:
    few = [row(1 + at) for at in range(4)]
    many = bench(*(replace(few[at % 4], sweep={"dtype": "float32", "frames": at}) for at in range(1_500)))
    page = bench_markdown.render(many)
    assert len(page) < 65_000
    assert "more rows are in the .csv and .json reports." in page


def test_a_long_matrix_shows_what_a_reader_has_to_see() -> None:
    slow = row(50, speedup=0.8)
    made = bench(*(replace(row(2), sweep={"dtype": "float32", "frames": at}) for at in range(49)), slow)
    shown = bench_rows.notable(made, 20)
    assert len(shown) == 20
    assert made.rows[-1] in shown
    assert "Rows, 40 of 50: -o FILE.csv has all" in printed(made)


def test_plots_are_drawn_for_light_and_dark_pages(found: Bench, tmp_path: Path) -> None:
    written = bench_plots.draw(found, tmp_path / "plots")
    assert [path.name for path in written] == [
        f"{name}-{page}.svg" for name in ("speedup", "distribution", "worth") for page in ("light", "dark")
    ]
    light, dark = (ElementTree.parse(path).getroot() for path in written[:2])
    texts = [
        "".join(element.itertext()).strip() for element in light.iter("{http://www.w3.org/2000/svg}text")
    ]
    assert {"float16", "float32", "frames, T", "speedup, old p50 / new p50"} <= set(texts)
    assert "#0d1117" in ElementTree.tostring(dark, "unicode")
    # Without colour the series differ in their dashes.
    assert "stroke-dasharray" in ElementTree.tostring(light, "unicode")
    before = [path.read_bytes() for path in written]
    assert [path.read_bytes() for path in bench_plots.draw(found, tmp_path / "plots")] == before


def test_without_times_there_are_no_plots(tmp_path: Path) -> None:
    counted = replace(row(2), latency=None)
    assert bench_plots.draw(bench(counted, device="sim"), tmp_path / "plots") == []
    assert not (tmp_path / "plots").exists()


@pytest.mark.parametrize(
    ("values", "scale"),
    [((1, 2, 4), "log"), ((-1, 0, 1, 2), "linear"), ((0, 0.25, 0.5), "linear"), ((0.25, 0.5), "log")],
)
def test_every_point_of_the_speedup_is_on_the_plot(values: tuple[float, ...], scale: str) -> None:
    made = bench(*(replace(row(2), sweep={"x": x}) for x in values), swept=("x",))
    axes = Figure().add_subplot()
    bench_plots._speedup(axes, bench_plots._THEMES[0], made, "x")
    assert axes.get_xscale() == scale
    (line,) = axes.containers[0].lines[:1]
    assert list(line.get_xdata()) == list(values)
    left, right = axes.get_xlim()
    assert left <= values[0] and values[-1] <= right


def test_a_machine_whose_waits_were_not_counted_has_no_points_of_worth(tmp_path: Path) -> None:
    uncounted = replace(row(4, machine=replace(HERE, name="other")), counts={})
    written = bench_plots.draw(bench(row(2), uncounted), tmp_path / "plots")
    assert "worth-light.svg" in [path.name for path in written]


@pytest.mark.parametrize(
    ("ns", "text"), [(784_240, "784.2 µs"), (3.36e6, "3.36 ms"), (2.5e9, "2.5 s"), (90, "90 ns")]
)
def test_how_times_are_written(ns: float, text: str) -> None:
    assert latency_words.time(ns) == text


@pytest.mark.parametrize(
    ("fraction", "text"), [(0.03, "3 %"), (0.0025, "0.25 %"), (0.971, "97 %"), (1.2, "120 %")]
)
def test_how_parts_are_written(fraction: float, text: str) -> None:
    assert latency_words.percent(fraction) == text
