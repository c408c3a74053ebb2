"""Data parallelism with one GPU: ``torch.nn.DataParallel``, and the buckets of DistributedDataParallel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor, distributed

from syncscope.simcuda import watch, watched
from syncscope.simcuda.frames import Frame
from syncscope.simcuda.placement import PLACEMENT


def show() -> watched.Undo:
    """Let a CPU build scatter, which it can't itself, and gradients be gathered where they are."""
    undo = [] if hasattr(torch._C, "_scatter") else [watched.attribute(torch._C, "_scatter", scatter)]
    if distributed.is_available():
        from torch._C._distributed_c10d import Reducer

        undo.append(watched.method(Reducer, "__init__", make_reducer))
        undo.append(watched.method(Reducer, "_rebuild_buckets", rebuild_buckets))
    return lambda: [back() for back in undo]


def scatter(tensor: Tensor, devices: Any, chunk_sizes: Any, dim: int, streams: Any) -> tuple[Tensor]:
    """One piece for the one GPU (csrc/cuda/comm.cpp, scatter)."""
    return (tensor.to("cuda", non_blocking=True),)


def make_reducer(
    own: Callable[..., None], reducer: Any, params: list[Tensor], *rest: Any, **options: Any
) -> None:
    """``Reducer(params, ...)``, which makes its buckets in C++: they are where the parameters are."""
    if any(map(PLACEMENT.is_on, params)):
        _on_device.add(reducer)
    with _gathering(reducer):
        own(reducer, params, *rest, **options)


def rebuild_buckets(own: Callable[..., bool], reducer: Any) -> bool:
    """``reducer._rebuild_buckets()``: in the order in which gradients have come, after the first backward."""
    with _gathering(reducer):
        return own(reducer)


_on_device: WeakSet[Any] = WeakSet()
"""The reducers of parameters that live on the device."""


@contextmanager
def _gathering(reducer: Any) -> Iterator[None]:
    """Make buckets where the parameters are; the map of those in use, all zeros, is the host's.

    Source: torch/csrc/distributed/c10d/reducer.cpp, initialize_buckets, initialize_local_used_map.
    """
    device = watch.active()
    if device is None or reducer not in _on_device:
        yield
        return
    device.frames.append(Frame(None, (), {}, target=True, zeros_on_host=[True]))
    try:
        yield
    finally:
        device.frames.pop()
