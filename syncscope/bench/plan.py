"""What is to be run: everything in plain values, so that another process can load it as well."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from syncscope import __version__
from syncscope.bench.record import Device, Machine
from syncscope.latency.record import Timing
from syncscope.subjects.cases import Sweep

if TYPE_CHECKING:
    from syncscope.subjects.inputs import Workload
    from syncscope.subjects.loader import Subject


@dataclass(frozen=True)
class Plan:
    """The command line of a benchmark; ``device`` is the one that was found, never ``auto``."""

    old: str
    new: str
    sweep: Sweep
    device: Device
    timing: Timing = field(default_factory=Timing)
    seeds: tuple[int, ...] = (0,)
    inputs: str | None = None
    workload: str | None = None
    command: str = ""


@dataclass(frozen=True)
class Loaded:
    """The subjects of a plan, and who makes their inputs."""

    old: Subject
    new: Subject
    workload: Workload


def load(plan: Plan) -> Loaded:
    """Load the subjects; this executes their files.

    Raises:
        UnusableSubject: one of them can't be loaded.
        UnusableInputs: nobody makes the inputs, or not for this sweep.
    """
    from syncscope.comparison.run import loading
    from syncscope.subjects.inputs import chosen_workload
    from syncscope.subjects.pair import load_pair

    with loading("cuda" if plan.device == "cuda" else "sim"):
        old, new = load_pair(plan.old, plan.new)
        maker = chosen_workload(old, new, plan.sweep, inputs_option=plan.inputs, kind=plan.workload)
    return Loaded(old, new, maker)


def identity(plan: Plan, loaded: Loaded, machine: Machine) -> dict[str, str]:
    """What rows have to agree in to stand in one table, by the names that a user knows."""
    return {
        "syncscope": __version__,
        "torch": machine.torch,
        "device": f"{machine.device} ({machine.name})",
        "OLD": plan.old,
        "NEW": plan.new,
        "the text of OLD": loaded.old.sha256[:12],
        "the text of NEW": loaded.new.sha256[:12],
        "the text of other files": imported(loaded)[:12],
        "inputs": loaded.workload.describe(),
        "--seeds": " ".join(map(str, plan.seeds)),
        **_options(plan.timing),
        **{name: " ".join(map(str, values)) for name, values in plan.sweep.variables},
    }


def _options(how: Timing) -> dict[str, str]:
    """Each under the name and in the unit that it has on the command line."""
    given = {**asdict(how), "recheck_beyond": 100 * how.recheck_beyond}
    given["time_budget"] = f"{given.pop('budget_s') or ''}"
    return {f"--{name.replace('_', '-')}": str(value) for name, value in given.items()}


def imported(loaded: Loaded) -> str:
    """A hash of the files that the subjects, and who makes the inputs, have imported from beside them."""
    maker = getattr(loaded.workload, "subject", None)
    subjects = [loaded.old, loaded.new, *([maker] if maker else [])]
    packages = tuple(f"{subject.origin.package}." for subject in subjects)
    own = [module for name, module in list(sys.modules.items()) if name.startswith(packages)]
    files = {file for module in own if (file := getattr(module, "__file__", None))}
    texts = [Path(file).read_bytes() for file in sorted(files - {loaded.old.path, loaded.new.path})]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()
