"""What is to be run: everything in plain values, so that another process can load it as well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from syncscope import __version__
from syncscope.bench import texts
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
    """The subjects of a plan, and who makes their inputs.

    ``imported`` are the files that they have imported from beside them when all are loaded, each with a hash
    of its text.
    """

    old: Subject
    new: Subject
    workload: Workload

    imported: Mapping[str, str] = field(default_factory=dict)

    @property
    def subjects(self) -> list[Subject]:
        """All whose files are executed: old, new, and who makes the inputs, where that is one."""
        maker = getattr(self.workload, "subject", None)
        return [self.old, self.new, *([maker] if maker else [])]

    def imported_since(self) -> dict[str, str]:
        """As ``imported``: the files that were imported by calls, not by loading."""
        found = texts.imported(self.subjects, {self.old.path, self.new.path})
        return {file: text for file, text in found.items() if file not in self.imported}


def load(plan: Plan) -> Loaded:
    """Load the subjects; this executes their files.

    Raises:
        UnusableSubject: one of them can't be loaded.
        UnusableInputs: nobody makes the inputs, or not for this sweep.
    """
    from syncscope.comparison.run import loading
    from syncscope.subjects.inputs import chosen_workload
    from syncscope.subjects.pair import load_pair

    with loading("auto" if plan.device == "cuda" else "sim"):  # who only begins may have no GPU
        old, new = load_pair(plan.old, plan.new)
        maker = chosen_workload(old, new, plan.sweep, inputs_option=plan.inputs, kind=plan.workload)
    loaded = Loaded(old, new, maker)
    return replace(loaded, imported=loaded.imported_since())


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
        **{f"the revision of {each.label}": each.revision for each in loaded.subjects if each.revision},
        **texts.named(loaded.imported),
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
