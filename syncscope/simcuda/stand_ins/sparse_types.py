"""``torch.cuda.sparse.FloatTensor`` and its kind: the old constructors of sparse tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.placement import PLACEMENT


class _SparseType(type):
    """What such a name is: it makes tensors, and tells theirs."""

    dtype: torch.dtype

    def __call__(cls, *args: Any) -> Tensor:
        """A tensor of a size without elements, or of indices and values (legacy_sparse_tensor_ctor)."""
        if args and isinstance(args[0], Tensor):
            return torch.sparse_coo_tensor(*args)
        size = args[0] if args and not isinstance(args[0], int) else args or (0,)
        return torch.empty(size, dtype=cls.dtype, layout=torch.sparse_coo, device="cuda")

    def __instancecheck__(cls, instance: Any) -> bool:
        """Whether ``instance`` is sparse, of this dtype, and on the device."""
        return (
            isinstance(instance, Tensor)
            and instance.layout is torch.sparse_coo
            and instance.dtype == cls.dtype
            and PLACEMENT.is_on(instance)
        )


ANSWERS: dict[str, Any] = {
    name: _SparseType(name, (), {"dtype": kind.dtype, "__module__": "torch.cuda.sparse"})
    for name, kind in vars(torch.cuda.sparse).items()
    if name.endswith("Tensor")
}
"""What ``torch.cuda.sparse`` has."""
