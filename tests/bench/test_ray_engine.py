"""Rows on a cluster: each takes a machine for itself, hosts that differ are refused. Ray is played here."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from syncscope.bench import ray_engine
from syncscope.bench.machine import this_machine
from syncscope.bench.matrix import bench
from syncscope.bench.plan import load
from syncscope.bench.ray_engine import OnRay
from syncscope.subjects import Unusable


class RayError(Exception):
    """As ray's: the base of what a task can end with."""


class RayTaskError(RayError):
    """It carries what the task raised."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class Cluster:
    """Runs a task when it is waited for, the last one first."""

    exceptions = SimpleNamespace(
        RayTaskError=RayTaskError,
        RayError=RayError,
        TaskCancelledError=type("TaskCancelledError", (RayError,), {}),
        NodeDiedError=type("NodeDiedError", (RayError,), {}),
        TaskUnschedulableError=type("TaskUnschedulableError", (RayError,), {}),
    )

    def __init__(self) -> None:
        self.did: list[object] = []
        self.unreachable: Exception | None = None
        self.dying: set[int] = set()
        self.resources = ({"CPU": 16.0}, {"CPU": 8.0}, {"CPU": 4.0}, {})
        self.dead = {2}
        self.util = SimpleNamespace(
            scheduling_strategies=SimpleNamespace(
                NodeAffinitySchedulingStrategy=lambda node, soft: (node, soft)
            )
        )

    def init(self, address, **options):
        self.did.append(("init", address))
        if self.unreachable:
            raise self.unreachable

    def shutdown(self):
        self.did.append("shutdown")

    def nodes(self):
        return [
            {"Alive": at not in self.dead, "Resources": each, "NodeID": f"n{at}"}
            for at, each in enumerate(self.resources)
        ]

    def remote(self, **options):
        return lambda task: SimpleNamespace(options=partial(self.with_options, task, options))

    def with_options(self, task, before, **options):
        self.did.append({**before, **options})
        node = options["scheduling_strategy"][0]

        def run(*given):
            if int(node[1:]) in self.dead:
                raise self.exceptions.NodeDiedError
            return task(*given)

        return SimpleNamespace(remote=lambda *given: partial(run, *given))

    def wait(self, waiting, num_returns):
        self.did.append(f"waits for one of {len(waiting)}")
        return waiting[-num_returns:], waiting[:-num_returns]

    def get(self, task):
        if task.args[-1].get("n") in self.dying:
            raise RayError("The worker died unexpectedly while executing this task.\nMore of it.")
        try:
            return task()
        except RayError:
            raise
        except Exception as error:
            raise RayTaskError(error) from error
        except KeyboardInterrupt:
            raise self.exceptions.TaskCancelledError from None


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    found = Cluster()
    monkeypatch.setitem(sys.modules, "ray", found)
    monkeypatch.setattr(ray_engine, "_PATIENCE", {})
    ray_engine._loaded.cache_clear()
    return found


def test_its_rows_are_those_of_a_plain_run(plan, cluster) -> None:
    made = plan()
    loaded, machine = load(made), this_machine("cpu")
    plain, spread = bench(made, loaded, machine), bench(made, loaded, machine, engine=OnRay("auto"))

    def comparable(found):
        return [(row.sweep, row.parity, row.counts, row.machine) for row in found.rows]

    assert comparable(spread) == comparable(plain)
    assert cluster.did[0] == ("init", "auto")
    assert cluster.did[-1] == "shutdown"


def test_a_row_on_the_cpu_takes_a_host_for_itself(plan, cluster) -> None:
    made = plan(n=(2, 3, 4))
    rows = list(OnRay()(made, load(made), this_machine("cpu"), [{"n": 2}, {"n": 3}, {"n": 4}]))
    assert sorted(row.sweep["n"] for row in rows) == [2, 3, 4]
    large, small = (
        {"max_retries": 0, "num_cpus": cpus, "scheduling_strategy": (node, False)}
        for node, cpus in (("n0", 16.0), ("n1", 8.0))
    )
    assert cluster.did[1:-1] == [
        large, small, "waits for one of 2", small, "waits for one of 2", "waits for one of 1",
    ]  # fmt: skip


def test_a_row_on_a_gpu_takes_one(plan, cluster) -> None:
    cluster.resources = ({"CPU": 16.0}, {"CPU": 16.0, "GPU": 2.0})
    assert OnRay("auto").device("auto") == "cuda"
    assert [place.takes(cluster) for place in ray_engine._places(cluster, "cuda")] == [
        {"num_gpus": 1, "scheduling_strategy": ("n1", False)}
    ] * 2


def test_without_a_gpu_in_the_cluster_rows_run_on_its_cpus(cluster) -> None:
    assert OnRay("auto").device("auto") == "cpu"
    assert OnRay("auto").device("cuda") == "cuda"  # refused later, as ever


def test_where_a_host_dies_the_others_go_on_and_without_one_that_is_said(plan, cluster) -> None:
    made = plan(n=(2, 3, 4, 5))
    loaded, cases = load(made), [{"n": n} for n in (2, 3, 4, 5)]
    rows = []
    with pytest.raises(Unusable, match="engine: all hosts of the cluster that had a place have died"):
        for row in OnRay()(made, loaded, this_machine("cpu"), cases):
            rows.append(row)
            cluster.dead |= {1} if len(rows) < 2 else {0, 1}
    assert [row.sweep["n"] for row in rows] == [3, 2]
    assert not any(row.failed for row in rows)


def test_a_host_that_dies_fails_no_row(plan, cluster) -> None:
    made = plan(n=(2, 3, 4))
    loaded, rows = load(made), []
    for row in OnRay()(made, loaded, this_machine("cpu"), [{"n": n} for n in (2, 3, 4)]):
        rows.append(row)
        cluster.dead |= {1}
    assert sorted(row.sweep["n"] for row in rows) == [2, 3, 4]
    assert not any(row.failed for row in rows)


def test_a_subject_s_interrupt_is_one(plan, cluster) -> None:
    made = plan("def sums(x):\n    raise KeyboardInterrupt\n", n=(2,))
    with pytest.raises(KeyboardInterrupt):
        list(OnRay()(made, load(made), this_machine("cpu"), [{"n": 2}]))


def test_a_host_with_another_text_or_torch_is_refused(plan, cluster) -> None:
    made = plan(n=(2,))
    loaded, machine = load(made), replace(this_machine("cpu"), torch="2.6.0", name="another processor")
    Path("new.py").write_text("def sums(x):\n    return x.sum(1).tolist()  # changed\n")
    with pytest.raises(Unusable, match="engine: host .* differs in torch, the text of NEW from the host"):
        list(OnRay()(made, loaded, machine, [{"n": 2}]))
    assert cluster.did[-1] == "shutdown"


def test_a_host_on_which_another_file_is_imported_is_refused(plan, cluster) -> None:
    made = plan("import helper\ndef sums(x):\n    return x.sum(1).tolist()\n", n=(2,))
    Path("helper.py").write_text("import other\n")
    Path("other.py").touch()
    loaded = load(made)
    Path("helper.py").write_text("import another\n")
    Path("another.py").touch()
    texts = "the text of helper.py, the text of other.py, the text of another.py"
    with pytest.raises(Unusable, match=f"engine: host .* differs in {texts} from the host that began"):
        list(OnRay()(made, loaded, this_machine("cpu"), [{"n": 2}]))


def test_a_subject_that_fails_is_told_as_ever(plan, cluster) -> None:
    made = plan("def sums(x):\n    raise ValueError('no')\n", n=(2,))
    (row,) = OnRay()(made, load(made), this_machine("cpu"), [{"n": 2}])
    assert row.failed == "new (new.py) failed for n=2: ValueError: no (new.py:2)"


@pytest.mark.parametrize(
    ("address", "error", "line"),
    [
        ("auto", ConnectionError("Could not find any.\nMore of it."),
         "ray-address: the cluster at auto can't be joined (ConnectionError: Could not find any.): "
         "give the host:port of the head of one that can, or leave --ray-address out"),
        ("foo bar", ValueError("Invalid address format: foo bar"),
         "ray-address: the cluster at foo bar can't be joined (ValueError: Invalid address format: foo bar): "
         "give the host:port of the head of one that can, or leave --ray-address out"),
        ("", RuntimeError("Failed to start GCS."),
         "engine: ray can't be started (RuntimeError: Failed to start GCS.): leave --engine ray out, or mend "
         "that"),
    ],
)  # fmt: skip
def test_a_cluster_that_is_not_there_is_one_line(plan, cluster, address, error, line) -> None:
    made = plan(n=(2,))
    cluster.unreachable = error
    with pytest.raises(Unusable) as refused:
        list(OnRay(address)(made, load(made), this_machine("cpu"), [{"n": 2}]))
    assert str(refused.value) == line


def test_where_nobody_listens_ray_is_not_asked(plan, cluster) -> None:
    made = plan(n=(2,))
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{unheard.getsockname()[1]}"
        with pytest.raises(
            Unusable, match=f"ray-address: the cluster at {address} can't be joined .ConnectionRefused"
        ):
            list(OnRay(address)(made, load(made), this_machine("cpu"), [{"n": 2}]))
    assert cluster.did == []


def test_where_a_worker_dies_its_row_failed_and_the_others_run(plan, cluster) -> None:
    made = plan(n=(2, 3))
    cluster.dying = {2}
    rows = list(OnRay()(made, load(made), this_machine("cpu"), [{"n": 2}, {"n": 3}]))
    assert {row.sweep["n"]: row.failed for row in rows} == {
        2: "the worker of n=2 died (RayError): does a subject end its process, or is memory short there?",
        3: "",
    }
    assert cluster.did[-1] == "shutdown"


def test_a_cluster_without_a_gpu_is_not_waited_for(plan, cluster) -> None:
    made = plan(n=(2,))
    with pytest.raises(Unusable, match="engine: no host of the cluster has a GPU"):
        list(OnRay()(replace(made, device="cuda"), load(made), this_machine("cpu"), [{"n": 2}]))
    assert cluster.did[-1] == "shutdown"


SMALL = """
import torch
def make_inputs(n, device):
    return (torch.arange(n, device=device),)
def f(x):
    return x.sum()
"""


@pytest.mark.skipif(not importlib.util.find_spec("ray"), reason="ray is not installed")
@pytest.mark.parametrize("address", ["foo bar", "127.0.0.1:1"])
def test_rays_own_words_are_not_shown(tmp_path: Path, address: str) -> None:
    (tmp_path / "f.py").write_text(SMALL)
    place = ["--sweep", "n=3", "--device", "cpu", "--engine", "ray", "--ray-address", address]
    done = subprocess.run(
        [sys.executable, "-m", "syncscope", "bench", "f.py", "f.py", *place],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    note, line, rest = done.stderr.split("\n")
    assert line.startswith(f"syncscope: ray-address: the cluster at {address} can't be joined (")
    assert rest == ""
