"""``torch.cuda``, ``torch.accelerator`` and their classes, while a simulated device is active."""

import math

import pytest
import torch

from syncscope.simcuda.simulation import SimulatedDevice

pytestmark = pytest.mark.usefixtures("device")


def kinds(events):
    return [(event.kind, event.api) for event in events]


def test_there_is_one_gpu():
    assert torch.cuda.is_available()
    assert torch.cuda.is_initialized()
    assert torch.cuda.device_count() == 1
    assert torch.cuda.current_device() == 0
    assert torch.cuda.get_device_name() == "simulated CUDA device"
    assert torch.cuda.get_device_capability(0) == (9, 0)
    assert torch.cuda.get_device_properties("cuda").name == "simulated CUDA device"
    assert torch.cuda.is_bf16_supported()
    assert not torch.cuda.is_current_stream_capturing()


@pytest.mark.parametrize(
    "use",
    [
        lambda: torch.zeros(2, device="cuda:1"),
        lambda: torch.zeros(2).to("cuda:1"),
        lambda: torch.zeros(2).cuda(1),
        lambda: torch.cuda.set_device(1),
        lambda: torch.cuda.synchronize(1),
        lambda: torch.cuda.device(1).__enter__(),
        lambda: torch.tensor([1.0], device=torch.device("cuda", 3)),
        lambda: torch.nn.Linear(2, 2).to("cuda:1"),
        lambda: torch.UntypedStorage(4, device="cuda:1"),
    ],
)
def test_a_second_gpu_is_not_there(use):
    with pytest.raises(
        RuntimeError, match=r"CUDA error: invalid device ordinal \(the simulated machine has one GPU"
    ):
        use()


def test_every_synchronize_is_one_wait(events):
    stream, event = torch.cuda.Stream(), torch.cuda.Event()
    event.record()
    torch.cuda.synchronize()
    torch.cuda.synchronize("cuda:0")
    stream.synchronize()
    torch.cuda.current_stream().synchronize()
    event.synchronize()
    torch.accelerator.synchronize()
    assert kinds(events) == [
        ("wait", "torch.cuda.synchronize"),
        ("wait", "torch.cuda.synchronize"),
        ("wait", "torch.cuda.Stream.synchronize"),
        ("wait", "torch.cuda.Stream.synchronize"),
        ("wait", "torch.cuda.Event.synchronize"),
        ("wait", "torch.accelerator.synchronize"),
    ]
    assert all((event.waits, event.dtoh, event.op) == (1, 0, "") for event in events)
    assert {event.site.function for event in events} == {"test_every_synchronize_is_one_wait"}


def test_what_only_the_device_waits_for_is_no_wait(events):
    stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        torch.zeros(3, device="cuda").record_stream(stream)
        event.record(stream)
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.current_stream().wait_event(event)
    event.wait()
    stream.record_event().query()
    assert stream.query()
    assert events == []


def test_to_give_memory_back_is_no_wait_that_is_counted_but_the_driver_may_wait(events):
    torch.cuda.empty_cache()
    torch.accelerator.memory.empty_cache()
    assert [(event.kind, event.api, event.waits, event.may_wait) for event in events] == [
        ("wait", "torch.cuda.empty_cache", 0, True),
        ("wait", "torch.accelerator.empty_cache", 0, True),
    ]
    assert "which may wait for the device" in events[0].reason


def test_streams_and_events_are_torchs_classes():
    for stream in (
        torch.cuda.Stream(),
        torch.cuda.current_stream(),
        torch.Stream(device="cuda"),
        torch.Stream("cuda"),
    ):
        assert isinstance(stream, torch.cuda.Stream)
        assert isinstance(stream, torch.Stream)
        assert stream.device == torch.device("cuda", 0)
    for event in (torch.cuda.Event(), torch.Event(device="cuda"), torch.cuda.current_stream().record_event()):
        assert isinstance(event, torch.cuda.Event)
        assert isinstance(event, torch.Event)


def test_a_class_taken_before_makes_streams_too():
    from torch.cuda import Event, Stream

    assert isinstance(Stream(priority=-1), Stream)
    assert isinstance(Event(), Event)


def test_the_current_stream_follows():
    default, stream = torch.cuda.default_stream(), torch.cuda.Stream()
    assert torch.cuda.current_stream() == default
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream
        with torch.cuda.stream(None), torch.cuda.stream(default):
            assert torch.cuda.current_stream() == default
        assert torch.cuda.current_stream() == stream
    with stream:
        assert torch.accelerator.current_stream() == stream
    assert torch.cuda.current_stream() == default
    assert stream != default
    assert stream.cuda_stream != default.cuda_stream == 0


def test_the_current_stream_is_put_back_after_an_error():
    with pytest.raises(ValueError), torch.cuda.stream(torch.cuda.Stream()):
        raise ValueError
    assert torch.cuda.current_stream() == torch.cuda.default_stream()


def test_no_time_is_made_up():
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    end.record()
    assert math.isnan(start.elapsed_time(end))
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(torch.cuda.Event())


@pytest.mark.parametrize("capture", [lambda: torch.cuda.CUDAGraph(), lambda: torch.cuda.graph(None)])
def test_a_graph_is_refused_in_one_clear_line(capture):
    with pytest.raises(
        RuntimeError, match="^a simulated device captures no CUDA graphs: run the function eagerly here"
    ):
        capture()


def test_memory_is_what_lives_on_the_device():
    before = torch.cuda.memory_allocated()
    x = torch.zeros(1000, device="cuda")
    assert torch.cuda.memory_allocated() - before == x.nbytes
    assert torch.cuda.memory_stats()["allocated_bytes.all.current"] == torch.cuda.max_memory_allocated()
    free, total = torch.cuda.mem_get_info()
    assert 0 < free < total
    assert "PyTorch CUDA memory summary" in torch.cuda.memory_summary()
    del x
    assert torch.cuda.memory_allocated() == before
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.memory_snapshot() == []


def test_random_numbers_are_the_cpus():
    torch.manual_seed(3)
    on_device = torch.rand(4, device="cuda").tolist()
    torch.manual_seed(3)
    assert torch.rand(4).tolist() == on_device
    torch.cuda.manual_seed(3)
    state = torch.cuda.get_rng_state()
    first = torch.rand(4, device="cuda").tolist()
    torch.cuda.set_rng_state(state)
    assert torch.rand(4, device="cuda").tolist() == first == on_device
    assert torch.cuda.initial_seed() == 3


def test_a_generator_of_the_device():
    generator = torch.Generator(device="cuda").manual_seed(5)
    assert generator.device == torch.device("cuda", 0)
    assert isinstance(generator, torch.Generator)
    assert not isinstance(3, torch.Generator)
    drawn = torch.rand(3, device="cuda", generator=generator)
    assert drawn.tolist() == torch.rand(3, generator=torch.Generator().manual_seed(5)).tolist()


@pytest.mark.parametrize(
    "draw",
    [
        lambda: torch.rand(3, device="cuda", generator=torch.Generator()),
        lambda: torch.zeros(3, device="cuda").normal_(generator=torch.Generator()),
        lambda: torch.randperm(3, device="cuda", generator=torch.Generator()),
        lambda: torch.multinomial(torch.ones(3, device="cuda"), 2, generator=torch.Generator()),
    ],
)
def test_a_cpu_generator_is_refused_for_a_device_tensor(draw):
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        draw()


def test_a_device_generator_is_refused_for_a_host_tensor():
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'cuda'"):
        torch.rand(3, generator=torch.Generator(device="cuda"))


def test_the_old_tensor_types(events):
    x = torch.cuda.FloatTensor([1.0, 2.0])
    assert (x.device.type, x.dtype, x.type()) == ("cuda", torch.float32, "torch.cuda.FloatTensor")
    assert [(event.kind, event.api, event.htod, event.waits) for event in events] == [
        ("upload", "torch.cuda.FloatTensor", 1, 1)
    ]
    assert isinstance(x, torch.cuda.FloatTensor)
    assert not isinstance(x, torch.cuda.HalfTensor)
    assert not isinstance(torch.zeros(2), torch.cuda.FloatTensor)
    assert torch.zeros(2).type(torch.cuda.HalfTensor).dtype == torch.float16
    assert torch.cuda.LongTensor(2, 3).shape == (2, 3)


def test_the_accelerator_is_the_device():
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator() == torch.device("cuda")
    assert torch.accelerator.device_count() == 1
    assert torch.accelerator.current_device_index() == 0
    torch.accelerator.set_device_index(0)
    assert torch.accelerator.current_stream() == torch.cuda.current_stream()


def test_profiling_marks_do_nothing(events):
    with torch.cuda.nvtx.range("a"), torch.cuda.profiler.profile():
        torch.cuda.nvtx.range_push("b")
        torch.cuda.nvtx.mark("c")
        torch.cuda.nvtx.range_pop()
    with torch.cuda.device(0), torch.cuda.device_of(torch.zeros(2, device="cuda")):
        assert events == []


def test_a_name_that_the_user_patches_stays_his(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: "mine")
    assert torch.cuda.is_available() == "mine"


def test_a_name_that_the_user_patched_before_stays_his(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 8)
    with SimulatedDevice(lambda event: None):
        assert torch.cuda.device_count() == 8


def test_a_default_device():
    torch.set_default_device("cuda")
    assert torch.zeros(2).is_cuda
    assert torch.tensor([1.0]).is_cuda
    assert torch.nn.Linear(2, 2).weight.is_cuda
    assert not torch.zeros(2, device="cpu").is_cuda
    torch.set_default_device("cpu")
    assert not torch.zeros(2).is_cuda


def test_a_device_as_a_context():
    with torch.device("cuda"):
        assert torch.zeros(2).is_cuda
        assert torch.as_tensor([1.0]).is_cuda
    assert not torch.zeros(2).is_cuda


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
def test_the_old_way_to_set_a_default_device():
    torch.set_default_tensor_type("torch.cuda.DoubleTensor")
    try:
        assert (torch.zeros(2).is_cuda, torch.zeros(2).dtype) == (True, torch.float64)
    finally:
        torch.set_default_tensor_type("torch.FloatTensor")
    assert (torch.zeros(2).is_cuda, torch.zeros(2).dtype) == (False, torch.float32)


def test_the_module_of_the_device():
    assert torch.get_device_module() is torch.cuda
    assert torch.get_device_module("cpu") is torch.cpu


def test_what_is_a_class_in_torch_is_one_here_too():
    """Annotations name them: ``graph: torch.cuda.CUDAGraph | None``."""
    classes = [name for name in dir(torch.cuda) if isinstance(getattr(torch.cuda, name), type)]
    with SimulatedDevice(lambda event: None):
        assert [name for name in classes if not isinstance(getattr(torch.cuda, name), type)] == []
        with pytest.raises(RuntimeError, match="captures no CUDA graphs"):
            torch.cuda.CUDAGraph()


def test_the_default_generator_of_the_gpu_is_what_seeding_seeds():
    (generator,) = torch.cuda.default_generators
    assert generator.device == torch.device("cuda", 0)
    assert isinstance(generator, torch.Generator)
    assert generator.manual_seed(7) is generator
    assert generator.initial_seed() == torch.cuda.initial_seed() == 7
    drawn = torch.rand(3, device="cuda", generator=generator)
    torch.manual_seed(7)
    assert torch.equal(torch.rand(3, device="cuda"), drawn)
    state = generator.get_state()
    drawn = torch.rand(3, device="cuda")
    generator.set_state(state)
    assert torch.equal(torch.empty(3, device="cuda").uniform_(generator=generator), drawn)


def test_a_default_generator_makes_no_numbers_for_the_other_device():
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'cuda'"):
        torch.rand(2, generator=torch.cuda.default_generators[0])
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        torch.rand(2, device="cuda", generator=torch.default_generator)


def test_the_cache_of_fft_plans_has_a_capacity():
    cache = torch.backends.cuda.cufft_plan_cache
    assert (cache.size, cache.max_size, cache.clear(), cache[0].size) == (0, 4096, None, 0)
    cache.max_size = 10
    assert cache[0].max_size == 10
    with pytest.raises(RuntimeError, match="must be non-negative, but got -1"):
        cache.max_size = -1
    with pytest.raises(RuntimeError, match="read-only"):
        cache.size = 3


def test_settings_of_tunable_operators_are_told_again():
    tunable = torch.cuda.tunable
    assert (tunable.is_enabled(), tunable.tuning_is_enabled(), tunable.get_filename()) == (False, True, "")
    tunable.enable()
    tunable.tuning_enable(False)
    tunable.set_max_tuning_duration(-3)
    tunable.set_max_tuning_iterations(4)
    tunable.set_filename("found.csv", insert_device_ordinal=True)
    tunable.set_rotating_buffer_size(2)
    assert (tunable.is_enabled(), tunable.tuning_is_enabled()) == (True, False)
    assert (tunable.get_max_tuning_duration(), tunable.get_max_tuning_iterations()) == (0, 4)
    assert (tunable.get_filename(), tunable.get_rotating_buffer_size()) == ("found0.csv", 2 * 1024 * 1024)
    assert not tunable.get_results()
    assert not tunable.read_file("found.csv")


def test_the_part_of_the_runtime_that_torch_hands_on():
    runtime = torch.cuda.cudart()
    assert repr(runtime.cudaError.success) == "<cudaError.success: 0>"
    assert repr(runtime.cudaError(2)) == "<cudaError.???: 2>"
    assert runtime.cudaGetErrorString(runtime.cudaError(2)) == "out of memory"
    host = torch.ones(4)
    assert runtime.cudaHostRegister(host.data_ptr(), host.nbytes, 0) == runtime.cudaError.success
    assert runtime.cudaHostUnregister(host.data_ptr()) == runtime.cudaError.success
    assert runtime.cudaMemGetInfo(0) == torch.cuda.mem_get_info()
    assert not hasattr(runtime, "cudaDeviceSynchronize")
    torch.cuda.check_error(runtime.cudaProfilerStart())
    torch.cuda.check_error(0)
    with pytest.raises(torch.cuda.CudaError, match=r"out of memory \(2\)"):
        torch.cuda.check_error(2)


def asked_of(index):
    return [
        lambda: torch.cuda.get_device_properties(index),
        lambda: torch.cuda.get_device_name(index),
        lambda: torch.cuda.get_device_capability(index),
        lambda: torch.cuda.can_device_access_peer(index, 0),
        lambda: torch.cuda.can_device_access_peer(0, index),
    ]


@pytest.mark.parametrize("ask", [*asked_of(5), *asked_of(-1)])
def test_a_gpu_that_is_not_there_has_no_properties(ask):
    with pytest.raises(AssertionError, match=r"Invalid (peer )?device id"):
        ask()


@pytest.mark.parametrize("ask", [torch.cuda.get_device_properties, torch.cuda.synchronize])
def test_the_host_is_no_gpu(ask):
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        ask("cpu")


def test_a_tensor_names_no_gpu_so_the_current_one_is_meant(events):
    index = torch.tensor(0, device="cuda")
    events.clear()
    assert torch.cuda.get_device_name(index) == torch.cuda.get_device_name()
    assert torch.cuda.get_device_capability(index) == (9, 0)
    assert events == []
    torch.cuda.synchronize(index)
    assert kinds(events) == [("wait", "torch.cuda.synchronize")]


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda t: torch.accelerator.get_device_capability(), RuntimeError, "doesn't support getting device"),
        (lambda t: torch.accelerator.set_device_index(t), ValueError, "with a specified index"),
        (lambda t: torch.cuda._sleep(t), RuntimeError, r"_sleep\(\): expected 'int'"),
        (lambda t: torch.cuda._sleep(2.5), RuntimeError, r"_sleep\(\): expected 'int'"),
        (lambda t: torch.cuda.set_per_process_memory_fraction(t), TypeError, "must be `float`"),
        (lambda t: torch.cuda.set_per_process_memory_fraction(1.5), ValueError, "Allowed range: 0~1"),
        (lambda t: torch.backends.cuda.preferred_blas_library("none"), RuntimeError, "Choose from: default"),
        (lambda t: t.untyped_storage().resize_(t * 8), RuntimeError, "resize_ expects an int"),
    ],
)
def test_what_cuda_refuses_is_refused(use, error, message):
    with pytest.raises(error, match=message):
        use(torch.tensor(1, device="cuda"))


def test_a_storage_is_not_read_to_learn_that_its_size_is_no_number(events):
    size = torch.tensor(8, device="cuda")
    storage = torch.zeros(4, device="cuda").untyped_storage()
    events.clear()
    with pytest.raises(RuntimeError):
        storage.resize_(size)
    assert events == []


def test_the_blas_library_that_is_preferred_is_told_again():
    assert torch.backends.cuda.preferred_blas_library() == torch._C._BlasBackend.Cublas
    torch.backends.cuda.preferred_blas_library("cublaslt")
    assert torch.backends.cuda.preferred_blas_library() == torch._C._BlasBackend.Cublaslt


def test_an_event_for_other_processes_has_a_handle():
    assert len(torch.cuda.Event(interprocess=True).ipc_handle()) == 64


def test_a_kernel_in_cudas_language_is_refused_in_one_clear_line():
    double = torch.cuda.jiterator._create_jit_fn("template <typename T> T twice(T x) { return x + x; }")
    with pytest.raises(
        RuntimeError, match=r"^a simulated device compiles no kernels of torch.cuda.jiterator"
    ):
        double(torch.ones(2, device="cuda"))


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")
def test_the_old_types_of_sparse_tensors(device):
    FloatTensor = torch.cuda.sparse.FloatTensor
    empty = FloatTensor()
    assert (tuple(empty.shape), empty.layout, empty.is_cuda) == ((0,), torch.sparse_coo, True)
    assert tuple(FloatTensor(2, 3).shape) == tuple(FloatTensor(torch.Size([2, 3])).shape) == (2, 3)
    indices, values = torch.tensor([[0, 2]], device="cuda"), torch.ones(2, device="cuda")
    made = FloatTensor(indices, values, torch.Size([3]))
    assert made.to_dense().tolist() == [1, 0, 1]
    assert isinstance(made, FloatTensor)
    assert not isinstance(made, torch.cuda.sparse.HalfTensor)
    assert not isinstance(made.cpu(), FloatTensor)


def test_functions_that_were_taken_before_a_scope_answer_in_it(events):
    assert (taken["is_available"](), taken["device_count"](), taken["current_device"]()) == (True, 1, 0)
    assert taken["get_device_name"]() == torch.cuda.get_device_name()
    assert taken["mem_get_info"]() == torch.cuda.mem_get_info()
    taken["init"]()
    taken["synchronize"]()
    assert kinds(events) == [("wait", "torch.cuda.synchronize")]


taken = {
    name: getattr(torch.cuda, name)
    for name in (
        "is_available", "device_count", "current_device", "get_device_name", "mem_get_info", "init",
        "synchronize",
    )
}  # fmt: skip
