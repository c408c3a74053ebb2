"""Losses, normalisation and embeddings."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from syncscope.simcuda.costs.layouts import charged
from syncscope.simcuda.costs.sorting import copies_of_a_sort
from syncscope.simcuda.costs.table import Call, Charge, cost, device_copy, fetch, upload

_LENGTHS = "lengths that live on the device are fetched; offsets and lengths go up"


@cost(
    "binary_cross_entropy",
    why="the reduced loss is copied into the result",
    source="aten/src/ATen/native/cuda/Loss.cu, binary_cross_entropy_out_cuda",
    instead='reduction="none", or binary_cross_entropy_with_logits',
)
def binary_cross_entropy(call: Call) -> Charge | None:
    """One memcpy, unless nothing is reduced."""
    loss = call["self"]
    if call["reduction"] == 0 or not loss.numel():
        return None
    return Charge("copy", dtod=1, dtype=str(loss.dtype).removeprefix("torch."))


@cost(
    "im2col",
    why="the patches of each image are copied into the result",
    source="aten/src/ATen/native/cuda/Im2Col.cu, im2col_out_cuda_template",
)
def im2col(call: Call) -> None:
    """See ``after``: the result says whether there is more than one patch."""


@cost(
    "native_batch_norm",
    "_native_batch_norm_legit",
    why="in evaluation the running mean is copied beside the result",
    source="aten/src/ATen/native/cuda/Normalization.cu, batch_norm_cuda_out",
)
def batch_norm(call: Call) -> Charge | None:
    """One memcpy in evaluation."""
    if call["training"] or "running_mean" not in call.operator.arguments:
        return None
    mean = call["running_mean"]
    return device_copy(mean) if isinstance(mean, Tensor) else None


@cost(
    "embedding_renorm_",
    why="the indices are sorted to find the distinct rows",
    source="aten/src/ATen/native/cuda/Embedding.cu, embedding_renorm_cuda_",
    instead="no max_norm",
)
def embedding_renorm(call: Call) -> Charge | None:
    """The copies of a sort of all indices."""
    indices = call["indices"].reshape(-1)
    return device_copy(indices, copies_of_a_sort(indices, 0))


@cost(
    "_ctc_loss",
    "_ctc_loss_backward",
    why=_LENGTHS,
    source="aten/src/ATen/native/cuda/LossCTC.cu, ctc_loss_gpu_template; LossCTC.cpp, _ctc_loss_tensor",
    instead="lengths on the host",
    mixes=True,
)
def ctc_loss(call: Call) -> list[Charge]:
    """Three uploads, and a fetch for each tensor of lengths on the device."""
    lengths = [call["input_lengths"], call["target_lengths"]]
    given = [one for one in lengths if isinstance(one, Tensor) and call.on_device(_name_of(one, call))]
    log_probs = call["log_probs"]
    table = upload(log_probs)
    up = [Charge("upload", htod=3, waits=3, dtype="int64", note="offsets and lengths")] if table else []
    return charged(*(fetch(one) for one in given), *up)


def _name_of(one: Tensor, call: Call) -> str:
    return "input_lengths" if one is call["input_lengths"] else "target_lengths"


def host_lengths(lengths: Sequence[int] | Tensor) -> bool:
    """Whether lengths are known to the host."""
    return not isinstance(lengths, Tensor)
