"""The table of a comparison: a row a case, a column a figure, old beside new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from syncscope.comparison.results import CaseResult, Comparison, Range, SideResult
from syncscope.events import COUNT_NAMES
from syncscope.reports import words


@dataclass(frozen=True)
class Column:
    """A heading, ``name`` and ``direction`` (``old → new``, ``old/new``), and the text of each case."""

    name: str
    direction: str
    cell: Callable[[CaseResult], str]

    @property
    def heading(self) -> str:
        """``item calls, old → new``."""
        return f"{self.name}, {self.direction}" if self.direction else self.name


def variables(comparison: Comparison) -> list[str]:
    """The swept variables to show: those that vary, and ``frames`` in every video sweep."""
    sweep = comparison.cases[0].sweep if comparison.cases else {}
    always = ["frames"] if "frames" in sweep else []
    return always + [name for name in comparison.swept if name not in always] or list(sweep)


def case_label(comparison: Comparison, case: CaseResult) -> str:
    """``T = 8``, ``T = 8, q = 0.5``: how sentences name a case."""
    values = [f"{words.symbol(name)} = {case.sweep.get(name, '')}" for name in variables(comparison)]
    return ", ".join(values) or "the only case"


def count_keys(comparison: Comparison) -> list[str]:
    """The keys of ``per_call`` and ``growth`` in the order of the reports."""
    return [*COUNT_NAMES, *(f"launches.{family}" for family in comparison.families)]


def total(side: SideResult, key: str) -> int:
    """A count of one side over all its calls; ``key`` as in ``per_call``."""
    family = key.removeprefix("launches.")
    if family != key:
        return side.counts.launches.get(family, 0)
    figure: int = getattr(side.counts, key)
    return figure


def total_calls(comparison: Comparison) -> str:
    """``20 calls``: how many complete calls stand behind each total."""
    calls = [side.calls for case in comparison.cases for side in (case.old, case.new)] or [comparison.calls]
    return f"{Range(min(calls), max(calls))} {'call' if max(calls) == 1 else 'calls'}"


def same(comparison: Comparison, key: str) -> bool:
    """Whether old and new have the same count in every case, in total and in the single call."""
    return all(
        total(case.old, key) == total(case.new, key)
        and case.old.per_call.get(key) == case.new.per_call.get(key)
        for case in comparison.cases
    )


def absent(comparison: Comparison, key: str) -> bool:
    """Whether a count is zero everywhere."""
    return not any(total(side, key) for case in comparison.cases for side in (case.old, case.new))


def profiled_operators(comparison: Comparison, case: CaseResult) -> list[str]:
    """The ATen operators behind the reads and launches that are counted, as torch.profiler names them."""
    counted = {"item", *comparison.families}
    seen = sorted({*case.old.aten, *case.new.aten})
    return [name for name in seen if name.removeprefix("aten::").rstrip("_") in counted]


def key_columns(comparison: Comparison) -> list[Column]:
    """One column for each variable that tells the cases apart."""
    return [Column(words.symbol(name), "", _value_of(name)) for name in variables(comparison)]


def figure_columns(comparison: Comparison) -> list[Column]:
    """The published table's columns: item calls, CUDA memcpy events, then the counted families."""
    families = [
        Column(f"{words.family_name(family)} calls", "old/new", _pair(f"launches.{family}", "/"))
        for family in comparison.families
    ]
    return [
        Column("item calls", "old → new", _pair("scalar_reads", " → ")),
        Column("CUDA memcpy events", "old → new", _pair("memcpy", " → ")),
        *families,
    ]


def waits_column() -> Column:
    """The host's waits, which the published table leaves out."""
    return Column("waits", "old → new", _pair("waits", " → "))


def outputs_column() -> Column:
    """Whether a case's outputs are equal."""
    return Column("outputs", "", _outputs)


def _value_of(variable: str) -> Callable[[CaseResult], str]:
    return lambda case: str(case.sweep.get(variable, ""))


def _pair(key: str, between: str) -> Callable[[CaseResult], str]:
    return lambda case: f"{total(case.old, key)}{between}{total(case.new, key)}{_single_calls(case, key)}"


def _single_calls(case: CaseResult, key: str) -> str:
    """What a total hides where the calls of a case differ: the range of the single call."""
    old, new = (side.per_call.get(key, Range(0, 0)) for side in (case.old, case.new))
    return f" ({old} → {new} a call)" if old.varies or new.varies else ""


def _outputs(case: CaseResult) -> str:
    if not case.parity.equal:
        return "DIFFER"
    return "equal" if case.parity.compared else "none"
