"""Functions that the CPU's autocast casts and CUDA's leaves as they are (ATen/autocast_mode.h)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken

_CPU = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
_LINEAR_ALGEBRA = (
    "cholesky", "cholesky_ex", "cond", "eig", "eigh", "eigvals", "eigvalsh", "householder_product", "inv",
    "inv_ex", "lstsq", "matrix_rank", "pinv", "qr", "solve", "svd", "svdvals", "tensorinv", "tensorsolve",
)  # fmt: skip


@spelling(
    *(torch.cat, torch.concat, torch.concatenate, torch.stack, torch.inverse, Tensor.inverse),
    *(torch.pinverse, Tensor.pinverse, torch.cholesky_inverse, Tensor.cholesky_inverse),
    torch._C._nn.pad,
    *(getattr(torch.linalg, name) for name in _LINEAR_ALGEBRA),
)
def uncast(spoken: Spoken) -> Any:
    """The call with its tensors in the dtypes that they have."""
    if not torch.is_autocast_enabled("cuda") or not spoken.inputs_on_device:
        return spoken.plainly()
    with torch._C._ExcludeDispatchKeyGuard(_CPU):
        return spoken.plainly()
