"""Rows on a cluster: each takes a machine for itself, hosts that differ are refused. Ray is played here."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from syncscope.bench import ray_engine
from syncscope.bench.machine import this_machine
from syncscope.bench.matrix import bench
from syncscope.bench.plan import load
from syncscope.bench.ray_engine import OnRay
from syncscope.subjects import Unusable


class RayTaskError(Exception):
    """As ray's: it carries what the task raised."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class Cluster:
    """Runs a task when it is waited for, the last one first."""

    exceptions = SimpleNamespace(RayTaskError=RayTaskError)

    def __init__(self) -> None:
        self.did: list[object] = []

    def init(self, address, **options):
        self.did.append(("init", address))

    def shutdown(self):
        self.did.append("shutdown")

    def nodes(self):
        resources = ({"CPU": 16.0}, {"CPU": 8.0}, {"CPU": 4.0})
        return [{"Alive": at < 2, "Resources": each} for at, each in enumerate(resources)]

    def remote(self, **options):
        self.did.append(options)
        return lambda task: SimpleNamespace(remote=lambda *given: (task, given))

    def wait(self, waiting, num_returns):
        return waiting[-num_returns:], waiting[:-num_returns]

    def get(self, waiting):
        task, given = waiting
        try:
            return task(*given)
        except Exception as error:
            raise RayTaskError(error) from error


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster()
    monkeypatch.setitem(sys.modules, "ray", found)
    ray_engine._loaded.cache_clear()
    return found


def test_its_rows_are_those_of_a_plain_run(plan, cluster) -> None:
    made = plan()
    loaded, machine = load(made), this_machine("cpu")
    plain, spread = bench(made, loaded, machine), bench(made, loaded, machine, engine=OnRay("host:6379"))

    def comparable(found):
        return [(row.sweep, row.parity, row.counts, row.machine) for row in found.rows]

    assert comparable(spread) == comparable(plain)
    assert cluster.did[0] == ("init", "host:6379")
    assert cluster.did[-1] == "shutdown"


def test_a_row_on_the_cpu_takes_a_host_for_itself(plan, cluster) -> None:
    made = plan(n=(2,))
    list(OnRay()(made, load(made), this_machine("cpu"), [{"n": 2}]))
    assert cluster.did[1] == {"max_retries": 0, "num_cpus": 8.0}


def test_a_row_on_a_gpu_takes_one(plan, cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "this_machine", lambda device: this_machine("cpu"))
    made = plan(n=(2,))
    list(OnRay()(replace(made, device="cuda"), load(made), this_machine("cpu"), []))
    assert cluster.did[1] == {"max_retries": 0, "num_gpus": 1}


def test_a_host_with_another_text_or_torch_is_refused(plan, cluster) -> None:
    made = plan(n=(2,))
    loaded, machine = load(made), replace(this_machine("cpu"), torch="2.6.0", name="another processor")
    Path("new.py").write_text("def sums(x):\n    return x.sum(1).tolist()  # changed\n")
    with pytest.raises(Unusable, match="engine: host .* has another torch, the text of NEW than the host"):
        list(OnRay()(made, loaded, machine, [{"n": 2}]))
    assert cluster.did[-1] == "shutdown"


def test_a_subject_that_fails_is_told_as_ever(plan, cluster) -> None:
    made = plan("def sums(x):\n    raise ValueError('no')\n", n=(2,))
    (row,) = OnRay()(made, load(made), this_machine("cpu"), [{"n": 2}])
    assert row.failed == "new (new.py) failed for n=2: ValueError: no (new.py:2)"
