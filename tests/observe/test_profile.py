"""Complete calls under torch.profiler: what is counted, and what is left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from syncscope.observe import kineto
from syncscope.observe.profile import Profile, ProfileFailed, keep, profile_calls, with_rank

TOOL = Path(__file__).parents[2]


def make(step: int) -> torch.Tensor:
    torch.zeros(4).topk(1)
    return torch.arange(8.0)


def three_topk_two_reads(x: torch.Tensor) -> float:
    for _ in range(3):
        x.topk(2)
    return x[0].item() + x[1].item()


def profile_three(call=three_topk_two_reads, **options) -> Profile:
    return profile_calls(make, call, 3, **options)


def test_counts_are_those_of_the_calls_and_not_of_the_inputs_making() -> None:
    profile = profile_three()
    assert profile.calls == 3
    assert {name: profile.aten[name] for name in ("topk", "item", "_local_scalar_dense")} == {
        "topk": 9, "item": 6, "_local_scalar_dense": 6,
    }  # fmt: skip
    assert "zeros" not in profile.aten and "arange" not in profile.aten


def test_operators_called_by_operators_are_counted_too() -> None:
    assert profile_three(lambda x: torch.ones(2)).aten == {
        "empty": 3, "fill_": 3, "ones": 3,
    }  # fmt: skip


def test_a_backward_pass_is_counted() -> None:
    def call(x: torch.Tensor) -> None:
        (x.requires_grad_() * 2).sum().backward()

    assert profile_three(call).aten["mul"] == 6


def test_inputs_are_made_for_each_call_by_its_number() -> None:
    made: list[int] = []
    seen: list[int] = []
    profile_calls(lambda step: made.append(step) or step, seen.append, 3)
    assert made == seen == [0, 1, 2]


def test_without_a_gpu_device_figures_are_unknown_and_not_zero() -> None:
    assert profile_three().device is None


def test_no_calls_give_no_counts() -> None:
    assert profile_calls(make, three_topk_two_reads, 0) == Profile(calls=0, aten={}, heard={})


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, SystemExit])
def test_after_a_failing_call_the_profiler_is_off_and_the_next_profile_works(problem) -> None:
    def fails(x: torch.Tensor) -> None:
        x.topk(2)
        raise problem("in the subject")

    with pytest.raises(problem, match="in the subject"):
        profile_three(fails)
    assert not torch.autograd._profiler_enabled()
    assert profile_three().aten["topk"] == 9


def test_a_failing_preparation_leaves_the_profiler_off() -> None:
    def fails(step: int) -> None:
        raise ValueError("no inputs")

    with pytest.raises(ValueError, match="no inputs"):
        profile_calls(fails, print, 3)
    assert not torch.autograd._profiler_enabled()


def test_a_profiler_that_runs_already_is_not_disturbed() -> None:
    with torch.autograd.profiler.profile(use_kineto=True) as users:
        with pytest.raises(ProfileFailed) as caught:
            profile_three()
        torch.ones(2)
    assert str(caught.value) == "a torch.profiler runs already and a process can have only one: stop it first"
    assert "aten::ones" in {event.name for event in users.function_events}


def test_a_subject_with_a_profiler_of_its_own_is_refused_and_the_next_profile_works() -> None:
    def profiles_itself(x: torch.Tensor) -> None:
        with torch.autograd.profiler.profile(use_kineto=True):
            x.topk(2)

    with pytest.raises(ProfileFailed) as caught:
        profile_three(profiles_itself)
    assert str(caught.value) == (
        "the subject starts a torch.profiler of its own, which ends the one around it: take it out"
    )
    assert profile_three().aten["topk"] == 9


def test_a_subject_that_leaves_a_profiler_running_is_refused_and_the_next_profile_works() -> None:
    left_running = []

    def starts_one(x: torch.Tensor) -> None:
        if not left_running:
            left_running.append(torch.autograd.profiler.profile(use_kineto=True).__enter__())

    with pytest.raises(ProfileFailed) as caught:
        profile_three(starts_one)
    assert str(caught.value) == (
        "2 of 3 calls were recorded: "
        "the subject starts a torch.profiler of its own, which ends the one around it: take it out"
    )
    assert profile_three().aten["topk"] == 9


@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is there")
@pytest.mark.filterwarnings("ignore:CUDA is not available")
def test_a_gpu_that_kineto_does_not_see_is_a_failure_and_not_a_row_of_zeros() -> None:
    with pytest.raises(ProfileFailed, match="^torch.profiler recorded no call into CUDA, not even its own: "):
        profile_three(cuda=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_on_a_gpu_each_read_is_a_copy_and_a_wait() -> None:
    profile = profile_calls(lambda _: torch.arange(8.0, device="cuda"), three_topk_two_reads, 3, cuda=True)
    assert profile.device is not None
    assert (profile.device.dtoh, profile.device.waits, profile.aten["item"]) == (6, 6, 6)


@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_the_kept_trace_has_the_same_counts(tmp_path: Path, name: str) -> None:
    path = tmp_path / "frames=2" / "old" / name
    profile = profile_three(trace=path)
    events = kineto.read(path)
    spans = kineto.steps(events)
    assert [span.name for span in spans] == ["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"]
    assert kineto.aten_calls(kineto.within(events, spans)) == profile.aten
    assert list(path.parent.iterdir()) == [path]


def test_a_trace_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.mkdir()
    with pytest.raises(OSError):
        keep(b"{}", path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_failing_call_leaves_an_earlier_trace_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text("earlier")
    with pytest.raises(ZeroDivisionError):
        profile_three(lambda _: 1 / 0, trace=path)
    assert path.read_text() == "earlier"


def test_a_kept_trace_names_its_rank() -> None:
    assert with_rank(b'{\n"traceEvents": [{}]}') == (
        b'{\n  "distributedInfo": {"rank": 0},\n"traceEvents": [{}]}'
    )


def test_kinetos_level_is_put_back() -> None:
    profile_three()
    assert "KINETO_LOG_LEVEL" not in os.environ


def test_the_users_level_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETO_LOG_LEVEL", "2")
    profile_calls(make, lambda _: None if os.environ["KINETO_LOG_LEVEL"] == "2" else 1 / 0, 1)
    assert os.environ["KINETO_LOG_LEVEL"] == "2"


def test_a_process_first_profile_writes_nothing_and_does_not_import_the_compiler() -> None:
    script = (
        "import sys\n"
        "from syncscope.observe.profile import profile_calls\n"
        "assert 'torch' not in sys.modules\n"
        "import torch\n"
        "for _ in range(2): profile_calls(lambda i: torch.ones(3), torch.sum, 2)\n"
        "assert 'torch._inductor' not in sys.modules\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "KINETO_LOG_LEVEL"}
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=TOOL,
        env=environment | {"PYTHONPATH": str(TOOL)},
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


# What HTA asks of pandas in a way that pandas has deprecated is not this tool's.
@pytest.mark.filterwarnings("ignore")
def test_htas_trace_diff_reads_two_kept_traces(tmp_path: Path) -> None:
    trace_diff = pytest.importorskip("hta.trace_diff")
    old, new = tmp_path / "old", tmp_path / "new"
    profile_three(trace=old / "trace.json.gz")
    profile_three(lambda x: x.topk(2), trace=new / "trace.json.gz")
    steps = [0, 1, 2]
    table = trace_diff.TraceDiff.compare_traces(
        trace_diff.LabeledTrace("old", trace_dir=str(old)),
        trace_diff.LabeledTrace("new", trace_dir=str(new)),
        control_iteration=steps,
        test_iteration=steps,
    )
    assert table.loc["aten::topk", ["old_counts", "new_counts", "diff_counts"]].tolist() == [9, 3, -6]
    assert table.loc["aten::item", ["old_counts", "new_counts", "diff_counts"]].tolist() == [6, 0, -6]
    assert "aten::arange" not in table.index
