"""A pytest file that holds a subject to what a comparison found of it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from syncscope.comparison.results import CaseResult, Comparison, Range
from syncscope.subjects.cases import SweepValue

_READS = {"scalar": "scalar_reads", "vector": "vector_reads", "size": "size_reads"}


@dataclass(frozen=True)
class _Case:
    """A case of the test: its variables, and its budgets as they are written."""

    sweep: dict[str, SweepValue]
    host_reads: str
    syncs: str


def render(comparison: Comparison, inputs: str | None = None, workload: str | None = None) -> str:
    """The file's text; ``inputs`` and ``workload`` are the options that chose who makes the inputs."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.filters["repr"] = repr
    template = environment.from_string((files(__package__) / "test_file.jinja").read_text(encoding="utf-8"))
    return template.render(
        comparison=comparison,
        cases=[_case(case, allow_idle="new" in comparison.idle) for case in comparison.cases],
        inputs=inputs,
        workload=workload,
        seed=comparison.seeds[0],
    )


def _case(case: CaseResult, allow_idle: bool) -> _Case:
    per_call = case.new.per_call
    reads = {part: per_call.get(name, Range(0, 0)) for part, name in _READS.items()}
    idle = ", allow_idle=True" if allow_idle else ""
    return _Case(
        case.sweep,
        _limits(reads) + idle,
        _limit(per_call.get("waits", Range(0, 0))) + idle,
    )


def _limits(parts: dict[str, Range]) -> str:
    """``exactly=3, scalar=2, vector=1, size=0``; maxima where the input decides."""
    total = Range(sum(part.low for part in parts.values()), sum(part.high for part in parts.values()))
    varies = any(part.varies for part in parts.values())
    whole = f"max={total.high}" if varies else _limit(total)
    return ", ".join([whole, *(f"{name}={part.high}" for name, part in parts.items())])


def _limit(found: Range) -> str:
    return f"max={found.high}" if found.varies else f"exactly={found.high}"
