"""Searching: membership tests, places in what is sorted."""

from __future__ import annotations

import torch
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.layouts import charged
from syncscope.simcuda.costs.sorting import copies_of_a_sort
from syncscope.simcuda.costs.table import Call, cost, device_copy, read, size_read, upload
from syncscope.simcuda.hearing import unheard

_DISTINCT = "a large test set: how many elements are distinct decides a size, and the host has to know it"
_SORT = "a large test set is sorted together with the elements"
_FOUND = "the answer is copied into the result"


@cost(
    "searchsorted",
    why="the host learns the smallest and the largest element of the sorter, to check them",
    source="aten/src/ATen/native/BucketizationUtils.h, searchsorted_pre_check",
    figures="2 DtoH, 2 waits with a sorter; nothing without one",
    instead="gather the sorted values once, and give no sorter",
    fails_late=True,
)
def searchsorted(call: Call) -> list[Charge]:
    """Two elements of a sorter."""
    sorter = call["sorter"]
    checked = sorter is not None and sorter.numel() and sorter.dtype is torch.int64
    return [read(sorter)] * 2 if checked else []


@cost(
    "isin.Tensor_Tensor",
    why="a large test set is sorted with the elements, after the host learnt how many of each are distinct",
    source="aten/src/ATen/native/TensorCompare.cpp, isin_Tensor_Tensor_out, isin_sorting",
    figures="2 DtoH, 1 HtoD, 3 or more DtoD, 3 waits for a large test set; 1 HtoD, 3 or more DtoD, 1 "
    "wait for a large one with assume_unique=True; 1 DtoD for one of fewer than 10 * n ** "
    "0.145 elements, 2 DtoD for one element in one",
    instead="a test set of fewer than 10 * n ** 0.145 elements, or a presence table of known size",
)
def isin(call: Call) -> list[Charge]:
    """One copy for a small test set; for a large one two sizes, a sort, and a flag from the host."""
    elements, tests = call["elements"], call["test_elements"]
    if not elements.numel():
        return []
    if tests.numel() < 10.0 * elements.numel() ** 0.145:
        return charged(_mask(elements, 2 if elements.numel() == tests.numel() == 1 else 1))
    sizes = [] if call["assume_unique"] else [size_read(one, why=_DISTINCT) for one in (elements, tests)]
    return [*sizes, *_sorting(elements, tests, bool(call["assume_unique"]))]


def _mask(elements: Tensor, times: int = 1) -> Charge | None:
    return Charge("copy", dtod=times, shape=tuple(elements.shape), dtype="bool", why=_FOUND)


def _sorting(elements: Tensor, tests: Tensor, unique: bool) -> list[Charge]:
    joined = _joined(elements, tests, unique)
    mixed = device_copy(tests, why=_SORT) if elements.dtype != tests.dtype else None
    sort = device_copy(joined, copies_of_a_sort(joined, 0), _SORT)
    flag = upload(elements.new_empty(()), why="a flag of the host, which ends the comparison, is uploaded")
    return charged(mixed, sort, _mask(elements, 2), flag)


def _joined(elements: Tensor, tests: Tensor, unique: bool) -> Tensor:
    with unheard():
        parts = [elements.detach().reshape(-1), tests.detach().reshape(-1)]
        return torch.cat(parts if unique else [one.unique() for one in parts])
