"""Composites of torch that do other things on CUDA than on the CPU."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from syncscope.simcuda.face import Spoken
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.spellings import spelling


@spelling(F.one_hot)
def one_hot(spoken: Spoken) -> Any:
    """``F.one_hot(x, n)``: on CUDA the values are not checked, and read only to find ``n`` (Onehot.cpp)."""
    words = dict(zip(("tensor", "num_classes"), spoken.args, strict=False)) | spoken.kwargs
    indices, classes = words.get("tensor", words.get("self")), words.get("num_classes", -1)
    if not isinstance(indices, Tensor) or not PLACEMENT.is_on(indices) or not indices.numel():
        return spoken.run(*spoken.args, **spoken.kwargs)
    if classes == -1:
        classes = int(indices.max()) + 1
    made = torch.zeros((*indices.shape, classes), dtype=indices.dtype, device=indices.device)
    return made.scatter_(-1, indices.unsqueeze(-1), 1)
