"""Spellings that make a nested tensor: its parts are gathered where they are, and cross as one."""

from __future__ import annotations

from typing import Any

import torch

from syncscope.simcuda.face.crossing import Move
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.face.transfers import carried
from syncscope.simcuda.places import means_cuda
from syncscope.simcuda.reasons import reason

_NAMES = ("list", "dtype", "layout", "device", "pin_memory")

reason(
    "torch.nested.nested_tensor",
    "torch.nested.as_nested_tensor",
    why="the parts are gathered in one piece of memory where they are, which then goes to the device",
    source="torch/csrc/utils/nested.cpp, nested_tensor_ctor; "
    "aten/src/ATen/native/nested/NestedTensorFactories.cpp, _nested_tensor_from_tensor_list",
    figures="1 HtoD, 1 wait for parts of the host and a device; 1 DtoH, 1 wait for the reverse; nothing "
    "where they are already",
    instead="parts that are on the device",
)


_OPERATOR = torch.ops.aten._nested_tensor_from_tensor_list


@spelling(torch._nested_tensor_from_tensor_list, _OPERATOR, _OPERATOR.default)
def of_tensors(spoken: Spoken) -> Any:
    """``torch.nested.as_nested_tensor(tensors, device=...)``."""
    words = dict(zip(_NAMES, spoken.args, strict=False)) | spoken.kwargs
    device = words.pop("device", None)
    return at(spoken.run(**words), device)


def at(gathered: torch.Tensor, device: Any) -> Any:
    """A nested tensor on ``device``, if one is named."""
    return gathered if device is None else carried(gathered, Move(means_cuda(device)))
