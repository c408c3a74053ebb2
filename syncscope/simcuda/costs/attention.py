"""Fused attention, for which the CPU has no kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.table import Call, cost

_SPECIAL = (
    "window_size_left", "window_size_right", "seqused_k", "alibi_slopes", "block_table", "bias",
    "window_size", "seqlen_k", "attn_bias",
)  # fmt: skip
_GIVEN = "lengths and sizes are given, so one kernel does it"

Sequence = tuple[Tensor, ...]


@dataclass(frozen=True)
class _Weighing:
    """How scores become weights; ``causal`` aligns the first positions (1), the last (2), or is off (0)."""

    scale: float | None
    causal: int
    dropout: float
    seed: int

    def weights(self, query: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
        """The weights (heads, queries, keys), and the logarithms of the sums (heads, queries)."""
        scores = torch.einsum("qhd,khd->hqk", query, key) * self.scale_of(query)
        if self.causal:
            offset = key.shape[0] - query.shape[0] if self.causal == _LAST else 0
            seen = torch.ones(scores.shape[1:], dtype=torch.bool).tril(offset)
            scores = scores.masked_fill(~seen, float("-inf"))
        return scores.softmax(-1), scores.logsumexp(-1)

    def scale_of(self, query: Tensor) -> float:
        """What scores are multiplied with."""
        return float(query.shape[-1]) ** -0.5 if self.scale is None else self.scale

    def kept(self, weights: Tensor) -> Tensor:
        """By what each weight is multiplied when some are dropped: the same with the same seed."""
        numbers = torch.rand(weights.shape, generator=torch.Generator().manual_seed(self.seed))
        return (numbers >= self.dropout) / (1 - self.dropout) if self.dropout < 1 else weights * 0


_FIRST, _LAST = 1, 2


def _attended(of: _Weighing, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """The output (length, heads, width) and the logarithms of the sums, of one sequence."""
    wide, dtype = [_wide(one, query.shape[1]) for one in (query, key, value)], query.dtype
    weights, sums = of.weights(wide[0], wide[1])
    return torch.einsum("hqk,khd->qhd", weights * of.kept(weights), wide[2]).to(dtype), sums


def _gradients(of: _Weighing, grad: Tensor, query: Tensor, key: Tensor, value: Tensor) -> Sequence:
    """What :func:`_attended` hands back to query, key and value of one sequence."""
    heads, scale = query.shape[1], of.scale_of(query)
    wide_grad, wide_query, wide_key, wide_value = (_wide(one, heads) for one in (grad, query, key, value))
    weights, _ = of.weights(wide_query, wide_key)
    kept = of.kept(weights)
    of_value = torch.einsum("hqk,qhd->khd", weights * kept, wide_grad)
    of_weights = torch.einsum("qhd,khd->hqk", wide_grad, wide_value) * kept
    of_scores = weights * (of_weights - (of_weights * weights).sum(-1, keepdim=True)) * scale
    of_query = torch.einsum("hqk,khd->qhd", of_scores, wide_key)
    of_key = torch.einsum("hqk,qhd->khd", of_scores, wide_query)
    return of_query.to(query.dtype), _narrow(of_key, key), _narrow(of_value, value)


def _wide(one: Tensor, heads: int) -> Tensor:
    return one.repeat_interleave(heads // one.shape[1], 1).float()


def _narrow(gradient: Tensor, like: Tensor) -> Tensor:
    """The sum over the heads that shared one."""
    summed: Tensor = gradient.unflatten(1, (like.shape[1], -1)).sum(2)
    return summed.to(like.dtype)


def _weighing(call: Call, causal: int, seed: Any) -> _Weighing:
    return _Weighing(call["scale"], causal, call["dropout_p"], int(seed))


def _new_seed() -> Tensor:
    return torch.randint(2**31, (2,)).to(torch.uint64)


def _asks_more(call: Call) -> bool:
    """Whether more than plain attention is asked for: that has no values here."""
    return any(call[name] is not None for name in _SPECIAL if name in call.operator.arguments)


def _sequences(call: Call, lengths: str, *names: str) -> Iterator[Sequence]:
    """Each sequence's parts of some arguments: those between cumulated lengths, or those of a batch.

    The first two, with ``grad_out`` before them, are as long as queries, the others as keys.
    """
    bounds = [call[f"{lengths}_{which}"] for which in "qk"]
    given = [call[name] for name in names]
    if bounds[0] is None or not bounds[0].numel():
        yield from zip(*given, strict=True)
        return
    of_query, of_key = (one.tolist() for one in bounds)
    parts = [
        _between(one, of_key if name in ("key", "value") else of_query)
        for name, one in zip(names, given, strict=True)
    ]
    yield from zip(*parts, strict=True)


def _between(one: Tensor, bounds: list[int]) -> list[Tensor]:
    rows = one.reshape(-1, *one.shape[-2:])
    return [rows[start:end] for start, end in zip(bounds, bounds[1:], strict=False)]


def _joined(call: Call, lengths: str, parts: list[Tensor], like: Tensor) -> Tensor:
    """One tensor of all sequences; where ``like`` has rows after the last of them, they are zeros."""
    varlen = call[f"{lengths}_q"]
    if varlen is None or not varlen.numel():
        return torch.stack(parts)
    rows = torch.cat(parts)
    behind = rows.new_zeros(like.shape[-3] - len(rows), *rows.shape[1:])
    return torch.cat((rows, behind)).reshape(*like.shape[:-1], -1)


def _flash_forward(call: Call, flash: Callable[..., Any]) -> Any:
    """Attention by its definition."""
    if _asks_more(call):
        return flash(*call.args, **call.kwargs)
    seed, query = _new_seed(), call["query"]
    of = _weighing(call, _LAST * call["is_causal"], seed[0])
    made = [_attended(of, *parts) for parts in _sequences(call, "cum_seq", "query", "key", "value")]
    outputs, sums = map(list, zip(*made, strict=True))
    joined = torch.stack(sums) if call["cum_seq_q"] is None else torch.cat(sums, 1)
    output = _joined(call, "cum_seq", outputs, query)
    return output, joined, seed, torch.zeros((), dtype=torch.uint64), torch.empty(0, dtype=query.dtype)


def _flash_backward(call: Call, flash: Callable[..., Any]) -> Any:
    if _asks_more(call):
        return flash(*call.args, **call.kwargs)
    of = _weighing(call, _LAST * call["is_causal"], call["rng_state"][0])
    return tuple(_all_gradients(call, of, "cum_seq", "grad_out"))


def _efficient_forward(call: Call, efficient: Callable[..., Any]) -> Any:
    if _asks_more(call):
        return efficient(*call.args, **call.kwargs)
    seed, query, key = _new_seed(), call["query"], call["key"]
    of = _weighing(call, call["custom_mask_type"], seed[0])
    made = [_attended(of, *parts) for parts in _sequences(call, "cu_seqlens", "query", "key", "value")]
    outputs, sums = map(list, zip(*made, strict=True))
    longest = max(one.shape[1] for one in sums)
    padded = [torch.nn.functional.pad(one, (0, longest - one.shape[1])) for one in sums]
    output = _joined(call, "cu_seqlens", outputs, query)
    lengths = (call["max_seqlen_q"] or query.shape[1], call["max_seqlen_k"] or key.shape[1])
    return (output, torch.stack(padded), *seed.to(torch.int64), *lengths)


def _efficient_backward(call: Call, efficient: Callable[..., Any]) -> Any:
    if _asks_more(call):
        return efficient(*call.args, **call.kwargs)
    of = _weighing(call, call["custom_mask_type"], call["philox_seed"])
    return (*_all_gradients(call, of, "cu_seqlens", "grad_out_"), torch.empty(0))


def _all_gradients(call: Call, of: _Weighing, lengths: str, grad: str) -> Iterator[Tensor]:
    names = ("query", "key", "value")
    made = [_gradients(of, *parts) for parts in _sequences(call, lengths, grad, *names)]
    for name, parts in zip(names, zip(*made, strict=True), strict=True):
        yield _joined(call, lengths, list(parts), call[name])


@cost(
    "_flash_attention_forward",
    why=_GIVEN,
    source="aten/src/ATen/native/transformers/cuda/attention.cu, _flash_attention_forward",
    figures="nothing",
    stand_in=_flash_forward,
)
def flash_attention(call: Call) -> None:
    """Nothing."""


@cost(
    "_flash_attention_backward",
    why=_GIVEN,
    source="aten/src/ATen/native/transformers/cuda/attention_backward.cu, _flash_attention_backward",
    figures="nothing",
    stand_in=_flash_backward,
)
def flash_attention_backward(call: Call) -> None:
    """Nothing."""


@cost(
    "_efficient_attention_forward",
    why=_GIVEN,
    source="aten/src/ATen/native/transformers/cuda/attention.cu, _efficient_attention_forward",
    figures="nothing",
    stand_in=_efficient_forward,
)
def efficient_attention(call: Call) -> None:
    """Nothing."""


@cost(
    "_efficient_attention_backward",
    why=_GIVEN,
    source="aten/src/ATen/native/transformers/cuda/attention_backward.cu, _efficient_attention_backward",
    figures="nothing",
    stand_in=_efficient_backward,
)
def efficient_attention_backward(call: Call) -> None:
    """Nothing."""


def _nested_forward(call: Call, efficient: Callable[..., Any]) -> Any:
    """Attention of strided nested tensors."""
    if not call["query"].is_nested or _asks_more(call):
        return efficient(*call.args, **call.kwargs)
    seed = _new_seed().to(torch.int64)
    of = _weighing(call, _FIRST * call["is_causal"], seed[0])
    made = [_attended(of, *parts)[0] for parts in _parts(call, "query", "key", "value")]
    return _nested(made), torch.empty(0), *seed


def _nested_backward(call: Call, efficient: Callable[..., Any]) -> Any:
    if not call["query"].is_nested or _asks_more(call):
        return efficient(*call.args, **call.kwargs)
    of = _weighing(call, _FIRST * call["is_causal"], call["philox_seed"])
    made = [_gradients(of, *parts) for parts in _parts(call, "grad_out_", "query", "key", "value")]
    return (*(_nested(list(parts)) for parts in zip(*made, strict=True)), torch.empty(0))


def _parts(call: Call, *names: str) -> Iterator[Sequence]:
    """The parts (length, heads, width) of nested tensors (batch, heads, length, width)."""
    for parts in zip(*(call[name].unbind() for name in names), strict=True):
        yield tuple(one.transpose(0, 1) for one in parts)


def _nested(parts: list[Tensor]) -> Tensor:
    return torch._nested_tensor_from_tensor_list([one.transpose(0, 1) for one in parts])


@cost(
    "_scaled_dot_product_efficient_attention",
    why="the lengths of the parts, which live on the host, go up for the kernel",
    source="aten/src/ATen/native/nested/cuda/NestedTensorTransformerUtils.cpp, "
    "cumulative_and_max_seq_len_nnz",
    figures="2 HtoD, 2 waits for strided nested tensors; nothing for others",
    instead="jagged nested tensors: their offsets are on the device",
    stand_in=_nested_forward,
)
def nested_attention(call: Call) -> list[Charge]:
    """The lengths of the queries, and of the keys."""
    return [Charge("upload", htod=1, waits=1, dtype="int32")] * (2 if call["query"].is_nested else 0)


@cost(
    "_scaled_dot_product_efficient_attention_backward",
    why="the lengths are on the device since the forward",
    source="aten/src/ATen/native/nested/cuda/NestedTensorTransformerFunctionsBackward.cpp",
    figures="nothing",
    stand_in=_nested_backward,
)
def nested_attention_backward(call: Call) -> None:
    """Nothing."""
