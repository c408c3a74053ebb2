"""Objects of the user's own in outputs: compared by what they are, not by where they are."""

from __future__ import annotations

import datetime
import enum
import functools
import random
import sys
import threading
import weakref
from collections import UserDict
from dataclasses import dataclass, make_dataclass
from pathlib import PurePosixPath
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from syncscope.comparison.parity import differences
from syncscope.comparison.results import Difference


class Obj:
    def __init__(self, x, **more):
        self.x = x
        self.__dict__.update(more)


class Slotted:
    __slots__ = ("__hidden", "x", "never_set")

    def __init__(self, x, hidden=0):
        self.x, self.__hidden = x, hidden


class AlwaysEqual:
    """Like a result class whose == says that it is of the same kind."""

    def __init__(self, mask, name=""):
        self.mask, self.name = mask, name

    def __eq__(self, other):
        return True


def only(old: object, new: object) -> Difference:
    (difference,) = differences(old, new)
    return difference


def place(old: object, new: object) -> tuple[str, str]:
    difference = only(old, new)
    return difference.path, difference.what


@pytest.mark.parametrize("kind", [Obj, Slotted, SimpleNamespace])
def test_a_plain_object_is_equal_to_one_with_equal_attributes(kind):
    def make(x):
        return kind(x) if kind is not SimpleNamespace else kind(x=x)

    assert differences(make(torch.ones(2)), make(torch.ones(2))) == []
    assert differences([make(float("nan"))], [make(float("nan"))]) == []
    assert place([make(torch.ones(2))], [make(torch.zeros(2))]) == ("[0].x", "values")
    assert place(make(make([1, 2])), make(make([1, 3]))) == (".x.x[1]", "values")


def test_an_attribute_that_only_one_side_has_is_named():
    assert only(Obj(1, scale=2), Obj(1)) == Difference("", "keys", ".scale", "none more")


def test_a_private_slot_counts():
    assert place(Slotted(1, hidden=1), Slotted(1, hidden=2)) == ("._Slotted__hidden", "values")


def test_an_object_that_holds_itself_ends():
    old, new = Obj(1), Obj(1)
    old.itself, new.itself = old, new
    assert differences(old, new) == []


def test_an_object_without_attributes_is_equal_to_its_like():
    class Marker:
        pass

    class Empty:
        __slots__ = ()

    assert differences([Marker(), Empty()], [Marker(), Empty()]) == []


def test_what_hides_its_state_from_python_is_never_called_equal():
    assert only(random.Random(1), random.Random(2)).what == "uncomparable"
    assert place(Obj(threading.Lock()), Obj(threading.Lock())) == (".x", "uncomparable")
    assert place(iter([1]), iter([2])) == ("", "uncomparable")


def network(bias=True):
    torch.manual_seed(0)
    layers = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=bias), torch.nn.ReLU(), torch.nn.BatchNorm1d(2))
    layers[0].register_forward_hook(hook)
    return layers


def hook(module, inputs, output):
    return None


def test_a_module_is_compared_by_its_parameters_buffers_and_submodules():
    assert differences(network(), network()) == []

    changed = network()
    with torch.no_grad():
        changed[0].weight[1, 0] += 1
    changed[2].running_mean += 1
    assert [found.path for found in differences(network(), changed)] == [".0.weight", ".2.running_mean"]

    assert differences(network(), network(bias=False))[0].path == ".0.bias"
    assert differences(network(), network().eval())[-1] == Difference(
        ".training", "values", "True", "False", count=1, numel=1, first=[[]]
    )


def test_a_module_with_another_hook_differs():
    plain = network()
    plain[0].register_forward_hook(lambda *given: None)
    assert any("_forward_hooks" in found.path for found in differences(network(), plain))


def test_an_attribute_of_a_module_counts():
    old, new = network(), network()
    old.threshold, new.threshold = torch.tensor(1.0), torch.tensor(2.0)
    assert place(old, new) == (".threshold", "values")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@pytest.mark.parametrize(
    ("old", "new", "texts"),
    [
        (torch.float16, torch.float32, ("torch.float16", "torch.float32")),
        (torch.strided, torch.sparse_coo, ("torch.strided", "torch.sparse_coo")),
        (torch.channels_last, torch.contiguous_format, ("torch.channels_last", "torch.contiguous_format")),
        (torch.device("cpu"), torch.device("meta"), ("device(type='cpu')", "device(type='meta')")),
        (torch.Size([2, 3]), torch.Size([2, 4]), ("3", "4")),
        (range(3), range(4), ("range(0, 3)", "range(0, 4)")),
        (slice(1, 2), slice(1, 3), ("2", "3")),
        (PurePosixPath("a"), PurePosixPath("b"), ("PurePosixPath('a')", "PurePosixPath('b')")),
        (
            datetime.date(2020, 1, 1),
            datetime.date(2020, 1, 2),
            ("datetime.date(2020, 1, 1)", "datetime.date(2020, 1, 2)"),
        ),
        (only, differences, ("only", "differences")),
        (torch.nn.ReLU, torch.nn.GELU, ("ReLU", "GELU")),
        (torch, np, ("torch", "numpy")),
        (functools.partial(int, base=2), functools.partial(int, base=3), ("2", "3")),
        (ValueError("no"), ValueError("yes"), ("'no'", "'yes'")),
    ],
)
def test_values_of_python_and_torch_differ_by_value(old, new, texts):
    found = only(old, new)
    assert (found.what, found.old, found.new) == ("values", *texts)


def test_values_of_python_and_torch_equal_their_likes():
    def output():
        return [
            torch.float16, torch.strided, torch.channels_last, torch.device("cuda:0"), torch.Size([2]), ...,
            range(3), slice(1, None), slice(torch.ones(2), None), PurePosixPath("a"), Colour.RED, torch.relu,
            datetime.datetime(2020, 1, 1), torch.nn.ReLU, [].append, torch, NotImplemented, {"a": 1}.values(),
            functools.partial(torch.add, torch.ones(2)), ValueError("no"), torch.Generator().manual_seed(3),
        ]  # fmt: skip

    assert differences(output(), output()) == []


def test_an_enum_differs_by_name_and_value():
    assert [found.path for found in differences(Colour.RED, Colour.BLUE)] == [".name", ".value"]


def test_functions_of_two_files_are_the_same_by_name():
    def defined():
        namespace = {}
        exec("def act(x): return x\nclass Act: pass", namespace)
        return namespace["act"], namespace["Act"], {namespace["act"]: 1}

    assert differences(defined(), defined()) == []


def test_what_a_function_captured_is_not_hidden_by_its_name():
    def scaled(weight):
        return lambda x: x * weight

    assert differences(scaled(torch.ones(2)), scaled(torch.ones(2))) == []
    assert place(scaled(torch.ones(2)), scaled(torch.zeros(2))) == (".weight", "values")
    assert place(Obj(torch.ones(2)).__init__, Obj(torch.zeros(2)).__init__) == (".__self__.x", "values")


def test_an_equality_that_always_says_yes_hides_no_tensor():
    assert differences(AlwaysEqual(torch.ones(2)), AlwaysEqual(torch.ones(2))) == []
    assert place(AlwaysEqual(torch.ones(2)), AlwaysEqual(torch.zeros(2))) == (".mask", "values")
    assert place(AlwaysEqual(np.ones(2)), AlwaysEqual(np.zeros(2))) == (".mask", "values")
    deep = [AlwaysEqual([{"a": Obj(torch.full((2,), value))}]) for value in (1.0, 2.0)]
    assert place(*deep) == (".mask[0]['a'].x", "values")
    assert place(AlwaysEqual(torch.ones(2), "a"), AlwaysEqual(torch.ones(2), "b")) == (".name", "values")


def test_an_equality_over_no_tensor_is_believed():
    assert differences(AlwaysEqual(1), AlwaysEqual(2)) == []
    assert differences(PurePosixPath("a"), PurePosixPath("a")) == []


def test_an_equality_that_cannot_know_the_other_file_gives_way_to_the_attributes():
    def defined(version):
        class Version:
            def __init__(self):
                self.version = version

            def __eq__(self, other):
                return isinstance(other, Version) and self.version == other.version

        return Version()

    assert differences(defined(1), defined(1)) == []
    assert place(defined(1), defined(2)) == (".version", "values")


def test_a_tensor_beside_the_contents_of_a_container_is_seen():
    class Boxes(list):
        pass

    def boxes(value):
        found = Boxes([1, 2])
        found.scores = torch.full((2,), value)
        return found

    assert differences(boxes(1.0), boxes(1.0)) == []
    assert place(boxes(1.0), boxes(2.0)) == (".scores", "values")
    assert only(boxes(1.0), Boxes([1, 2])).what == "keys"


def test_a_tensor_beside_the_fields_of_a_dataclass_is_seen():
    @dataclass
    class Result:
        mask: torch.Tensor

    def result(value):
        made = Result(torch.ones(2))
        made.scores = torch.full((2,), value)
        return made

    assert differences(result(1.0), result(1.0)) == []
    assert place(result(1.0), result(2.0)) == (".scores", "values")


def test_a_tensor_that_is_an_item_and_an_attribute_is_reported_once():
    class ModelOutput(dict):
        def __init__(self, **named):
            super().__init__(named)
            self.__dict__ = dict(named)

    ones, zeros = ModelOutput(logits=torch.ones(2)), ModelOutput(logits=torch.zeros(2))
    assert place(ones, zeros) == ("['logits']", "values")
    assert place(UserDict(logits=torch.ones(2)), UserDict(logits=torch.zeros(2))) == ("['logits']", "values")


def test_records_of_two_files_are_the_same_keys():
    def keyed(value):
        return {make_dataclass("Key", ["a", "b"], frozen=True)(1, frozenset({2.0})): value}

    assert differences(keyed(1), keyed(1)) == []
    assert only(keyed(1), keyed(2)).what == "values"


def test_an_optimizer_whose_state_is_kept_by_parameter_is_compared():
    def stepped(scale):
        w = torch.nn.Parameter(torch.ones(2))
        optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
        (w * scale).sum().backward()
        optimizer.step()
        return optimizer

    assert differences(stepped(1.0), stepped(1.0)) == []
    paths = [found.path for found in differences(stepped(1.0), stepped(2.0))]
    assert ".state.values()[0]['momentum_buffer']" in paths
    assert ".state.keys()[0]" in paths


def test_a_weak_reference_is_what_it_refers_to():
    held = [Obj(torch.ones(2)), Obj(torch.ones(2)), Obj(torch.zeros(2))]
    one, same, other = map(weakref.ref, held)
    assert differences(one, same) == []
    assert place(one, other) == ("().x", "values")


def test_the_same_object_is_equal_to_itself_whatever_it_is():
    lock, loop = threading.Lock(), (x for x in [1])
    assert differences([lock, loop, sys], [lock, loop, sys]) == []


def test_two_lazy_modules_without_values_are_equal():
    assert differences(torch.nn.LazyLinear(3), torch.nn.LazyLinear(3)) == []
