"""What a call leaves in its arguments: functions that write in place, and backward passes."""

from __future__ import annotations

import torch

from syncscope.comparison.parity import argument_differences
from syncscope.comparison.results import Difference


def places(old: dict, new: dict) -> list[tuple[str, str]]:
    return [(found.path, found.what) for found in argument_differences(old, new)]


def test_a_cache_that_was_written_alike_is_no_finding():
    def written():
        cache = torch.zeros(4, 2)
        cache[1] = 1.0
        return {"cache": [cache, cache.clone()], "position": 1, "name": "layer"}

    assert argument_differences(written(), written()) == []


def test_a_cache_that_was_written_elsewhere_is_found():
    old, new = torch.zeros(4, 2), torch.zeros(4, 2)
    old[1], new[2] = 1.0, 1.0
    (difference,) = argument_differences({"cache": old}, {"cache": new})
    assert difference.path == "argument cache"
    assert (difference.count, difference.first[0]) == (4, [1, 0])
    assert places({"cache": (old, 1)}, {"cache": (new, 1)}) == [("argument cache[0]", "values")]
    assert places({"cache": {"k": old}}, {"cache": {"k": new}}) == [("argument cache['k']", "values")]


def test_an_appended_item_is_found():
    assert places({"kept": [1]}, {"kept": [1, 2]}) == [("argument kept", "length")]


def trained(scale):
    w = torch.ones(2, requires_grad=True)
    (w * scale).sum().backward()
    return w


def test_the_gradient_of_a_leaf_is_an_argument_too():
    assert argument_differences({"w": trained(1.0)}, {"w": trained(1.0)}) == []
    assert places({"w": trained(1.0)}, {"w": trained(2.0)}) == [("argument w.grad", "values")]
    assert places({"ws": [trained(1.0)]}, {"ws": [trained(2.0)]}) == [("argument ws[0].grad", "values")]


def test_a_gradient_that_only_one_side_left_is_found():
    without = torch.ones(2, requires_grad=True)
    assert argument_differences({"w": trained(1.0)}, {"w": without}) == [
        Difference("argument w.grad", "type", "Tensor", "NoneType")
    ]


def test_the_gradients_inside_a_module_are_found():
    def backward(scale):
        torch.manual_seed(0)
        layer = torch.nn.Linear(2, 1)
        (layer(torch.ones(1, 2)) * scale).sum().backward()
        return {"model": layer}

    assert argument_differences(backward(1.0), backward(1.0)) == []
    assert [path for path, _ in places(backward(1.0), backward(2.0))] == [
        "argument model.weight.grad",
        "argument model.bias.grad",
    ]


def test_a_tensor_that_is_no_leaf_is_not_asked_for_its_gradient():
    def inner():
        return {"x": torch.ones(2, requires_grad=True) * 2}

    assert argument_differences(inner(), inner()) == []


def test_a_random_generator_that_was_drawn_from_otherwise_is_found():
    drawn, fresh = (torch.Generator().manual_seed(0) for _ in range(2))
    torch.rand(3, generator=drawn)
    assert places({"g": drawn}, {"g": fresh}) == [("argument g.state", "values")]


def test_where_an_argument_lives_is_compared_as_the_caller_says():
    old, new = torch.ones(2), torch.ones(2)
    (difference,) = argument_differences(
        {"x": old}, {"x": new}, device_of=lambda tensor: "cuda:0" if tensor is old else "cpu"
    )
    assert (difference.path, difference.old, difference.new) == ("argument x", "cuda:0", "cpu")


def test_what_cannot_be_compared_is_no_finding_in_an_argument():
    assert argument_differences({"rows": iter([1])}, {"rows": iter([1])}) == []


def test_parameters_that_only_one_side_has_are_left_alone():
    assert argument_differences({"x": 1, "chunk": 4}, {"x": 1, "block": 8}) == []
