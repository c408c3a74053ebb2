"""Tensors grouped by device and dtype, as optimizers and gradient clipping do in C++."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import watched
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.places import CUDA

# (device, dtype) -> the lists of tensors, and their positions where they were asked for.
Groups = dict[tuple[torch.device, torch.dtype], tuple[list[list[Any]], list[int]]]


def show() -> watched.Undo:
    """Let the groups know where tensors live, for watched threads."""
    return watched.method(torch._C, "_group_tensors_by_device_and_dtype", group)


def group(own: Callable[..., Groups], lists: list[list[Tensor | None]], with_indices: bool = False) -> Groups:
    """``torch.utils._foreach_utils._group_tensors_by_device_and_dtype``: the first list says where."""
    groups: Groups = {}
    for (device, dtype), (columns, positions) in own(lists, with_indices).items():
        for row, first in enumerate(columns[0]):
            place = CUDA if PLACEMENT.is_on(first) else device
            into, at = groups.setdefault((place, dtype), ([[] for _ in columns], []))
            for target, column in zip(into, columns, strict=True):
                target.extend(column[row : row + 1])
            at.extend(positions[row : row + 1])
    return groups
