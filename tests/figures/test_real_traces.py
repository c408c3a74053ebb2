"""The cost table against what A100s and an MI250 really did, in traces that torch.profiler recorded there."""

from collections import Counter
from pathlib import Path

import pytest
import torch

from syncscope.observe import kineto
from syncscope.observe.attribution import NO_OPERATOR, operator_calls
from syncscope.observe.kineto import DeviceActivity
from syncscope.observe.scope import Scope
from syncscope.simcuda.costs import table
from syncscope.simcuda.operators import operator

TRACES = Path(__file__).parents[3] / "shared" / "traces"
FILES = sorted(TRACES.rglob("*.json.gz"))

if not FILES:
    pytest.skip("the traces are not beside the project", allow_module_level=True)

DTYPES = {
    "float": torch.float32,
    "double": torch.float64,
    "long": torch.int64,
    "int": torch.int32,
    "bool": torch.bool,
}


class Witness:
    """One call of an operator in a trace: what it was given, and what it made the GPU do."""

    def __init__(self, call, waits_are_recorded):
        names = [one.name.removeprefix("aten::") for one in (*call.around, call.operator)]
        aten = [name for name in names if hasattr(torch.ops.aten, name)]
        self.name, self.parent, self.outermost = names[-1], names[-2:][0], aten[0] if aten else ""
        self.args = call.operator.args
        self.did = call.activity
        self.waits_are_recorded = waits_are_recorded
        self.pinned = any("Pinned -> Device" in event.name for event in call.caused)

    @property
    def figures(self):
        """Copies by direction, and waits where the profiler recorded them at all."""
        did = self.did
        return did.dtoh, did.htod, did.dtod, did.waits if self.waits_are_recorded else None

    @property
    def replayed(self):
        """The operators to call: a copy or a wait is also that of the operators around, a kernel isn't."""
        return {self.name, self.parent, self.outermost} if self.did.memcpy or self.did.waits else {self.name}

    @property
    def key(self):
        """What makes two calls the same one for the table."""
        names, shapes = (self.name, self.parent, self.outermost), tuple(map(str, self.args.shapes))
        return names, shapes, tuple(self.args.dtypes), self.figures, self.pinned

    def tensor(self, place, on_device=True):
        """A tensor like the argument at ``place``: smaller, but empty or of one element where it was."""
        shape = [min(size, 4) for size in self.args.shapes[place]] if self.args.shapes else [4, 4]
        made = torch.ones(shape, dtype=DTYPES.get(self.args.dtypes[place] if self.args.dtypes else ""))
        return made.cuda() if on_device else made.pin_memory() if self.pinned else made

    def first(self):
        """A tensor like the first that was given: before it may stand a result, without a dtype."""
        return self.tensor(next((i for i, name in enumerate(self.args.dtypes) if name in DTYPES), 0))

    def number(self):
        """A tensor of one element like the first that was given."""
        return self.first().reshape(-1)[0]


def witnesses(file):
    events = kineto.read(file)
    waits = any(event.name in kineto.WAITS for event in events)
    calls = [Witness(call, waits) for call in operator_calls(events) if call.operator is not NO_OPERATOR]
    return [one for one in calls if one.did.memcpy or one.did.waits or one.did.kernels]


def charged(call, witness):
    """What the simulated device says of ``call``, in the figures that the trace has."""
    with Scope() as scope:
        arguments = call[0](witness)
        scope.reset()
        call[1](*arguments)
    counts = scope.counts
    assert counts.unknown_ops == 0
    waits = counts.waits if witness.waits_are_recorded else None
    return counts.dtoh, counts.htod, counts.dtod, waits


def copied(witness):
    """Where the two sides of a copy lived; a kernel between equal dtypes means that one wasn't dense."""
    did = witness.did
    target = witness.tensor(0, on_device=not did.dtoh)
    source = witness.tensor(1 if witness.args.shapes else 0, on_device=not did.htod)
    if did.kernels and target.dtype == source.dtype:
        source = torch.ones(*source.shape, 2, dtype=source.dtype).cuda()[..., 0]
    return target, source


def moved(witness):
    target, source = copied(witness)
    return source, target.device, target.dtype


COPY = (copied, lambda target, source: target.copy_(source))
CALLS = {
    "copy_": COPY,
    "to": (moved, lambda source, device, dtype: source.to(device, dtype)),
    "is_nonzero": (lambda one: [one.number()], bool),
    "item": (lambda one: [one.number()], lambda value: value.item()),
    "_local_scalar_dense": (lambda one: [one.number()], torch.ops.aten._local_scalar_dense),
    "clone": (copied, lambda _, source: source.clone(memory_format=torch.contiguous_format)),
    "index_put": (
        lambda one: (copied(one)[1], torch.tensor([0, 1]).cuda()),
        lambda x, rows: x.index_put((rows, rows), x[0, 0]),
    ),
    "pow": (
        lambda one: (one.tensor(0), 1.0 if one.did.dtod else 2.0),
        lambda base, exponent: base.pow(exponent),
    ),
    "cat": (lambda one: [[torch.ones(2).cuda()] * (1 if one.did.dtod else 2)], torch.cat),
    "resize_": (lambda one: [torch.ones(1).cuda()[:0]], lambda empty: empty.resize_(8)),
    "addmm": (lambda one: [torch.ones(2).cuda(), *[torch.ones(2, 2).cuda()] * 2], torch.addmm),
    "mm": (lambda one: [torch.ones(2, 2).cuda()] * 2, torch.mm),
    "bmm": (lambda one: [torch.ones(1, 2, 2).cuda()] * 2, torch.bmm),
    "cumsum": (lambda one: [one.first()], lambda x: x.cumsum(0)),
    "fill_": (lambda one: [one.tensor(0)], lambda x: x.fill_(1)),
    "masked_fill_": (lambda one: [one.tensor(0), one.tensor(1)], lambda x, mask: x.masked_fill_(mask, 1)),
    "max": (lambda one: [one.tensor(0)], lambda x: x.max(dim=0)),
    "repeat_interleave": (
        lambda one: [one.tensor(0)],
        lambda x: torch.repeat_interleave(x, output_size=x.numel()),
    ),
    "where": (lambda one: [torch.ones(4).cuda() > 0], lambda condition: torch.where(condition, 1.0, 2.0)),
    "logical_and": (lambda one: [torch.ones(4).cuda() > 0], lambda mask: torch.logical_and(mask, mask)),
    "_index_put_impl_": (
        lambda one: (torch.ones(4, 4).cuda(), torch.tensor([0, 1]).cuda(), torch.ones(()).cuda()),
        lambda x, rows, value: torch.ops.aten._index_put_impl_(x, (rows, rows), value, False, True),
    ),
}
"""How an operator of the traces is called: its arguments after what the trace says, and the call."""


def has_entry(name):
    packet = getattr(torch.ops.aten, name)
    overloads = [getattr(packet, one) for one in packet.overloads()]
    known = [one for one in overloads if torch._C._dispatch_has_kernel(one.name())]
    return any(table.entry(one) or one.value_decides for one in map(operator, known))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_what_each_operator_copied_and_waited_for_on_the_gpu_is_what_the_table_says(file):
    """Where an operator copied or waited, and also where it only ran kernels, which has to cost nothing."""
    different = {}
    for witness in {one.key: one for one in witnesses(file) if hasattr(torch.ops.aten, one.name)}.values():
        if witness.name not in CALLS:
            assert not (witness.did.memcpy or witness.did.waits), witness.key
            assert not has_entry(witness.name), f"{witness.name} has an entry, and no call in this test"
            continue
        for name in witness.replayed & CALLS.keys():
            if (found := charged(CALLS[name], witness)) != witness.figures:
                different[witness.key, name] = found
    assert different == {}


def test_the_traces_have_the_operators_that_copy_in_every_direction_and_those_that_wait():
    """Else the test above would say nothing."""
    did = Counter()
    for file in FILES:
        for one in witnesses(file):
            activity = one.did
            did[one.name, "dtoh"] += activity.dtoh
            did[one.name, "htod"] += activity.htod
            did[one.name, "dtod"] += activity.dtod
            did[one.name, "waits"] += activity.waits
    assert {key: times for key, times in did.items() if times} == {
        ("_local_scalar_dense", "dtoh"): 8,
        ("_local_scalar_dense", "waits"): 1,
        ("cat", "dtod"): 3,
        ("copy_", "dtod"): 1609,
        ("copy_", "dtoh"): 9,
        ("copy_", "htod"): 82,
        ("copy_", "waits"): 34,
        ("resize_", "dtod"): 4,
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_outside_of_operators_nothing_copies_and_what_waits_is_a_synchronize(file):
    outside = [call for call in operator_calls(kineto.read(file)) if call.operator is NO_OPERATOR]
    calls = Counter(event.name for call in outside for event in call.caused if event.name in kineto.WAITS)
    with Scope() as scope:
        for _ in range(calls.pop("cudaDeviceSynchronize", 0) + calls.pop("hipDeviceSynchronize", 0)):
            torch.cuda.synchronize()
        for _ in range(calls.pop("cudaEventSynchronize", 0)):
            torch.cuda.current_stream().record_event().synchronize()
    assert not calls
    total = sum((call.activity.waits for call in outside), 0)
    assert (scope.counts.waits, scope.counts.memcpy) == (total, 0)
    assert all(call.activity.memcpy == 0 for call in outside)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name.partition(".")[0])
def test_an_operator_that_always_reads_never_ran_without_a_copy(file):
    """``_local_scalar_dense`` on the GPU's values: in these traces every one of an operator's own is."""
    reads = [one for one in witnesses(file) if one.name == "_local_scalar_dense"]
    assert all(one.did.dtoh == 1 and one.figures[3] in (1, None) for one in reads)


def test_activity_is_that_of_the_whole_trace():
    """Nothing is lost or counted twice when it is given to operators."""
    for file in FILES:
        events = kineto.read(file)
        calls = [call.activity for call in operator_calls(events)]
        whole = kineto.device_activity(events)
        assert sum(one.memcpy for one in calls) == whole.memcpy
        assert sum(one.waits for one in calls) == whole.waits
        assert whole == DeviceActivity() or calls
