"""What a ``device`` argument means on a machine with one simulated GPU."""

from __future__ import annotations

from typing import Any

import torch

from syncscope.simcuda import forks

CUDA = torch.device("cuda", 0)
CPU = torch.device("cpu")

_Error: type[RuntimeError] = getattr(torch, "AcceleratorError", RuntimeError)


def means_cuda(device: Any) -> bool | None:
    """Whether ``device`` names the simulated GPU (True), the host (False), or neither (None: meta).

    Raises:
        RuntimeError: there is no such GPU, or it can't be reached in a forked process; as PyTorch words it.
    """
    wanted = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    if wanted.type == "cpu":
        return False
    if wanted.type != "cuda":
        return None
    if wanted.index not in (None, 0):
        raise _Error("CUDA error: invalid device ordinal (the simulated machine has one GPU, cuda:0)")
    forks.refuse_bad()
    return True


def names_cuda(value: Any) -> bool:
    """Whether ``value``, an argument of whatever kind, is a device: the simulated GPU."""
    named = isinstance(value, torch.device) or (isinstance(value, str) and value.startswith("cuda"))
    return named and means_cuda(value) is True
