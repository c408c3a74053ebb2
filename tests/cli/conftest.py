from __future__ import annotations

from pathlib import Path

import pytest

from syncscope.comparison import results
from syncscope.comparison.results import (
    CaseResult,
    Comparison,
    Environment,
    Law,
    Parity,
    SideResult,
    SubjectRecord,
)
from syncscope.events import COUNT_NAMES, Counts

SUBJECT = """
import torch

def make_inputs(n=3, device="cpu"):
    return (torch.arange(n, device=device),)

def total(x):
    return x.sum()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: it has ``old.py``, and none of this project's settings are above it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "old.py").write_text(SUBJECT)
    return tmp_path


def laws(side: SideResult) -> dict[str, Law]:
    figures = {name: getattr(side.counts, name) for name in COUNT_NAMES}
    return {name: Law("constant", base=figure, text=str(figure)) for name, figure in figures.items()}


def comparison() -> Comparison:
    """One case, n = 4: two reads in old, none in new."""
    old = SideResult(calls=1, counts=Counts(scalar_reads=2, dtoh=2, memcpy=2, waits=2))
    new = SideResult(calls=1, counts=Counts())
    return Comparison(
        provenance="simulated",
        command="syncscope compare old.py new.py",
        old=SubjectRecord("old.py", "old.py", "total"),
        new=SubjectRecord("new.py", "new.py", "total"),
        swept=["n"],
        workload="make_inputs of old.py",
        calls=1,
        seeds=[0],
        cases=[CaseResult({"n": 4}, Parity(equal=True, compared=1), old, new)],
        sites=[],
        growth={"old": laws(old), "new": laws(new)},
        branches=[],
        environment=Environment(python="3.11", torch="2.13.0", platform="Linux", device="sim"),
    )


@pytest.fixture
def result(folder: Path) -> Path:
    """A saved result in the current folder."""
    path = folder / "result.json"
    path.write_bytes(results.encode(comparison()))
    return path
