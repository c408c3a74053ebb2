"""Rows spread over the GPUs or hosts of a Ray cluster, one row at a time on each. Imports ray when asked."""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from syncscope.bench.machine import this_machine
from syncscope.bench.plan import Loaded, Plan, identity, load
from syncscope.bench.record import Device, Machine, Row
from syncscope.bench.rows import failed, measured
from syncscope.subjects import Unusable
from syncscope.subjects.cases import Case, place

# What may differ between the machines of one cluster.
_OF_A_MACHINE = ("device",)

# Else ray tries for many minutes to reach a cluster that isn't there.
_PATIENCE = {"RAY_py_gcs_connect_timeout_s": "10", "RAY_NUM_REDIS_GET_RETRIES": "1"}


@dataclass(frozen=True)
class OnRay:
    """The engine; ``address`` is an existing cluster's (``auto``, ``host:port``), or empty for a local one.

    The current folder has to be on every host, under the same path, with the same files.
    """

    address: str = ""

    def __call__(self, plan: Plan, loaded: Loaded, machine: Machine, cases: Sequence[Case]) -> Iterator[Row]:
        """Run the rows; each as soon as a machine is free.

        Raises:
            Unusable: ray is not installed, there is no such cluster, or a host has other subjects or another
                torch than this one.
        """
        ray = _ray(self.address)
        _connect(ray, self.address)
        try:
            task = ray.remote(max_retries=0)(_row)
            given = plan, str(Path.cwd()), identity(plan, loaded, machine)
            free, left = deque(_places(ray, plan.device)), deque(cases)
            running: dict[Any, tuple[Case, _Place]] = {}
            while left or running:
                while left and free:
                    case, where = left.popleft(), free.popleft()
                    running[task.options(**where.takes(ray)).remote(*given, dict(case))] = case, where
                (finished,), _ = ray.wait(list(running), num_returns=1)
                case, where = running.pop(finished)
                row = _fetched(ray, finished, case, machine)
                if row is None:
                    left.appendleft(case)
                else:
                    free.append(where)
                    yield row
                _check_some_left(nowhere=bool(left) and not (free or running))
        finally:
            ray.shutdown()

    def device(self, wanted: Literal["auto", "cuda"]) -> Device:
        """Where rows run: ``auto`` is a GPU where some host has one, whatever this host has.

        Raises:
            Unusable: as a call.
        """
        ray = _ray(self.address)
        _connect(ray, self.address)
        has_gpu = any(resources.get("GPU") for resources in _alive(ray).values())
        return "cuda" if wanted == "cuda" or has_gpu else "cpu"


@dataclass(frozen=True)
class _Place:
    """What a row has for itself, so that no other disturbs it: a GPU, or all processors of a host."""

    node: str
    kind: Literal["CPU", "GPU"]
    amount: float

    def takes(self, ray: Any) -> dict[str, Any]:
        """The options of a task that runs there and nowhere else."""
        there = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(self.node, soft=False)
        return {f"num_{self.kind.lower()}s": self.amount, "scheduling_strategy": there}


def _ray(address: str) -> Any:
    """The module; as it is imported it reads how long to wait for ``address``."""
    for name, value in _PATIENCE.items() if address else ():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise Unusable(
            "engine: ray is not installed: install syncscope[ray], or leave --engine ray out"
        ) from None
    return ray


def _connect(ray: Any, address: str) -> None:
    try:
        _knock(address)
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level=logging.ERROR,
            ignore_reinit_error=True,
        )
    except (OSError, RuntimeError, ValueError) as error:
        said = str(error).strip().partition("\n")[0]
        why = f"({type(error).__name__}: {said})"
        if address:
            raise Unusable(
                f"ray-address: the cluster at {address} can't be joined {why}: give the host:port of the "
                "head of one that can, or leave --ray-address out"
            ) from None
        raise Unusable(f"engine: ray can't be started {why}: leave --engine ray out, or mend that") from None


def _knock(address: str) -> None:
    """Where nobody listens at ``host:port``, ray would say so in many lines, and late."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=10).close()


def _alive(ray: Any) -> dict[str, Mapping[str, float]]:
    """The resources of each host that can be used, by its number in the cluster."""
    return {node["NodeID"]: node["Resources"] for node in ray.nodes() if node["Alive"]}


def _places(ray: Any, device: Device) -> list[_Place]:
    """One for each GPU, or for each host."""
    places: list[_Place] = []
    for node, resources in _alive(ray).items():
        if device == "cuda":
            places += [_Place(node, "GPU", 1)] * int(resources.get("GPU", 0))
        elif resources.get("CPU"):
            places.append(_Place(node, "CPU", resources["CPU"]))
    if not places:
        kind = "GPU" if device == "cuda" else "CPU"
        raise Unusable(f"engine: no host of the cluster has a {kind}: choose another --device or cluster")
    return places


def _check_some_left(nowhere: bool) -> None:
    if nowhere:
        raise Unusable("engine: all hosts of the cluster that had a place have died: begin them anew")


def _fetched(ray: Any, finished: Any, case: Case, machine: Machine) -> Row | None:
    """The row; one that failed where its worker died, on a machine that is taken for one like this.

    None where its host died, or was dead before it began.
    """
    try:
        row: Row = ray.get(finished)
    except ray.exceptions.TaskCancelledError:
        raise KeyboardInterrupt from None  # a subject's: of the user's ray tells nobody
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, (Unusable, KeyboardInterrupt)):
            raise error.cause from None
        raise
    except (ray.exceptions.NodeDiedError, ray.exceptions.TaskUnschedulableError):
        return None
    except ray.exceptions.RayError as error:
        died = f"the worker of {place(case)} died ({type(error).__name__})"
        return failed(case, machine, f"{died}: does a subject end its process, or is memory short there?")
    return row


def _row(plan: Plan, folder: str, expected: Mapping[str, str], case: Case) -> Row:
    """One row, on whichever host this runs."""
    os.chdir(folder)
    try:
        return _measured_here(plan, expected, case)
    except Unusable as error:  # a plain one: others may not survive the way back
        raise Unusable(str(error)) from None


def _measured_here(plan: Plan, expected: Mapping[str, str], case: Case) -> Row:
    machine = this_machine(plan.device)
    loaded = _loaded(plan)
    found = identity(plan, loaded, machine)
    names = [name for name in {**expected, **found} if name not in _OF_A_MACHINE]
    differing = [name for name in names if found.get(name) != expected.get(name)]
    if differing:
        raise Unusable(
            f"engine: host {machine.host} differs in {', '.join(differing)} from the host that began: "
            "give all hosts the same files and the same torch"
        )
    return measured(plan, loaded, machine, case)


@lru_cache(maxsize=1)
def _loaded(plan: Plan) -> Loaded:
    return load(plan)
