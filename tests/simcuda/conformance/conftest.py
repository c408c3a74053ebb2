"""How one conformance call is run; the calls are described beside them, in tests/data/conformance."""

import gc
import json
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from syncscope.events import count
from syncscope.observe import kineto
from syncscope.simcuda.simulation import SimulatedDevice

DATA = Path(__file__).parents[2] / "data" / "conformance"

NAMES = compile(
    """
import numpy as np, os, torch, torch.nn as nn, torch.nn.functional as F
C = lambda a, **k: torch.as_tensor(a, **k)
G = lambda a, **k: torch.as_tensor(a, **k).cuda()
x = G([1., 2., 3., 4.]); X = G(np.arange(20, dtype=np.float32).reshape(4, 5))
xi = G([3, 1, 2, 1]); xh = x.half()
y0 = G(2.); t0 = G(1); t1 = G(3); v3 = G([7., 8., 9.]); v4 = G([7., 8., 9., 1.])
idx = G([0, 2, 1]); idx32 = idx.int(); mask = G([True, False, True, False])
M = G(np.arange(20).reshape(4, 5) % 2 == 0)
cidx = idx.cpu(); cmask = mask.cpu(); c = C([1., 2., 3., 4.]); c0 = C(2.); cp = c.pin_memory()
cX = C(np.arange(20, dtype=np.float32).reshape(4, 5)); cXp = cX.pin_memory()
one = G([2]); e = torch.empty(0, device="cuda"); big = torch.empty(20000, device="cuda")
""",
    "<names>",
    "exec",
)


@dataclass(frozen=True)
class Outcome:
    """What the host did in one call, and the type of the error that it ended with."""

    dtoh: int = 0
    htod: int = 0
    dtod: int = 0
    waits: int = 0
    raises: str = ""
    unknown: int = 0

    @property
    def figures(self):
        return self.dtoh, self.htod, self.dtod, self.waits, self.raises

    @property
    def directions(self):
        return self.dtoh > 0, self.htod > 0, self.waits > 0


@contextmanager
def undisturbed():
    """Whatever a call sets for the whole process is put back; what it warns of is not the matter here."""
    deterministic = torch.are_deterministic_algorithms_enabled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(deterministic)


def _attempt(code, names):
    try:
        exec(code, names)
    except Exception as error:
        return type(error).__name__
    return ""


def simulated(call: str, setup: str = "") -> Outcome:
    """Run ``call`` on the simulated device."""
    events = []
    names = {}
    with undisturbed(), SimulatedDevice(events.append):
        exec(NAMES, names)
        exec(setup, names)
        events.clear()
        raised = _attempt(call, names)
        counts = count(events)
    return Outcome(counts.dtoh, counts.htod, counts.dtod, counts.waits, raised, counts.unknown_ops)


def measured(call: str, setup: str, folder: Path) -> Outcome:
    """Run ``call`` on the GPU under torch.profiler, warm."""
    names = {}
    with undisturbed():
        for _ in range(2):
            exec(NAMES, names)
            exec(setup, names)
            raised = _attempt(call, names)
        exec(NAMES, names)
        exec(setup, names)
        torch.cuda.synchronize()
        gc.collect()
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            with torch.profiler.record_function("ProfilerStep#0"):
                raised = _attempt(call, names)
            torch.cuda.synchronize()
    profile.export_chrome_trace(str(folder / "trace.json"))
    events = kineto.read(folder / "trace.json")
    did = kineto.device_activity(kineto.within(events, kineto.steps(events)))
    return Outcome(did.dtoh, did.htod, did.dtod, did.waits, raised)


def calls():
    """The calls of every file, in the order of the files' names."""
    return [call for file in sorted(DATA.glob("*.json")) for call in json.loads(file.read_text())]


@pytest.fixture
def every_call():
    return calls()


@pytest.fixture
def on_simulated_device():
    return simulated


@pytest.fixture
def on_gpu(tmp_path):
    if not torch.cuda.is_available():
        pytest.fail("--gpu was given, and torch sees no GPU: install a CUDA build, or leave the option out")
    return lambda call, setup="": measured(call, setup, tmp_path)


@pytest.fixture
def outcome():
    return Outcome


def pytest_generate_tests(metafunc):
    if "call" in metafunc.fixturenames:
        metafunc.parametrize("call", calls(), ids=lambda call: f"{call['id']}: {call['call'][:60]}")
    if "gpu_call" in metafunc.fixturenames:
        given = calls() if metafunc.config.getoption("--gpu") else []
        metafunc.parametrize("gpu_call", given, ids=lambda call: call["id"])
