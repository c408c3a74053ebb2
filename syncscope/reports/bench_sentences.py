"""What a benchmark says in words, for every format: plain text, without markup."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from syncscope.bench.record import Bench, Row, Summary
from syncscope.latency.record import Latency, Verdict
from syncscope.latency.worth import Worth
from syncscope.reports import bench_rows, latency, sentences, words

_VERDICTS: tuple[Verdict, ...] = ("faster", "slower", "no difference", "inconclusive")

_NO_TIME = "Counts only, of a simulated device: no time is claimed."

_LIMITS = {
    "cpu": [
        latency.CPU,
        "Waits were counted in a run of their own on a simulated GPU; while time was taken there were none.",
    ],
    "cuda": [
        "A sample is what the caller waits, from an idle device to an idle device.",
        "Waits were counted in a run of their own on a simulated GPU.",
    ],
    "sim": ["Waits are those of a simulated GPU; the code ran on a CPU.", _NO_TIME],
}


def outputs(bench: Bench) -> str:
    """Are old's and new's outputs equal bit for bit, and did every row run?"""
    ran = len(bench.rows) - len(bench.failed)
    return " ".join((*_failed(bench), _differing(bench, ran) if bench.differing else _equal(bench, ran)))


def _failed(bench: Bench) -> list[str]:
    if not bench.failed:
        return []
    of = words.number(len(bench.rows), "row")
    return [f"{len(bench.failed)} of {of} FAILED ({_places(bench, bench.failed)})."]


def _differing(bench: Bench, ran: int) -> str:
    of = f"{words.number(ran, 'row')}{_that_ran(bench)}"
    places = _places(bench, bench.differing)
    return f"Outputs DIFFER in {len(bench.differing)} of {of} ({places}): no speedup there."


def _equal(bench: Bench, ran: int) -> str:
    where = "the only row" if ran == 1 else f"all {words.number(ran, 'row')}"
    said = sentences.equal(row.parity for row in bench.rows if not row.failed)
    return f"{said} in {where}{_that_ran(bench)}."


def _that_ran(bench: Bench) -> str:
    return " that ran" if bench.failed else ""


def _places(bench: Bench, rows: Sequence[Row]) -> str:
    return words.shortened("; ".join(bench_rows.label(bench, row) for row in rows), 80)


def speed(bench: Bench) -> list[str]:
    """The speedup over the rows of each kind of machine, what the verdicts are, and what holds."""
    if bench.device == "sim":
        return [_NO_TIME]
    return [*(_summary(bench, summary) for summary in bench.summaries), *_regressions(bench)]


def _summary(bench: Bench, summary: Summary) -> str:
    timed = [row.latency for row in _of(bench, summary) if row.latency]
    number = Counter(row.corrected for row in timed)
    verdicts = ", ".join(f"{number[verdict]} {verdict}" for verdict in _VERDICTS if number[verdict])
    kind = "GPU" if summary.device == "cuda" else "CPU"
    middle = ""
    if summary.rows > 1:
        mean = latency.with_interval(summary.geometric_mean, summary.geometric_mean_interval)
        median = latency.with_interval(summary.median, summary.median_interval)
        middle = f"geometric mean {mean}, median {median} over {summary.rows} rows"
    else:
        middle = f"speedup {latency.with_interval(timed[0].speedup, timed[0].interval)}"
    return f"On the {kind} {summary.machine}: {middle}; {verdicts}{_correction(bench)}."


def _correction(bench: Bench) -> str:
    timed = sum(row.latency is not None for row in bench.rows)
    return f" (corrected for {timed} rows)" if timed > 1 else ""


def _of(bench: Bench, summary: Summary) -> list[Row]:
    return [
        row
        for row in bench.rows
        if (row.machine.name, row.machine.device) == (summary.machine, summary.device)
    ]


def _regressions(bench: Bench) -> list[str]:
    if not any(row.latency for row in bench.rows):
        return []
    limit = latency.percent(bench.timing.recheck_beyond)
    if bench.regressed:
        return [f"{words.number(len(bench.regressed), 'row')} slower by more than {limit}, and so again."]
    return [f"No regression beyond {limit} holds."]


def rechecked(bench: Bench) -> list[str]:
    """Both results of each row that was run again."""
    told = (latency.rechecked(bench_rows.label(bench, row), row.latency) for row in bench.rows if row.latency)
    return [sentence for sentence in told if sentence]


def failures(bench: Bench) -> list[str]:
    """What was raised in the rows that could not be run."""
    return [row.failed for row in bench.failed]


def differences(bench: Bench) -> list[str]:
    """Where and how much outputs differ."""
    return [
        f"{bench_rows.label(bench, row)}: {found.path or 'output'} differs ({found.what}): "
        f"{sentences.extent(found)}"
        for row in bench.differing
        for found in row.parity.differences
    ]


def worth(bench: Bench) -> list[str]:
    """What the removed waits are worth."""
    return [
        f"{f'{summary.machine}: ' if bench.has_unlike_machines else ''}{_worth(summary, summary.worth)}"
        for summary in bench.summaries
        if summary.worth
    ]


def _worth(summary: Summary, found: Worth) -> str:
    each = f"{found.per_wait_us:.2f} µs ({found.interval.low:.2f} to {found.interval.high:.2f})"
    gain = _gain(found)
    fit = f"a line through {found.rows} rows, r² {found.r_squared:.2f}"
    if summary.device == "cpu":
        return (
            f"Each removed wait goes with {each} saved{gain} ({fit}). Nothing waits on a CPU: "
            "this is what the removed calls themselves cost there."
        )
    return f"A removed wait is worth {each}{gain} ({fit})."


def _gain(found: Worth) -> str:
    """What part the waits have in the gain, and what has nothing to do with them; where they may have any."""
    if found.interval.low <= 0 <= found.interval.high:
        return ", which may be nothing"
    part = "" if found.explained is None else f" and explains {latency.percent(found.explained)} of the gain"
    saved = "saved" if found.fixed_us >= 0 else "lost"
    return f"{part}; {abs(found.fixed_us):.1f} µs a call {saved} has nothing to do with them"


def notes(bench: Bench) -> list[str]:
    """What a reader has to know about how these figures came to be."""
    return [*latency.caveats(list(_timed(bench))), *_repeated(bench), *_uncounted(bench)]


def _timed(bench: Bench) -> Iterator[Latency]:
    return (row.latency for row in bench.rows if row.latency)


def _repeated(bench: Bench) -> list[str]:
    repeated = sum(row.samples.repeated for row in _timed(bench))
    kept = sum(len(samples) for row in _timed(bench) for samples in row.samples.host.values())
    if not repeated:
        return []
    return [
        f"{words.number(repeated, 'call')} made again, in pairs of old and new, beside {kept} that were "
        "kept: the kernel had taken the thread off its core."
    ]


def _uncounted(bench: Bench) -> list[str]:
    reasons = dict.fromkeys(row.uncounted for row in bench.rows if row.uncounted)
    return [f"Waits not counted: {reason}" for reason in reasons]


def limitations(bench: Bench) -> list[str]:
    """What does not follow from the figures."""
    return _LIMITS[bench.device]


def facts(bench: Bench) -> dict[str, str]:
    """How it was timed, and with which versions."""
    timed = latency.facts(bench.timing, bench.clock, list(_timed(bench)))
    return {**timed, **sentences.facts(bench.environment, bench.tool)}
