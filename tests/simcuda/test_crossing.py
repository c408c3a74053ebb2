"""Bytes that cross: storages, pickling, saving and loading, copies, pinned memory, other libraries."""

import copy
import io
import pickle

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, default_collate

from syncscope.events import count

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
]


def totals(events):
    return tuple(sum(getattr(event, name) for event in events) for name in ("dtoh", "htod", "dtod", "waits"))


@pytest.fixture
def x(device, events):
    made = torch.tensor([1.0, 2.0, 3.0], device="cuda")
    events.clear()
    return made


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (lambda s: s.cpu(), (1, 0, 0, 1)),
        (lambda s: s.clone(), (0, 0, 1, 0)),
        (lambda s: copy.copy(s), (0, 0, 1, 0)),
        (lambda s: s.tolist(), (12, 0, 0, 12)),
        (lambda s: s[0], (1, 0, 0, 1)),
        (lambda s: s[2:4], (0, 0, 0, 0)),
        (lambda s: s.cuda(), (0, 0, 1, 0)),  # "cuda" isn't "cuda:0"
        (lambda s: s.to(device="cpu", non_blocking=True), (1, 0, 0, 0)),
        (lambda s: s.cpu().cuda(), (1, 1, 0, 2)),
        (lambda s: s.nbytes(), (0, 0, 0, 0)),
        (lambda s: torch.UntypedStorage(12).copy_(s), (1, 0, 0, 1)),
    ],
)
def test_what_is_done_with_a_storage(use, expected, x, events):
    storage = x.untyped_storage()
    assert (storage.device, storage.is_cuda, storage.get_device()) == (torch.device("cuda", 0), True, 0)
    use(storage)
    assert totals(events) == expected


def test_a_typed_storage(x, events):
    assert x.storage().device == torch.device("cuda", 0)
    assert x.storage().tolist() == [1, 2, 3]
    assert totals(events) == (3, 0, 0, 3)
    events.clear()
    assert x.storage().cpu().device == torch.device("cpu")
    assert totals(events) == (1, 0, 0, 1)


def test_a_tensor_on_a_storage_of_the_device(x):
    assert torch.tensor([], device="cuda").set_(x.untyped_storage()).tolist() == [1, 2, 3]
    assert torch.UntypedStorage(8, device="cuda").is_cuda
    assert not torch.UntypedStorage(8).is_cuda


def test_saving_fetches_each_storage_once(x, events):
    torch.save({"a": x, "view": x[1:], "host": torch.zeros(2)}, io.BytesIO())
    assert totals(events) == (1, 0, 0, 1)
    (event,) = events
    assert (event.kind, event.shape) == ("vector_read", (12,))
    assert event.site.function == "test_saving_fetches_each_storage_once"


def test_pickling_fetches(x, events):
    assert pickle.loads(pickle.dumps(x)).is_cuda
    assert totals(events)[0] == 1


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


@pytest.mark.parametrize(
    ("where", "side", "expected"),
    [
        (None, "cuda", (0, 1, 0, 1)),
        ("cuda", "cuda", (0, 1, 0, 1)),
        ("cuda:0", "cuda", (0, 1, 0, 1)),
        (torch.device("cuda"), "cuda", (0, 1, 0, 1)),
        ({"cuda:0": "cpu"}, "cpu", (0, 0, 0, 0)),
        (lambda storage, location: storage, "cpu", (0, 0, 0, 0)),
        ("cpu", "cpu", (0, 0, 0, 0)),
        ("meta", "meta", (0, 0, 0, 0)),
    ],
)
def test_loading_uploads_where_it_is_told(where, side, expected, x, events):
    file = saved({"a": x, "view": x[1:]})
    events.clear()
    loaded = torch.load(file, map_location=where)
    assert {value.device.type for value in loaded.values()} == {side}
    assert totals(events) == expected
    if side != "meta":
        assert loaded["view"].tolist() == [2, 3]


def test_a_host_tensor_is_loaded_to_the_device(events):
    file = saved(torch.tensor([1.0, 2.0]))
    assert torch.load(file).device.type == "cpu"
    file.seek(0)
    assert torch.load(file, map_location="cuda").tolist() == [1, 2]
    assert totals(events) == (1, 1, 0, 2)


def test_loading_to_a_gpu_that_is_not_there(x):
    with pytest.raises(RuntimeError, match="device_count|invalid device ordinal"):
        torch.load(saved(x), map_location="cuda:1")


def test_a_deep_copy_stays_on_the_device_and_copies_a_storage_once(x, events):
    first, view = copy.deepcopy([x, x[1:]])
    assert first.is_cuda and view.is_cuda
    assert first.untyped_storage()._cdata == view.untyped_storage()._cdata != x.untyped_storage()._cdata
    assert totals(events) == (0, 0, 1, 0)


def test_a_deep_copy_of_a_module(events):
    module = nn.Linear(3, 2).cuda()
    events.clear()
    assert {p.device.type for p in copy.deepcopy(module).parameters()} == {"cuda"}
    assert totals(events) == (0, 0, 2, 0)


def test_modules_move_with_their_parameters_and_buffers(events):
    module = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    assert module.to("cuda") is module
    assert totals(events) == (0, 7, 0, 7)
    assert all(type(p) is nn.Parameter and p.is_leaf and p.is_cuda for p in module.parameters())
    assert all(buffer.is_cuda for buffer in module.buffers())
    events.clear()
    assert module.cuda().half()[0].weight.dtype == torch.float16
    assert events == []
    module.cpu()
    assert totals(events) == (7, 0, 0, 7)
    assert not any(p.is_cuda for p in module.parameters())


@pytest.mark.parametrize("shape", [(), (1,), (3,)])
@pytest.mark.parametrize("learned", [True, False])
def test_parameters_of_any_shape_move_themselves(shape, learned, events):
    module = nn.Module()
    module.scale = scale = nn.Parameter(torch.ones(shape), requires_grad=learned)
    module.cuda()
    assert module.scale is scale
    assert scale.is_cuda and scale.exp().is_cuda
    assert totals(events) == (0, 1, 0, 1)


@pytest.mark.parametrize("write", [torch.Tensor.copy_, lambda h, value: h.__setitem__(..., value)])
def test_a_host_scalar_that_is_written_from_the_device_is_the_users_own(write, events):
    scale, value = torch.ones((), requires_grad=True), torch.full((), 2.0, device="cuda")
    written = scale * 1
    write(written, value)
    assert written.item() == 2
    assert totals(events) == (1, 0, 0, 1)


def test_state_dicts(events):
    module = nn.Linear(3, 2).cuda()
    host = nn.Linear(3, 2)
    events.clear()
    state = module.state_dict()
    assert events == []
    assert state["weight"].is_cuda
    host.load_state_dict(state)
    assert totals(events) == (2, 0, 0, 2)
    events.clear()
    module.load_state_dict({name: value.clone() for name, value in host.state_dict().items()})
    assert totals(events) == (0, 2, 0, 2)
    assert module.weight.is_cuda
    module.load_state_dict({name: value.clone() for name, value in host.state_dict().items()}, assign=True)
    assert not module.weight.is_cuda


def test_pinned_memory(events):
    pinned = torch.zeros(3).pin_memory()
    assert pinned.is_pinned()
    assert pinned[1:].is_pinned()
    assert torch.empty(3, pin_memory=True).is_pinned()
    assert not torch.empty(3).is_pinned()
    pinned.to("cuda", non_blocking=True)
    assert totals(events) == (0, 1, 0, 0)
    assert events[0].reason.count("pageable") == 0
    torch.zeros(3).to("cuda", non_blocking=True)
    assert "the driver may wait: the memory is pageable" in events[1].reason
    with pytest.raises(RuntimeError, match="cannot pin"):
        torch.zeros(3, device="cuda").pin_memory()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested", "ignore:Sparse")
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.eye(3).to_sparse(),
        lambda: torch.eye(3).to_sparse_csr(),
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
    ],
    ids=["sparse", "compressed", "nested", "jagged"],
)
def test_what_has_no_strides_is_pinned_in_its_parts(make):
    pinned = make().pin_memory()
    assert pinned.is_pinned()
    assert type(pinned) is type(make())


def test_a_fetched_copy_without_a_wait_is_pinned(x, events):
    assert x.to("cpu", non_blocking=True).is_pinned()
    assert totals(events) == (1, 0, 0, 0)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_data_loader_pins(workers):
    loader = DataLoader(
        TensorDataset(torch.arange(6.0).view(3, 2)), batch_size=2, pin_memory=True, num_workers=workers
    )
    batches = [batch for (batch,) in loader]
    assert [batch.is_pinned() for batch in batches] == [True, True]


def test_collation_stays_where_it_is(x, events):
    assert default_collate([x, x]).is_cuda
    assert default_collate([{"a": 1.0}, {"a": 2.0}])["a"].device.type == "cpu"
    assert totals(events)[0] == totals(events)[3] == 0


@pytest.mark.parametrize(
    "build",
    [
        lambda: torch.eye(3).to_sparse(),
        lambda: torch.eye(3).to_sparse_csr(),
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
    ],
)
@pytest.mark.filterwarnings("ignore:.*(beta|prototype)")
def test_tensors_without_a_storage_of_their_own_move(build):
    host = build()
    moved = host.to("cuda")
    assert moved.device == torch.device("cuda", 0)
    assert moved.is_cuda
    assert not host.is_cuda
    assert not moved.cpu().is_cuda


def test_a_sparse_tensor_moves_with_its_indices(events):
    moved = torch.eye(3).to_sparse().to("cuda")
    assert totals(events) == (0, 2, 0, 2)
    events.clear()
    moved.cpu()
    assert totals(events) == (2, 0, 0, 2)


class Plain(torch.Tensor):
    pass


class Overriding(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.mark.parametrize("kind", [Plain, Overriding])
def test_subclasses_move(kind, events):
    moved = torch.ones(2).as_subclass(kind).to("cuda")
    assert type(moved) is kind
    assert moved.is_cuda
    assert moved.sum().item() == 2
    assert totals(events) == (1, 1, 0, 2)


def test_to_meta_copies_nothing(x, events):
    assert x.to("meta").device.type == "meta"
    assert events == []
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        torch.zeros(2, device="meta").to("cuda")
    assert nn.Linear(2, 2, device="meta").to_empty(device="cuda").weight.is_cuda


def test_memory_that_leaves_torch_is_unknown(x, events):
    x.data_ptr()
    assert x.__cuda_array_interface__["shape"] == (3,)
    capsule = x.__dlpack__()
    assert [(event.kind, event.api) for event in events] == [
        ("unknown", "Tensor.data_ptr"),
        ("unknown", "Tensor.__cuda_array_interface__"),
        ("unknown", "Tensor.__dlpack__"),
    ]
    assert {event.site.function for event in events} == {"test_memory_that_leaves_torch_is_unknown"}
    assert torch.from_dlpack(capsule).is_cuda


def test_memory_of_the_host_that_leaves_torch_is_not(events):
    host = torch.zeros(3)
    host.data_ptr()
    assert not hasattr(host, "__cuda_array_interface__")
    assert not torch.from_dlpack(host.__dlpack__()).is_cuda
    assert events == []


def test_torchs_own_exchange_stays_on_the_device(x, events):
    assert x.__dlpack_device__()[0] == 2
    for shared in (torch.from_dlpack(x), torch.utils.dlpack.from_dlpack(x)):
        assert shared.is_cuda
        shared[0] = 5
    assert x.tolist() == [5, 2, 3]
    assert [event.kind for event in events if event.kind == "unknown"] == []


@pytest.mark.filterwarnings("error")
def test_compiled_functions_run_eagerly_with_a_note(device, x, events):
    @torch.compile
    def double(value):
        return value * 2

    assert double(x).sum().item() == 12
    assert totals(events) == (1, 0, 0, 1)
    assert device.notes == ["torch.compile was ignored: the counts are those of the eager code"]


def test_where_a_model_lives_is_where_its_likes_are_made(x, events):
    host = torch.zeros(2)
    assert torch.zeros_like(x).is_cuda
    assert x.new_ones(2).is_cuda
    assert torch.rand_like(host, device="cuda").is_cuda
    assert host.new_zeros(2, device="cuda").is_cuda
    assert not torch.zeros_like(x, device="cpu").is_cuda
    assert not x.new_full((2,), 1.0, device="cpu").is_cuda
    assert x.is_cuda
    assert events == []


def test_type_as_goes_where_the_other_is(x, events):
    assert torch.zeros(2, dtype=torch.int64).type_as(x).is_cuda
    assert not x.type_as(torch.zeros(2)).is_cuda
    assert totals(events) == (1, 1, 0, 2)


@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_a_lazy_module_moves_before_it_knows_its_shape(events):
    module = nn.LazyLinear(2).cuda()
    assert module(torch.ones(1, 3, device="cuda")).is_cuda
    assert module.weight.is_cuda


def test_data_parallel_on_one_gpu(events):
    module = nn.DataParallel(nn.Linear(3, 2).cuda())
    events.clear()
    assert module(torch.ones(4, 3, device="cuda")).is_cuda
    assert events == []


class Loud(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        heard.append(getattr(func, "__name__", ""))
        return super().__torch_function__(func, types, args, kwargs or {})


heard = []


def test_a_subclass_hears_nothing_but_the_users_own_calls(device):
    loud = torch.ones(2).as_subclass(Loud).to("cuda")
    heard.clear()
    loud + 1
    assert heard == ["add"]


@pytest.mark.parametrize(
    ("call", "dtoh", "htod", "place"),
    [
        (lambda o, x, h: o._to_copy.default(x, device=torch.device("cpu")), 1, 0, "cpu"),
        (lambda o, x, h: o._to_copy.default(h, device=torch.device("cuda")), 0, 1, "cuda"),
        (lambda o, x, h: o.to.device(x, torch.device("cpu"), torch.float32), 1, 0, "cpu"),
        (lambda o, x, h: o.to.device(h, "cuda", torch.float16), 0, 1, "cuda"),
        (lambda o, x, h: o.to.dtype_layout(x, dtype=torch.float32, device=torch.device("cpu")), 1, 0, "cpu"),
        (lambda o, x, h: o.to.other(h, x), 0, 1, "cuda"),
        (lambda o, x, h: o.to.dtype(x, torch.float16), 0, 0, "cuda"),
        (lambda o, x, h: torch._to_cpu([x])[0], 1, 0, "cpu"),
    ],
)
def test_a_transfer_called_as_an_operator_crosses_as_well(call, dtoh, htod, place, events):
    x, h = torch.ones(3, device="cuda"), torch.ones(3)
    events.clear()
    result = call(torch.ops.aten, x, h)
    assert (sum(e.dtoh for e in events), sum(e.htod for e in events)) == (dtoh, htod)
    assert result.device.type == place
    assert result.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.filterwarnings("ignore:.*torch.jit", "ignore::DeprecationWarning")
def test_a_transfer_that_a_traced_graph_will_lack_is_unknown(events):
    x = torch.ones(3, device="cuda")
    events.clear()
    torch.jit.trace(lambda a: a.cpu() * 2, (x,), check_trace=False)
    assert [event.kind for event in events if event.kind == "unknown"] == ["unknown"]
    events.clear()
    x.cpu()
    assert [event.kind for event in events] == ["vector_read"]


CARRIED = {
    "list": (lambda x, h: torch.ops.aten._to_cpu([x, x]), (2, 0, 2)),
    "nested, to the host": (
        lambda x, h: torch.ops.aten._nested_tensor_from_tensor_list([x, x], device="cpu"),
        (1, 0, 1),
    ),
    "nested, to the device": (
        lambda x, h: torch.ops.aten._nested_tensor_from_tensor_list([h], device="cuda"),
        (0, 1, 1),
    ),
    "out of the device": (lambda x, h: torch.ops.aten._to_copy.out(x, out=h), (1, 0, 1)),
    "out of the host": (lambda x, h: torch.ops.aten._to_copy.out(h, out=x), (0, 1, 1)),
    "a choice": (lambda x, h: torch.ops.prims.where(x > 0, x, h.sum()), (0, 1, 1)),
    "sparse": (
        lambda x, h: torch.sparse_coo_tensor(x.long()[None], x, (3,), device="cpu"),
        (2, 0, 2),
    ),
}


@pytest.mark.filterwarnings("ignore:Sparse invariant", "ignore:The PyTorch API of nested")
@pytest.mark.parametrize(("call", "figures"), CARRIED.values(), ids=CARRIED)
def test_parts_and_outputs_of_the_other_side_are_copied(call, figures, events):
    x, h = torch.ones(3, device="cuda"), torch.ones(3)
    events.clear()
    call(x, h)
    counted = count(events)
    assert (counted.dtoh, counted.htod, counted.waits, counted.unknown_ops) == (*figures, 0)
