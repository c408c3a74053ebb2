"""What is read from Kineto traces, of NVIDIA's and AMD's GPUs and of machines without one."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncscope.observe import kineto
from syncscope.observe.attribution import NO_OPERATOR, operator_calls
from syncscope.observe.kineto import Arguments, DeviceActivity, TraceEvent, UnusableTrace

DATA = Path(__file__).parents[1] / "data"
PUBLIC_TRACES = Path(__file__).parents[3] / "shared" / "traces"

A100 = DATA / "a100_two_steps.json"
MI250 = DATA / "mi250_one_step.json"


def inside_steps(path: Path) -> list[TraceEvent]:
    events = kineto.read(path)
    return kineto.within(events, kineto.steps(events))


def copy(name: str) -> TraceEvent:
    return TraceEvent(name=name, cat="gpu_memcpy")


def runtime(name: str, at: float = 0, correlation: int = -1) -> TraceEvent:
    return TraceEvent(name=name, cat="cuda_runtime", ts=at, dur=1, args=Arguments(correlation))


def step(number: int, at: float, duration: float) -> TraceEvent:
    return TraceEvent(name=f"ProfilerStep#{number}", cat="user_annotation", ts=at, dur=duration)


def test_an_a100s_steps_without_the_making_of_the_inputs() -> None:
    assert kineto.device_activity(inside_steps(A100)) == DeviceActivity(
        dtoh=1, htod=1, dtod=1, waits=4, kernels=2
    )


def test_the_whole_of_an_a100s_trace_has_the_inputs_uploads_too() -> None:
    assert kineto.device_activity(kineto.read(A100)) == DeviceActivity(
        dtoh=1, htod=3, dtod=1, waits=7, kernels=2
    )


def test_on_rocm_a_blocking_copy_is_one_copy_and_one_wait() -> None:
    assert kineto.device_activity(inside_steps(MI250)) == DeviceActivity(dtoh=1, dtod=1, waits=2, kernels=1)


def host_event(name: str, ts: float, dur: float, tid: int = 1) -> kineto.TraceEvent:
    return kineto.TraceEvent(name=name, cat="cpu_op", ts=ts, dur=dur, tid=tid)


def test_what_kernels_call_is_left_out_in_their_own_thread() -> None:
    events = [
        host_event("aten::index_add_", 0, 10),
        host_event("aten::scatter_add_", 2, 3),
        host_event("aten::scatter_add_", 2, 3, tid=2),
        host_event("aten::scatter_add_", 12, 3),
    ]
    assert kineto.aten_calls(events) == {"index_add_": 1, "scatter_add_": 3}
    assert kineto.aten_calls(events, {"index_add_"}) == {"index_add_": 1, "scatter_add_": 2}


def test_overloads_that_call_each_other_are_heard_as_one_call() -> None:
    events = [
        host_event("aten::sort", 0, 10),
        host_event("aten::sort", 2, 3),
        host_event("aten::sort", 12, 3),
    ]
    assert kineto.aten_calls(events) == {"sort": 3}
    assert kineto.heard_calls(events, ()) == {"sort": 2}
    assert kineto.heard_calls([*events, host_event("aten::sort", 4, 1, tid=2)], ()) == {"sort": 3}


def test_aten_calls_are_counted_by_name_inside_the_steps() -> None:
    assert kineto.aten_calls(inside_steps(A100)) == {
        "_local_scalar_dense": 1, "add": 1, "clone": 1, "item": 1, "lift_fresh": 1,
    }  # fmt: skip


def test_memcpy_is_the_sum_of_the_three_directions() -> None:
    assert kineto.device_activity(inside_steps(A100)).memcpy == 3


def test_a_compressed_trace_reads_like_a_plain_one(tmp_path: Path) -> None:
    packed = tmp_path / "trace.json.gz"
    packed.write_bytes(gzip.compress(A100.read_bytes()))
    assert kineto.read(packed) == kineto.read(A100)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Memcpy DtoH (Device -> Pinned)", DeviceActivity(dtoh=1)),
        ("Memcpy DtoH (Device -> Pageable)", DeviceActivity(dtoh=1)),
        ("Memcpy DtoH (Device -> Host)", DeviceActivity(dtoh=1)),
        ("Memcpy HtoD (Pageable -> Device)", DeviceActivity(htod=1)),
        ("Memcpy HtoD (Host -> Device)", DeviceActivity(htod=1)),
        ("Memcpy DtoD (Device -> Device)", DeviceActivity(dtod=1)),
        ("Memcpy PtoP (Device -> Device)", DeviceActivity(dtod=1)),
        ("Memcpy AtoH (Array -> Pageable)", DeviceActivity(dtoh=1)),
    ],
)
def test_a_copys_direction_whatever_memory_is_named(name: str, expected: DeviceActivity) -> None:
    assert kineto.device_activity([copy(name)]) == expected


@pytest.mark.parametrize("name", ["Memcpy HtoH (Pageable -> Pinned)", "Memcpy Unknown", "CopySomewhere"])
def test_a_copy_of_no_known_direction_is_named_and_not_dropped(name: str) -> None:
    activity = kineto.device_activity([copy(name), copy(name)])
    assert (activity.other_copies, activity.memcpy) == ({name: 2}, 0)


@pytest.mark.parametrize(
    "name",
    [
        "cudaStreamSynchronize", "cudaStreamSynchronize_ptsz", "cudaDeviceSynchronize",
        "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpy_ptds",
        "hipStreamSynchronize", "hipDeviceSynchronize", "hipEventSynchronize", "hipMemcpyWithStream",
    ],
)  # fmt: skip
def test_calls_that_keep_the_host_are_waits(name: str) -> None:
    assert kineto.device_activity([runtime(name)]).waits == 1


@pytest.mark.parametrize(
    "name", ["cudaMemcpyAsync", "cudaEventQuery", "cudaEventRecord", "cudaStreamWaitEvent", "hipMemcpyAsync"]
)
def test_calls_that_return_at_once_are_no_waits(name: str) -> None:
    assert kineto.device_activity([runtime(name)]).waits == 0


def test_a_synchronization_is_not_counted_again_from_the_devices_timeline() -> None:
    sync = TraceEvent(name="Stream Sync", cat="cuda_sync")
    assert kineto.device_activity([runtime("cudaStreamSynchronize"), sync]).waits == 1


def test_device_work_belongs_to_the_step_that_launched_it_however_late_it_runs() -> None:
    events = [
        step(0, 10, 10),
        runtime("cudaLaunchKernel", at=15, correlation=7),
        TraceEvent(name="late", cat="kernel", ts=900, dur=1, args=Arguments(7)),
        runtime("cudaLaunchKernel", at=25, correlation=8),
        TraceEvent(name="launched outside", cat="kernel", ts=16, dur=1, args=Arguments(8)),
    ]
    names = [event.name for event in kineto.within(events, kineto.steps(events))]
    assert names == ["ProfilerStep#0", "cudaLaunchKernel", "late"]


def test_device_work_that_names_no_launch_belongs_to_no_step() -> None:
    unlinked = TraceEvent(name="kernel", cat="kernel", ts=15, dur=1)
    events = [step(0, 10, 10), runtime("cudaStreamSynchronize", at=15), unlinked]
    assert unlinked not in kineto.within(events, kineto.steps(events))


def test_the_devices_mirror_of_a_step_is_no_step() -> None:
    mirror = TraceEvent(name="ProfilerStep#0", cat="gpu_user_annotation", ts=0, dur=1000)
    assert kineto.steps([mirror, step(0, 10, 10)]) == [step(0, 10, 10)]


def test_steps_come_in_the_order_of_time() -> None:
    assert kineto.steps([step(10, 50, 1), step(9, 20, 1)]) == [step(9, 20, 1), step(10, 50, 1)]


def test_without_steps_nothing_is_inside() -> None:
    assert kineto.within([runtime("cudaMemcpy")], []) == []


gaps_and_lengths = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), max_size=6)
launches = st.lists(st.tuples(st.integers(0, 120), st.integers(0, 120)), max_size=12)


@given(layout=gaps_and_lengths, times=launches)
def test_membership_is_that_of_looking_at_every_span(
    layout: list[tuple[int, int]], times: list[tuple[int, int]]
) -> None:
    spans, clock = [], 0
    for number, (gap, length) in enumerate(layout):
        spans.append(step(number, clock + gap, length))
        clock += gap + length
    calls = [runtime("cudaLaunchKernel", launched, number) for number, (launched, _) in enumerate(times)]
    work = [
        TraceEvent(name="kernel", cat="kernel", ts=ran, args=Arguments(number))
        for number, (_, ran) in enumerate(times)
    ]
    expected = [any(span.ts <= call.ts < span.ts + span.dur for span in spans) for call in calls]
    found = kineto.within([*calls, *work], spans)
    assert [call in found for call in calls] == expected
    assert [kernel in found for kernel in work] == expected


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "truncated"),
        (b"not json", "malformed"),
        (b"[1, 2]", "Expected `object`"),
        (b'{"schemaVersion": 1}', "traceEvents"),
        (A100.read_bytes()[:-40], "truncated"),
        (gzip.compress(A100.read_bytes())[:-40], "end-of-stream"),
        (b"\x1f\x8b\x08\x00 no gzip", "rror|invalid|end-of-stream"),
        (b'{"traceEvents": [{"name": "\xff\xfe"}]}', "utf-8|UTF-8"),
    ],
)
def test_a_file_that_is_no_trace_is_said_in_one_line(tmp_path: Path, content: bytes, why: str) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(content)
    with pytest.raises(UnusableTrace, match=why) as caught:
        kineto.read(path)
    message = str(caught.value)
    assert message.startswith(f"{path} is no Kineto trace (")
    assert message.endswith("): give a .json or .json.gz that torch.profiler exported")
    assert "\n" not in message


WHOLE_TRACES = {
    "a100_alexnet": DeviceActivity(htod=16, waits=21, kernels=79),
    "a100_simple_add": DeviceActivity(htod=16, waits=21, kernels=79),
    "a100_event_sync": DeviceActivity(dtoh=1, waits=3, kernels=4),
    "a100_event_sync_multi_stream": DeviceActivity(waits=1, kernels=3),
    "a100_rank_non_gpu": DeviceActivity(),
    "a100_triton": DeviceActivity(waits=1, kernels=1),
    "amd_mi250_minitoy_train": DeviceActivity(htod=2, waits=3, kernels=14),
    "cpu_only_rank34": DeviceActivity(),
    "two_ranks/sampled_rank-0": DeviceActivity(dtoh=8, htod=24, dtod=8, kernels=1154),
    "nanosecond_resolution": DeviceActivity(dtod=1600, waits=1, kernels=4350),
}
"""Counted by hand from the events' categories and names."""


def public_trace(name: str) -> Path:
    path = PUBLIC_TRACES / f"{name}.json.gz"
    if not path.exists():
        pytest.skip("the public traces are not here")
    return path


@pytest.mark.parametrize("name", WHOLE_TRACES)
def test_real_machines_traces(name: str) -> None:
    assert kineto.device_activity(kineto.read(public_trace(name))) == WHOLE_TRACES[name]


def test_the_synchronization_after_the_last_step_of_a_real_mi250_is_not_the_steps() -> None:
    activity = kineto.device_activity(inside_steps(public_trace("amd_mi250_minitoy_train")))
    assert activity == DeviceActivity(htod=2, waits=2, kernels=14)


def test_the_scalar_read_of_a_real_a100() -> None:
    aten = kineto.aten_calls(inside_steps(public_trace("a100_event_sync")))
    assert (aten["is_nonzero"], aten["item"], aten["_local_scalar_dense"], aten["sum"]) == (1, 1, 1, 2)


def operator(name: str, at: float, duration: float, thread: int = 0) -> TraceEvent:
    return TraceEvent(name=name, cat="cpu_op", ts=at, dur=duration, tid=thread)


def test_a_host_call_belongs_to_the_innermost_operator_of_its_thread() -> None:
    events = [
        operator("aten::to", 0, 10),
        operator("aten::copy_", 2, 6),
        operator("aten::add", 0, 10, thread=1),
        runtime("cudaMemcpyAsync", at=3, correlation=7),
        runtime("cudaStreamSynchronize", at=5),
        runtime("cudaLaunchKernel", at=9, correlation=8),
        runtime("cudaDeviceSynchronize", at=10),
        TraceEvent(name="Memcpy HtoD (Pageable -> Device)", cat="gpu_memcpy", ts=99, args=Arguments(7)),
        TraceEvent(name="add_kernel", cat="kernel", ts=99, args=Arguments(8)),
    ]
    copying, launching, outside = operator_calls(events)
    assert (copying.operator.name, [one.name for one in copying.around]) == ("aten::copy_", ["aten::to"])
    assert copying.activity == DeviceActivity(htod=1, waits=1)
    assert (launching.operator.name, launching.around) == ("aten::to", ())
    assert launching.activity == DeviceActivity(kernels=1)
    assert outside.operator is NO_OPERATOR
    assert outside.activity == DeviceActivity(waits=1)
