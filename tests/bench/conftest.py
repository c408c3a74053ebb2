"""Two subjects in a folder of their own, and a plan that is quickly run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from syncscope.bench.plan import Plan
from syncscope.bench.record import Machine
from syncscope.latency.clock import PerfCounter
from syncscope.latency.record import Timing
from syncscope.subjects.cases import sweep_of

OLD = """
import torch

def make_inputs(n, device, seed=0):
    return (torch.rand(n, 4, generator=torch.Generator().manual_seed(seed)).to(device),)

def sums(x):
    return [row.sum().item() for row in x]
"""
NEW = "def sums(x):\n    return x.sum(1).tolist()\n"

HERE = Machine("host", "cpu", "a processor", "2.13.0")


@pytest.fixture(autouse=True)
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine blocks are taken again, which would make the number of calls a matter of chance."""
    monkeypatch.setattr("syncscope.latency.samplers.preemptions", lambda: lambda: 0)


@pytest.fixture
def ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time stands still but for what subjects add to ``ticking.now``."""
    clock = SimpleNamespace(now=0)
    monkeypatch.setitem(sys.modules, "ticking", clock)
    monkeypatch.setattr(PerfCounter, "now_ns", staticmethod(lambda: clock.now))


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Plan]:
    """A plan for ``old.py`` and ``new.py`` with the given texts."""
    monkeypatch.chdir(tmp_path)

    def made(new: str = NEW, old: str = OLD, n: tuple[int, ...] = (2, 3, 4), **given: object) -> Plan:
        Path("old.py").write_text(old)
        Path("new.py").write_text(new)
        how = {name: given.pop(name) for name in list(given) if name in Timing.__dataclass_fields__}
        quick = {"warmups": 0, "iterations": 1, "prolong": 1, "recheck_beyond": 1e9, **how}
        return Plan(
            **{
                "old": "old.py",
                "new": "new.py",
                "sweep": sweep_of([("n", n)]),
                "device": "cpu",
                "timing": Timing(**quick),
                **given,
            }
        )

    return made
