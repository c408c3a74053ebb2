"""Memory that an operator lets grow, in place or for a result (``out=``): what it held is copied."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.frames import tensors
from syncscope.simcuda.operators import Operator
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.reasons import reason

GROWN = reason(
    "Tensor.resize_",
    "Tensor.resize_as_",
    "UntypedStorage.resize_",
    "out=",
    why="memory that grows is allocated anew, and what it held is copied on the device",
    source="aten/src/ATen/native/cuda/Resize.cpp, resize_bytes_cuda",
    figures="1 DtoD where memory that isn't empty grows, that of an out= argument as well; 1 DtoD for each "
    "new size of a storage; nothing for a smaller tensor",
    instead="allocate the largest size at first; an out= argument of the right size, or an empty one",
)


class Growth:
    """The device memory that an operator may let grow, as it was before the call."""

    def __init__(self, op: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Look at what ``op`` is to write to."""
        names = [op.arguments[place] for place in op.written]
        words = dict(zip(op.arguments, args, strict=False)) | kwargs
        written = tensors(tuple(words.get(name) for name in names), {})
        self._before = [(one, one.untyped_storage().nbytes()) for one in written if _has_memory(one)]

    def charges(self) -> tuple[Charge, ...]:
        """A memcpy for each block that has grown since."""
        return tuple(
            Charge("copy", dtod=1, shape=(size,), dtype="uint8", why=GROWN.why)
            for one, size in self._before
            if one.untyped_storage().nbytes() > size
        )


def _has_memory(one: Tensor) -> bool:
    plain = type(one) is Tensor and one.layout is torch.strided
    return plain and PLACEMENT.is_on(one) and one.untyped_storage().nbytes() > 0
