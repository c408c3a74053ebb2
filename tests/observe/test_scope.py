"""The scope: what the code inside it makes the host and the device exchange."""

import re
import tracemalloc

import pytest
import torch

import syncscope
from syncscope.events import Event, count, figure
from syncscope.observe.families import UnknownFamily, family_of
from syncscope.observe.planted import PLANTS, examine
from syncscope.subjects import Unusable


def test_the_readmes_example():
    with syncscope.observe() as scope:
        x = torch.rand(8, device="cuda")
        if (x > 0.5).any():
            x = x[x > 0.5]
    assert (scope.counts.scalar_reads, scope.counts.size_reads, scope.counts.waits) == (1, 1, 2)


@pytest.mark.parametrize("finding", examine("sim"), ids=lambda finding: finding.plant.spelling)
def test_every_planted_spelling_is_seen_as_what_it_is_and_nothing_else(finding):
    assert finding.right, (finding.plant.expected, finding.seen, finding.error)


def test_a_clean_function_is_among_the_plants():
    assert [plant.spelling for plant in PLANTS if plant.expected == (0, 0, 0, 0)] == ["a clean function"]


def test_sites_name_the_line_and_how_often_it_waited():
    with syncscope.observe() as scope:
        x = torch.arange(3, device="cuda")
        for element in x:
            element.item()  # this line waits
        x.tolist()
    first, second = scope.sites
    assert (first.site.text, first.kind, first.api, first.events, first.waits) == (
        "element.item()  # this line waits", "scalar_read", "Tensor.item", 3, 3,
    )  # fmt: skip
    assert (second.kind, second.api, second.dtoh) == ("vector_read", "Tensor.tolist", 1)
    assert first.site.function.endswith("test_sites_name_the_line_and_how_often_it_waited")


def test_reset_forgets_what_came_before():
    with syncscope.observe() as scope:
        x = torch.rand(3, device="cuda")
        x.sum().item()
        scope.reset()
        x.tolist()
    assert (scope.counts.scalar_reads, scope.counts.vector_reads) == (0, 1)


def test_tensors_on_the_host_cost_nothing():
    with syncscope.observe() as scope:
        x = torch.rand(3)
        x.tolist(), x[0].item(), x[x > 0], x.nonzero(), torch.tensor([x[0], 2.0])
    assert scope.events == []


def test_the_stack_of_a_read_has_the_users_frames_only():
    def inner(x):
        return x.item()

    with syncscope.observe(stack=3) as scope:
        inner(torch.ones((), device="cuda"))
    functions = [site.function.rpartition(".")[2] for site in scope.events[-1].stack]
    assert functions[:2] == ["inner", "test_the_stack_of_a_read_has_the_users_frames_only"]


def test_top_k_and_scatter_are_always_counted_and_others_where_asked():
    with syncscope.observe(count=["cumsum"]) as scope:
        x = torch.rand(2, 3, device="cuda")
        x.topk(2)
        x.scatter_(1, torch.zeros(2, 1, dtype=torch.long, device="cuda"), 1.0)
        x.cumsum(0).cumsum(1)
    assert scope.counts.launches == {"topk": 1, "scatter": 1, "cumsum": 2}


def test_an_operator_on_the_host_is_no_launch():
    with syncscope.observe() as scope:
        torch.rand(3).topk(2)
    assert scope.counts.launches == {"topk": 0, "scatter": 0}


def test_a_family_that_is_asked_for_twice_is_one():
    assert family_of(["topk"])["topk"] == "topk"


def test_an_unknown_family_says_what_is_close():
    with pytest.raises(UnknownFamily, match=r"^count: ATen has no operator 'topkk': did you mean topk"):
        family_of(["topkk"])


def test_counts_are_the_sum_of_what_each_event_adds():
    events = [
        Event("scalar_read", "Tensor.item", dtoh=1, waits=1),
        Event("upload", "torch.tensor", htod=1, waits=1),
        Event("copy", "Tensor.clone", dtod=2),
        Event("launch", "torch.topk", family="topk"),
        Event("unknown", "my::op"),
    ]
    counts = count(events, ["topk", "scatter"])
    assert (counts.scalar_reads, counts.host_reads, counts.dtoh, counts.htod, counts.dtod) == (1, 1, 1, 1, 2)
    assert (counts.memcpy, counts.waits, counts.unknown_ops) == (4, 2, 1)
    assert counts.launches == {"topk": 1, "scatter": 0}
    assert figure(events[3], "launches.topk") == 1


def test_a_scope_in_a_scope_counts_for_both():
    with syncscope.observe() as outer:
        x = torch.rand(3, device="cuda")
        with syncscope.observe() as inner:
            x.sum().item()
        x.sum().item()
    assert (outer.counts.scalar_reads, inner.counts.scalar_reads) == (2, 1)


def test_every_common_operator_can_be_counted():
    assert {"mul", "add", "sum", "index", "copy_", "nonzero"} <= set(
        family_of(["mul", "add", "sum", "index", "copy_", "nonzero"])
    )


def test_equal_events_are_kept_once_with_their_number():
    with syncscope.observe() as scope:
        x = torch.ones((), device="cuda")
        for _ in range(1000):
            x.item()
    assert list(scope.folded.values()) == [1000]
    assert len({id(event) for event in scope.events}) == 1


def test_equal_events_take_no_memory():
    def kept(times):
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(times):
            x.item()
        return tracemalloc.get_traced_memory()[0] - before

    with syncscope.observe():
        x = torch.ones((), device="cuda")
        tracemalloc.start()
        kept(200)
        growth = kept(2000)
        tracemalloc.stop()
    assert growth < 2000


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("cpu", 'device=\'cpu\': expected "sim", the simulated GPU, or "cuda", this machine\'s'),
        ("cuda", 'device="cuda": torch finds no GPU on this machine: give device="sim"'),
    ],
)
def test_a_device_that_is_not_there_is_said_at_once(device, message, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(Unusable, match=re.escape(message)):
        syncscope.observe(device=device)
