"""Rows spread over the GPUs or hosts of a Ray cluster, one row at a time on each. Imports ray when asked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from syncscope.bench.machine import this_machine
from syncscope.bench.plan import Loaded, Plan, identity, load
from syncscope.bench.record import Machine, Row
from syncscope.bench.rows import measured
from syncscope.comparison.results import SweepValue
from syncscope.subjects import Unusable

# What may differ between the machines of one cluster.
_OF_A_MACHINE = ("device",)


@dataclass(frozen=True)
class OnRay:
    """The engine; ``address`` is an existing cluster's (``auto``, ``host:port``), or empty for a local one.

    The current folder has to be on every host, under the same path, with the same files.
    """

    address: str = ""

    def __call__(
        self, plan: Plan, loaded: Loaded, machine: Machine, cases: Sequence[Mapping[str, SweepValue]]
    ) -> Iterator[Row]:
        """Run the rows; each as soon as a machine is free.

        Raises:
            Unusable: ray is not installed, or a host has other subjects or another torch than this one.
        """
        ray = _ray()
        ray.init(address=self.address or None, log_to_driver=False, ignore_reinit_error=True)
        try:
            task = ray.remote(max_retries=0, **_whole_machine(ray, plan))(_row)
            expected = identity(plan, loaded, machine)
            waiting = [task.remote(plan, str(Path.cwd()), expected, dict(case)) for case in cases]
            while waiting:
                (finished,), waiting = ray.wait(waiting, num_returns=1)
                yield _fetched(ray, finished)
        finally:
            ray.shutdown()


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise Unusable(
            "engine: ray is not installed: install syncscope[ray], or leave --engine ray out"
        ) from None
    return ray


def _whole_machine(ray: Any, plan: Plan) -> dict[str, float]:
    """What a row takes for itself: a GPU, or all processors of a host, so that no row disturbs another."""
    if plan.device == "cuda":
        return {"num_gpus": 1}
    return {"num_cpus": min(node["Resources"].get("CPU", 1) for node in ray.nodes() if node["Alive"])}


def _fetched(ray: Any, finished: Any) -> Row:
    try:
        row: Row = ray.get(finished)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, Unusable):
            raise error.cause from None
        raise
    return row


def _row(plan: Plan, folder: str, expected: Mapping[str, str], case: Mapping[str, SweepValue]) -> Row:
    """One row, on whichever host this runs."""
    os.chdir(folder)
    try:
        return _measured_here(plan, expected, case)
    except Unusable as error:  # a plain one: others may not survive the way back
        raise Unusable(str(error)) from None


def _measured_here(plan: Plan, expected: Mapping[str, str], case: Mapping[str, SweepValue]) -> Row:
    machine = this_machine(plan.device)
    loaded = _loaded(plan)
    found = identity(plan, loaded, machine)
    differing = [name for name in expected if name not in _OF_A_MACHINE and found[name] != expected[name]]
    if differing:
        raise Unusable(
            f"engine: host {machine.host} has another {', '.join(differing)} than the host that began: "
            "give all hosts the same files and the same torch"
        )
    return measured(plan, loaded, machine, case)


@lru_cache(maxsize=1)
def _loaded(plan: Plan) -> Loaded:
    return load(plan)
