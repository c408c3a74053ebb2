"""A pruning mask against the number of tokens that was promised for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from syncscope.comparison.results import Difference
from syncscope.subjects.workloads import CONTRACT, has_pruning_contract

if TYPE_CHECKING:
    from syncscope.comparison.calls import Ended, Runner


def retained_differences(runner: Runner, ended: Ended) -> list[Difference]:
    """Where a subject's file has ``compute_retained_tokens_count``: the mask has to have so many True values.

    The count is promised before any mask exists (the prompt's placeholders are sized from it).
    """
    import torch

    mask = ended.output
    promise = runner.subject.compute_retained_tokens_count
    if promise is None or not has_pruning_contract(runner.subject.function):
        return []
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        return []
    _, size, merge, q = (ended.arguments[name] for name in CONTRACT)
    frames, height, width = (int(extent) for extent in size)
    promised = promise((height // merge) * (width // merge), frames, q)
    kept = int(mask.sum())
    if kept == promised:
        return []
    what = f"{promised} True values by compute_retained_tokens_count"
    return [
        Difference(f"{runner.side}'s mask", "count", old=what, new=f"{kept} True values", numel=mask.numel())
    ]
