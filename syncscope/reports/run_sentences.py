"""What a run says in words, for every format: plain text, without markup."""

from __future__ import annotations

from syncscope.comparison.results import Range
from syncscope.events import COUNT_NAMES, Counts
from syncscope.reports import sentences, words
from syncscope.runs.record import Caller, Run, RunSite, StepsRecord

_ON_A_GPU = "foretold by the cost table while a GPU ran, not measured"
_LIMITS = {
    "sim": "Simulated: the code ran on a CPU; the counts follow from where tensors would live and a cost "
    "table. They were not seen on a GPU. Waits inside CUDA's libraries and the driver are not visible.",
    "cuda": "The code ran on a GPU; the counts are what the cost table says of its calls. "
    "`syncscope compare` has torch.profiler's.",
}


def verdict(run: Run) -> str:
    """How many lines read, copy or wait, and what all of it comes to."""
    found = crossing(run)
    of = "line of those shown" if run.left_out else "line"
    if len(found) < 2:
        return f"{'1' if found else 'No'} {of} reads, copies or waits."
    return f"{len(found)} {of.replace('line', 'lines')} read, copy or wait."


def totals(run: Run) -> str:
    """The counts of the whole run, with where they are from."""
    return f"The whole run, {_provenance(run)}: {amounts(run.counts)}."


def amounts(counts: Counts) -> str:
    """``2 scalar reads, 2 DtoH copies, 2 waits``: what isn't zero."""
    named = [(name, getattr(counts, name)) for name in COUNT_NAMES if name != "memcpy"]
    named += [(f"launches.{family}", amount) for family, amount in counts.launches.items()]
    said = [_amount(name, Range(amount, amount)) for name, amount in named if amount]
    return ", ".join(said) or "no read, no copy, no wait"


def warnings(run: Run) -> list[str]:
    """What the reader has to know before using the figures, the gravest first."""
    return [*_end(run), *_unmatched(run), *_unknown(run), *_no_steps(run)]


def steps(run: Run) -> list[str]:
    """Figures per step, and what happened in none."""
    if run.steps is None or not run.steps.steps:
        return []
    return [
        _per_step(run.steps),
        _in_all_steps(run.steps),
        f"Outside of any step: {amounts(run.steps.outside)}.",
    ]


def left_out(run: Run) -> list[str]:
    """What ``--only`` and ``--skip`` left out."""
    if run.left_out is None:
        return []
    given = [f"--only {path}" for path in run.left_out.only] + [
        f"--skip {path}" for path in run.left_out.skip
    ]
    many = words.number(run.left_out.sites, "site")
    return [f"Left out by {' '.join(given)}: {many} ({amounts(run.left_out.counts)}), part of the totals."]


def parts(run: Run) -> list[tuple[str, list[RunSite]]]:
    """The lines of the user's own code, and apart from them those of libraries; empty parts are left out."""
    found = crossing(run)
    own = [site for site in found if not site.library]
    library = [site for site in found if site.library]
    named = [("Your code", own), ("Libraries (site-packages, the standard library)", library)]
    return [(name, sites) for name, sites in named if sites]


def crossing(run: Run) -> list[RunSite]:
    """The lines that read, copy or wait, those that wait most first."""
    return [site for site in run.sites if site.kind != "unknown"]


def unknown(run: Run) -> list[RunSite]:
    """The lines of whose operator, thread or process nothing is known."""
    return [site for site in run.sites if site.kind == "unknown"]


def place(site: RunSite | Caller) -> str:
    """``train.py:30``."""
    return f"{site.file}:{site.line}"


def how_often(site: RunSite) -> str:
    """``40 times``, and where steps were asked for ``1 to 2 a step``."""
    times = "once" if site.events == 1 else f"{site.events} times"
    if site.per_step is None:
        return times
    return f"{times}, {site.per_step} a step" if site.per_step.high else f"{times}, in no step"


def callers(site: RunSite, most: int = 3) -> list[str]:
    """The user's own lines that called a library's, with how often where there are several."""
    several = len(site.callers) > 1
    said = [
        f"{place(caller)}{f' ({caller.events} of {site.events})' if several else ''}: {caller.text}"
        for caller in site.callers[:most]
    ]
    more = len(site.callers) - most
    return [*said, *([f"and {words.number(more, 'other line')}"] if more > 0 else [])]


def limitations(run: Run) -> list[str]:
    """What does not follow from this run."""
    threads = (
        "Heard were the thread that ran the program, and all threads that were started in it."
        if run.threads
        else "Heard was the thread that ran the program; --threads hears those that it starts."
    )
    return [
        _LIMITS.get(run.device, _LIMITS["sim"]),
        threads,
        "One run with one input: nothing follows about growth, and no time was taken.",
    ]


def environment(run: Run) -> dict[str, str]:
    """The environment as names and values, without the empty ones."""
    return {} if run.environment is None else sentences.facts(run.environment, run.tool)


def _provenance(run: Run) -> str:
    return _ON_A_GPU if run.device == "cuda" else words.PROVENANCE[run.provenance]


def _amount(name: str, span: Range) -> str:
    """``1 wait``, ``2 to 3 waits``."""
    if name == "unknown_ops":
        return f"{span} unknown"
    noun = words.count_name(name)
    singular = f"{noun.removesuffix('ies')}y" if noun.endswith("ies") else noun.removesuffix("s")
    return f"{span} {singular if str(span) == '1' else noun}"


def _end(run: Run) -> list[str]:
    return [f"The program {run.ended}: the figures are those until then."] if run.ended else []


def _unmatched(run: Run) -> list[str]:
    """The patterns of ``--only`` that show nothing, since they name nothing."""
    given = [] if run.left_out is None else run.left_out.unmatched
    return [
        f"No file matches --only {pattern}: give a file, a folder or a glob that does." for pattern in given
    ]


def _unknown(run: Run) -> list[str]:
    """One sentence a line; what ``--only`` and ``--skip`` left out is in the totals."""
    return [
        f"Unknown: {site.api or site.op} at {place(site)}, {how_often(site)}: {site.reason}."
        for site in unknown(run)
    ]


def _no_steps(run: Run) -> list[str]:
    if run.steps is None or run.steps.steps:
        return []
    return [f"No function of your own code that is named {run.steps.per!r} was called: there are no steps."]


def _per_step(found: StepsRecord) -> str:
    """``A step is a call of train_step, 40 steps: 1 scalar read, 2 to 3 waits``."""
    said = [_amount(name, span) for name, span in found.per_step.items() if span.high and name != "memcpy"]
    of = words.series([words.shortened(name, 60) for name in found.functions])
    amounts_ = ", ".join(said) or "no read, no copy, no wait"
    return f"A step is a call of {of}; {words.number(found.steps, 'step')}, each: {amounts_}."


def _in_all_steps(found: StepsRecord) -> str:
    return f"All steps together: {amounts(found.inside)}."
