"""What a comparison says in words, for every format: plain text, without markup."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from syncscope.comparison.results import Branch, CaseResult, Comparison, Difference, Environment, Parity
from syncscope.events import SIDES, Side
from syncscope.reports import figures, latency, laws, lines, words

_SIMULATED = (
    "Simulated: the code ran on a CPU; the counts follow from where tensors would live and a cost table. "
    "They were not seen on a GPU. Waits inside CUDA's libraries and the driver are not visible."
)
_EMULATED = (
    "Emulated: PyTorch's own CUDA host code ran on stand-in libraries and no kernel ran. The counts were not "
    "seen on a GPU. Waits inside CUDA's libraries and the driver are not visible."
)
_CPU_OUTPUTS = "The outputs were computed and compared on the CPU: equal there is not yet equal on a GPU."
_NOT_MEASURED = {
    "simulated": [_SIMULATED, _CPU_OUTPUTS],
    "emulated": [_EMULATED, _CPU_OUTPUTS],
    "recorded": ["Recorded elsewhere: syncscope has not seen this run."],
}
_ON_THE_CPU = ("simulated", "emulated")
_PARTS_OF_COPIES = ("dtoh", "htod", "dtod")


def verdict(comparison: Comparison) -> str:
    """Whether the outputs are equal, and which counts went from what to what in the single call."""
    return f"{outputs(comparison)} {counts(comparison)}"


def outputs(comparison: Comparison) -> str:
    """The verdict's first sentence: are old's and new's outputs equal bit for bit?"""
    differing = [case for case in comparison.cases if not case.parity.equal]
    compared = sum(case.parity.compared for case in comparison.cases)
    where = ", computed on the CPU" if comparison.provenance in _ON_THE_CPU else ""
    if differing:
        named = words.shortened("; ".join(figures.case_label(comparison, case) for case in differing), 60)
        return f"Outputs DIFFER in {len(differing)} of {_cases(comparison)} ({named}){where}."
    if not compared:
        return "No output was compared: nothing is known about equality."
    said = equal(case.parity for case in comparison.cases)
    return f"{said} in {_all_cases(comparison)} ({compared} calls compared{where})."


def equal(parities: Iterable[Parity]) -> str:
    """What was found equal: outputs, or where none of them holds any, arguments."""
    returned = [parity.returned for parity in parities]
    if not any(returned):
        return "Nothing was returned to compare; arguments equal bit for bit"
    some = "" if all(returned) else f" (in {returned.count(False)} nothing was returned)"
    return f"Outputs equal bit for bit{some}"


def counts(comparison: Comparison) -> str:
    """The verdict's second sentence: each count that changed as a growth law, then those that did not."""
    present = [key for key in _verdict_keys(comparison) if not figures.absent(comparison, key)]
    changed = [key for key in present if not figures.same(comparison, key)]
    said = [f"{words.count_name(key)} {change(comparison, key)}" for key in changed]
    kept = [words.count_name(key) for key in present if key not in changed]
    told = f"Per call, {words.PROVENANCE[comparison.provenance]}: "
    if not present:
        return f"{told}no read, no copy and no wait in old or new."
    unchanged = f"{words.series(kept)} unchanged" if kept else ""
    return f"{told}{'; '.join(part for part in (', '.join(said), unchanged) if part)}."


def change(comparison: Comparison, key: str) -> str:
    """``T + 1 → 1 (+2 where lines 71-75 run)``: a count's growth laws, old to new."""
    return words.shortened(laws.change(comparison.growth["old"][key], comparison.growth["new"][key]), 160)


def warnings(comparison: Comparison) -> list[str]:
    """What the reader has to know before using the figures, the gravest first."""
    return [
        *_idle(comparison),
        *_grown(comparison),
        *_unknown(comparison),
        *_uncounted(comparison),
        *disagreements(comparison),
        *_varying(comparison),
        *_branches(comparison.branches),
    ]


def _idle(comparison: Comparison) -> list[str]:
    """The sides that never had a tensor on the device: a zero of theirs is no finding."""
    return [
        f"Nothing of {side} ran on the device: no operator had a tensor there, so its zeros say nothing. "
        "Do its inputs use `device`?"
        for side in comparison.idle
    ]


def disagreements(comparison: Comparison) -> list[str]:
    """The figures that torch.profiler does not confirm."""
    return [f"torch.profiler disagrees: {sentence}" for sentence in comparison.disagreements]


def difference(comparison: Comparison, case: CaseResult, found: Difference) -> str:
    """``T = 8: [0] differs (values): 3 of 1568, first at (4,): old 1, 1, 1, new 0, 0, 0``."""
    where = f"{figures.case_label(comparison, case)}: {found.path or 'output'}"
    return f"{where} differs ({found.what}): {extent(found)}"


def extent(found: Difference) -> str:
    """How much differs: how many elements, where first, by how much at most, and what they are."""
    forms = f"old {found.old}, new {found.new}"
    if found.what != "values" or not found.numel:
        return forms
    first = ", ".join(f"({', '.join(map(str, index))})" for index in found.first if index)
    more = ", …" if found.count > len(found.first) else ""
    at = f", first at {first}{more}" if first else ""
    by = "" if found.largest is None else f", by at most {_exactly(found.largest)}"
    return f"{found.count} of {found.numel}{at}{by}: {forms}"


def remaining(comparison: Comparison) -> str:
    """One sentence over the lines of new that still read, copy or wait."""
    left = lines.of_new(comparison)
    if left:
        added = sum(line.counterpart is None for line in left)
        unmatched = f"; {added} of them not in old" if added else ""
        still = "reads, copies or waits" if len(left) == 1 else "read, copy or wait"
        return f"{words.number(len(left), 'line')} of new still {still}{unmatched}."
    if "new" in comparison.idle:
        return "Nothing of new ran on the device: what remains in it is not known."
    seen = "besides the unknown operators, " if lines.unknown(comparison) else ""
    doubt = " torch.profiler disagrees about a count: see above." if comparison.disagreements else ""
    return f"In the cases that were run, {seen}nothing remains in new: no read, no copy, no wait.{doubt}"


def limitations(comparison: Comparison) -> list[str]:
    """What does not follow from this run."""
    return [
        *_of_the_device(comparison),
        "One device: copies between GPUs and collectives were not looked at.",
        "Each call is the function alone: no claim about end-to-end speed.",
        _of_time(comparison),
        _of_the_cases(comparison),
        f"Inputs: {comparison.workload}; seeds {', '.join(map(str, comparison.seeds)) or 'none'}. "
        "Other values can take other branches.",
    ]


def caption(comparison: Comparison) -> str:
    """What the table's figures are: over how many calls, from where, and what the symbols mean."""
    meant = [
        f"{words.symbol(name)} = {name}" for name in figures.variables(comparison) if name in words.SYMBOLS
    ]
    symbols = f"; {', '.join(meant)}" if meant else ""
    return (
        f"Totals over {figures.total_calls(comparison)}, {words.PROVENANCE[comparison.provenance]}{symbols}"
    )


def profiled(comparison: Comparison) -> str:
    """What torch.profiler's figures are: a CPU's ATen calls never pass for CUDA's."""
    where = "GPU run" if comparison.provenance == "measured" else "CPU run: not CUDA counts"
    return f"ATen calls by torch.profiler, totals over {figures.total_calls(comparison)} ({where})"


def environment(comparison: Comparison) -> dict[str, str]:
    """How it was timed, if it was, and the environment: names and values, without the empty ones."""
    how = comparison.timing if comparison.timed else None
    rows = [case.latency for case in comparison.timed if case.latency]
    timed = latency.facts(how, comparison.clock, rows) if how else {}
    on_cpu = any(row.on == "cpu" for row in rows) and comparison.environment.processor
    processor = {"timed on": comparison.environment.processor} if on_cpu else {}
    return {**processor, **timed, **facts(comparison.environment, comparison.tool)}


def facts(made: Environment, tool: str) -> dict[str, str]:
    """Names and values of an environment, and of the tool's version, without the empty ones."""
    commit = f"{made.commit}{' with uncommitted changes' if made.dirty else ''}" if made.commit else ""
    found = {
        "device": made.device, "GPU": made.gpu, "driver": made.driver, "CUDA": made.cuda,
        "PyTorch": made.torch, "Python": made.python, "platform": made.platform, "commit": commit,
        "threads": str(made.threads or ""), "syncscope": tool,
    }  # fmt: skip
    return {name: value for name, value in found.items() if value}


def _exactly(amount: float) -> str:
    """Whole numbers with all their digits, others with six."""
    return str(amount) if isinstance(amount, int) else f"{amount:.6g}"


def _verdict_keys(comparison: Comparison) -> Iterable[str]:
    return (key for key in figures.count_keys(comparison) if key not in _PARTS_OF_COPIES)


def _cases(comparison: Comparison) -> str:
    return words.number(len(comparison.cases), "case")


def _all_cases(comparison: Comparison) -> str:
    return "the one case" if len(comparison.cases) == 1 else f"all {_cases(comparison)}"


def _grown(comparison: Comparison) -> list[str]:
    grew = words.series(comparison.grew)
    return [f"Larger in new than in old: {grew}."] if grew else []


def _unknown(comparison: Comparison) -> list[str]:
    sites = lines.unknown(comparison)
    if not sites and figures.absent(comparison, "unknown_ops"):
        return []
    named = sorted({f"{site.op or site.api} ({lines.place(comparison, site)})" for site in sites})
    which = f": {', '.join(named)}" if named else ""
    missing = "What they copy or wait for is missing: figures are lower bounds."
    return [f"Unknown operators, not in the cost table{which}. {missing}"]


def _uncounted(comparison: Comparison) -> list[str]:
    """The lines where the driver may wait: no count shows it, and it isn't nothing."""
    found = [site for site in comparison.sites if site.may_wait]
    if not found:
        return []
    named = dict.fromkeys(f"{lines.place(comparison, site)} ({site.subject})" for site in found)
    return [f"Counted as no wait, but the driver may wait: {words.series(list(named))}."]


def _varying(comparison: Comparison) -> list[str]:
    """Counts that differ between the calls of one case."""
    each = ((case, side, _ranges(comparison, case, side)) for case in comparison.cases for side in SIDES)
    found = (
        (f"{figures.case_label(comparison, case)} {side}", ranges) for case, side, ranges in each if ranges
    )
    return [f"The input decides: at {where} has {words.series(ranges)} a call." for where, ranges in found]


def _ranges(comparison: Comparison, case: CaseResult, side: Side) -> list[str]:
    single = getattr(case, side).per_call
    keys = (key for key in figures.count_keys(comparison) if key in single and single[key].varies)
    return [f"{single[key]} {words.count_name(key)}" for key in keys]


def _branches(branches: Iterable[Branch]) -> list[str]:
    """Lines that only some inputs ran, one sentence for all that equally many inputs ran."""
    together: dict[tuple[int, int], list[str]] = defaultdict(list)
    for branch in branches:
        together[branch.ran, branch.inputs].append(f"{words.lines(branch.lines)} of {branch.subject}")
    return [_branch(*key, words.series(spans)) for key, spans in together.items()]


def _branch(ran: int, inputs: int, spans: str) -> str:
    of = words.number(inputs, "input")
    return (
        f"The input decides: {spans} ran for {ran} of {of}."
        if ran
        else f"Not seen: {spans} ran for none of {of}."
    )


def _of_the_device(comparison: Comparison) -> list[str]:
    if comparison.provenance == "measured":
        made = comparison.environment
        return [f"Measured on one GPU ({made.gpu or made.device}), PyTorch {made.torch}: others may differ."]
    return _NOT_MEASURED[comparison.provenance]


def _of_time(comparison: Comparison) -> str:
    if not comparison.timed:
        return "No time was taken: no claim about latency."
    return "Times are those of this machine, taken in a run of their own in which nothing was counted."


def _of_the_cases(comparison: Comparison) -> str:
    if len(comparison.cases) < 2:
        return "One case was run: nothing follows about growth."
    ran = f"the {_cases(comparison)} that were run ({_points(comparison)})"
    return f"The growth laws hold exactly in {ran}, and are not proven beyond."


def _points(comparison: Comparison) -> str:
    return "; ".join(_point(comparison, name) for name in figures.variables(comparison))


def _point(comparison: Comparison, name: str) -> str:
    values = dict.fromkeys(str(case.sweep.get(name, "")) for case in comparison.cases)
    return f"{words.symbol(name)} = {words.shortened(', '.join(values), 60)}"
