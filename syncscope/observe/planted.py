"""Planted reads: does the probe see every spelling of a read on this installation, and nothing else?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

from syncscope.observe.scope import Scope


@dataclass(frozen=True)
class Values:
    """What is read: ``vector`` of four floats, ``number`` (2.0) and ``index`` (2) 0-dim, ``mask`` of four."""

    vector: Tensor
    number: Tensor
    index: Tensor
    mask: Tensor


@dataclass(frozen=True)
class Plant:
    """One spelling, and the events it has to cause: ``scalar``, ``vector`` and ``size`` reads, uploads."""

    spelling: str
    code: Callable[[Values], object]
    scalar: int = 0
    vector: int = 0
    size: int = 0
    uploads: int = 0

    @property
    def expected(self) -> tuple[int, int, int, int]:
        """Scalar, vector and size reads, and uploads."""
        return self.scalar, self.vector, self.size, self.uploads


@dataclass(frozen=True)
class Finding:
    """What the probe saw of one plant."""

    plant: Plant
    seen: tuple[int, int, int, int]
    error: str = ""

    @property
    def right(self) -> bool:
        """Whether the probe saw what was planted, and nothing else."""
        return self.seen == self.plant.expected and not self.error


def _branch(condition: Tensor) -> str:
    if condition:
        return "taken"
    return "not taken"


def _write(target: Tensor, index: Any, value: float) -> None:
    target[index] = value


def _clean(values: Values) -> Tensor:
    """Work on the device of which the host learns nothing."""
    best = values.vector.topk(2).indices
    kept = torch.where(values.mask, values.vector, values.number)
    shifted = kept * values.vector.shape[0] + values.vector.numel()
    return shifted.index_select(0, best).sum() / torch.ones(2, device=values.vector.device)


PLANTS = (
    Plant("t.item()", lambda v: v.number.item(), scalar=1),
    Plant("int(t)", lambda v: int(v.index), scalar=1),
    Plant("float(t)", lambda v: float(v.number), scalar=1),
    Plant("complex(t)", lambda v: complex(v.number), scalar=1),
    Plant("bool(t)", lambda v: bool(v.number), scalar=1),
    Plant("if t:", lambda v: _branch(v.number > 1), scalar=1),
    Plant("a or b", lambda v: v.number > 5 or v.number > 1, scalar=1),
    Plant("assert t", lambda v: _branch((v.vector > 0).all()), scalar=1),
    Plant("range(t)", lambda v: range(v.index), scalar=1),
    Plant("list[t]", lambda v: [0, 1, 2][v.index], scalar=1),
    Plant("x[t]", lambda v: v.vector[v.index], scalar=1),
    Plant("x[:t]", lambda v: v.vector[: v.index], scalar=1),
    Plant("x.topk(t)", lambda v: v.vector.topk(v.index), scalar=1),  # type: ignore[arg-type]
    Plant("math.sqrt(t)", lambda v: math.sqrt(v.number), scalar=1),
    Plant("max(a, b)", lambda v: max(v.number, v.index), scalar=1),
    Plant("1.0 in x", lambda v: 1.0 in v.vector, scalar=1),
    Plant('f"{t:.1f}"', lambda v: f"{v.number:.1f}", scalar=1),
    Plant('"%d" % t', lambda v: "%d" % v.index, scalar=1),  # noqa: UP031 (the spelling is what is planted)
    Plant("torch.equal(x, y)", lambda v: torch.equal(v.vector, v.vector + 1), scalar=1),
    Plant("torch.tensor([t, t])", lambda v: torch.tensor([v.number, v.number]), scalar=2),
    Plant("[float(e) for e in x]", lambda v: [float(element) for element in v.vector], scalar=4),
    Plant("for e in x: e > 2", lambda v: [bool(element > 2) for element in v.vector], scalar=4),
    Plant("repr(t)", lambda v: repr(v.index), scalar=2),
    Plant("x.tolist()", lambda v: v.vector.tolist(), vector=1),
    Plant("x.cpu()", lambda v: v.vector.cpu(), vector=1),
    Plant('x.to("cpu")', lambda v: v.vector.to("cpu"), vector=1),
    Plant("x.numpy(force=True)", lambda v: v.vector.numpy(force=True), vector=1),
    Plant("host.copy_(x)", lambda v: torch.zeros(4).copy_(v.vector), vector=1),
    Plant("x.nonzero()", lambda v: v.vector.nonzero(), size=1),
    Plant("x[mask]", lambda v: v.vector[v.mask], size=1),
    Plant("x.masked_select(mask)", lambda v: v.vector.masked_select(v.mask), size=1),
    Plant("torch.where(mask)", lambda v: torch.where(v.mask), size=1),
    Plant("x.unique()", lambda v: v.vector.unique(), size=1),
    Plant("torch.tensor(list, device=cuda)", lambda v: torch.tensor([1.0], device=v.mask.device), uploads=1),
    Plant("x[[0, 2]]", lambda v: v.vector[[0, 2]], uploads=1),
    Plant("x[0] = 3", lambda v: _write(v.vector, 0, 3), uploads=1),
    Plant("host.cuda()", lambda v: torch.zeros(4).to(v.mask.device), uploads=1),
    Plant("a clean function", _clean),
)
"""Every spelling that is planted, and a function without one."""


def examine(device: Literal["sim", "cuda"] = "sim") -> list[Finding]:
    """Run every plant in a scope of its own."""
    return [_finding(plant, device) for plant in PLANTS]


def _finding(plant: Plant, device: Literal["sim", "cuda"]) -> Finding:
    error = ""
    with Scope(device) as scope:
        values = _values()
        scope.reset()
        try:
            plant.code(values)
        except Exception as raised:  # whatever a broken installation raises is what is to be told
            error = f"{type(raised).__name__}: {raised}"
    counts = scope.counts
    uploads = sum(event.kind == "upload" for event in scope.events)
    seen = counts.scalar_reads, counts.vector_reads, counts.size_reads, uploads
    return Finding(plant, seen, error)


def _values() -> Values:
    return Values(
        vector=torch.tensor([1.0, 2.0, 3.0, 4.0], device="cuda"),
        number=torch.tensor(2.0, device="cuda"),
        index=torch.tensor(2, device="cuda"),
        mask=torch.tensor([True, False, True, False], device="cuda"),
    )
