"""Fused attention, for which the CPU has no kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from syncscope.simcuda.costs.table import Call, cost

_SPECIAL = ("window_size_left", "window_size_right", "seqused_k", "alibi_slopes", "block_table")


def _attended(call: Call, flash: Callable[..., Any]) -> Any:
    """Attention by its definition; what is asked for beyond that has no values here.

    Raises:
        NotImplementedError: a window, slopes or a table of blocks is given.
    """
    names = [name for name in _SPECIAL if name in call.operator.arguments]
    if any(call[name] is not None for name in names):
        return flash(*call.args, **call.kwargs)
    query = call["query"]
    outputs, sums = zip(*(_one_sequence(call, *parts) for parts in _sequences(call)), strict=True)
    varlen = call["cum_seq_q"] is not None
    seed = torch.zeros(2, dtype=torch.uint64)
    debug = torch.empty(0, dtype=query.dtype)
    joined = (torch.cat(outputs), torch.cat(sums, 1)) if varlen else (torch.stack(outputs), torch.stack(sums))
    return (*joined, seed, torch.zeros((), dtype=torch.uint64), debug)


def _sequences(call: Call) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Query, key and value of each sequence: those between cumulated lengths, or those of a batch."""
    query, key, value = call["query"], call["key"], call["value"]
    if call["cum_seq_q"] is None:
        yield from zip(query, key, value, strict=True)
        return
    of_query, of_key = call["cum_seq_q"].diff().tolist(), call["cum_seq_k"].diff().tolist()
    yield from zip(query.split(of_query), key.split(of_key), value.split(of_key), strict=True)


def _one_sequence(call: Call, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """The output (length, heads, width) and the logarithms of the sums (heads, length)."""
    groups = query.shape[1] // key.shape[1]
    wide_key, wide_value = (one.repeat_interleave(groups, 1).float() for one in (key, value))
    scale = query.shape[-1] ** -0.5 if call["scale"] is None else call["scale"]
    scores = torch.einsum("qhd,khd->hqk", query.float(), wide_key) * scale
    if call["is_causal"]:
        later = torch.ones(scores.shape[1:], dtype=torch.bool).tril(key.shape[0] - query.shape[0])
        scores = scores.masked_fill(~later, float("-inf"))
    weights = F.dropout(scores.softmax(-1), call["dropout_p"])
    output = torch.einsum("hqk,khd->qhd", weights, wide_value)
    return output.to(query.dtype), scores.logsumexp(-1)


@cost(
    "_flash_attention_forward",
    why="lengths and sizes are given, so one kernel does it",
    source="aten/src/ATen/native/transformers/cuda/attention.cu, _flash_attention_forward",
    figures="nothing",
    stand_in=_attended,
)
def flash_attention(call: Call) -> None:
    """Nothing."""
