"""A pruning mask against the number of tokens that was promised for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from syncscope.comparison.results import Difference
from syncscope.subjects.workloads import has_pruning_contract

if TYPE_CHECKING:
    from syncscope.comparison.calls import Runner


def retained_differences(runner: Runner, seed: int, mask: Any) -> list[Difference]:
    """Where a subject's file has ``compute_retained_tokens_count``: the mask has to have so many True values.

    The count is promised before any mask exists (the prompt's placeholders are sized from it).
    """
    import torch

    promise = runner.subject.compute_retained_tokens_count
    if promise is None or not has_pruning_contract(runner.subject.function):
        return []
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        return []
    (_, (frames, height, width), merge, q), _ = runner.workload.inputs(runner.case, seed, "cpu")
    promised = promise((int(height) // merge) * (int(width) // merge), int(frames), q)
    kept = int(mask.sum())
    if kept == promised:
        return []
    what = f"{promised} True values by compute_retained_tokens_count"
    return [
        Difference(f"{runner.side}'s mask", "count", old=what, new=f"{kept} True values", numel=mask.numel())
    ]
