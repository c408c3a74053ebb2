"""Spellings that CUDA refuses and the CPU takes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.face.casting import uncast
from syncscope.simcuda.face.construction import read_elements
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.placement import PLACEMENT


@spelling(torch._C._nn.binary_cross_entropy)
def binary_cross_entropy(spoken: Spoken) -> Any:
    """``F.binary_cross_entropy`` and ``nn.BCELoss``: not under autocast.

    Raises:
        RuntimeError: it is; as PyTorch words it (ATen/autocast_mode.cpp).
    """
    if torch.is_autocast_enabled("cuda") and spoken.inputs_on_device:
        raise RuntimeError(
            "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: "
            "use binary_cross_entropy_with_logits"
        )
    return spoken.plainly()


@spelling(Tensor.apply_, Tensor.map_, Tensor.map2_)
def only_on_cpu(spoken: Spoken) -> Any:
    """``t.apply_(f)``: a Python function for each element, which no GPU runs.

    Raises:
        TypeError: a tensor is on the device; as PyTorch words it (python_variable_methods.cpp).
    """
    if spoken.inputs_on_device:
        raise TypeError(f"{spoken.func.__name__} is only implemented on CPU tensors")
    return spoken.run(*spoken.args, **spoken.kwargs)


@spelling(torch.quantile, torch.nanquantile, Tensor.quantile, Tensor.nanquantile)
def quantile(spoken: Spoken) -> Any:
    """``torch.quantile(t, q)``: ``q`` in a tensor lives where ``t`` does; a dimension in one is read.

    Raises:
        RuntimeError: it doesn't; as PyTorch words it (Sorting.cpp, quantile_checks).
    """
    words = dict(zip(("input", "q", "dim"), spoken.args, strict=False)) | spoken.kwargs
    if isinstance(words.get("dim"), Tensor):
        read_elements(spoken.device, [words["dim"]])
    given = [one for name, one in words.items() if isinstance(one, Tensor) and name != "dim"]
    if len({PLACEMENT.is_on(one) for one in given}) > 1:
        raise RuntimeError("quantile() q tensor must be on the same device as the input tensor")
    return uncast(spoken)
