"""Losses, normalisation, embeddings and transforms."""

from __future__ import annotations

from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.sorting import copies_of_a_sort
from syncscope.simcuda.costs.table import Call, cost, device_copy, dtype_name


@cost(
    "binary_cross_entropy",
    why="the reduced loss is copied into the result",
    source="aten/src/ATen/native/cuda/Loss.cu, binary_cross_entropy_out_cuda",
    figures="1 DtoD where the loss is reduced; nothing otherwise",
    instead='reduction="none", or binary_cross_entropy_with_logits',
)
def binary_cross_entropy(call: Call) -> Charge | None:
    """One memcpy, unless nothing is reduced."""
    loss = call["self"]
    if call["reduction"] == 0 or not loss.numel():
        return None
    return Charge("copy", dtod=1, dtype=dtype_name(loss))


@cost(
    "im2col",
    why="the result starts with the size of the input, and what is in it is copied when it grows",
    source="aten/src/ATen/native/cuda/Im2Col.cu, im2col_out_cuda_template; cuda/Resize.cpp",
    figures="1 DtoD where the patches have more elements than the input; nothing otherwise",
    after=True,
)
def im2col(call: Call) -> Charge | None:
    """One memcpy where the patches outgrow the input."""
    patches = call.result
    return device_copy(patches) if patches.numel() > call["self"].numel() else None


@cost(
    "native_batch_norm",
    "_native_batch_norm_legit",
    why="in evaluation the running mean is copied beside the result",
    source="aten/src/ATen/native/cuda/Normalization.cu, batch_norm_cuda_out",
    figures="1 DtoD in evaluation; nothing in training",
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
    figures="3 DtoD for at most 4096 indices; 1 DtoD for more",
    instead="no max_norm",
)
def embedding_renorm(call: Call) -> Charge | None:
    """The copies of a sort of all indices."""
    indices = call["indices"].reshape(-1)
    return device_copy(indices, copies_of_a_sort(indices, 0))


@cost(
    "_ctc_loss",
    "_ctc_loss_backward",
    why="lengths and offsets go up for the kernel",
    source="aten/src/ATen/native/cuda/LossCTC.cu, ctc_loss_gpu_template, ctc_loss_backward_gpu_template",
    figures="3 HtoD, 3 waits; nothing where empty",
    instead="one call for the whole batch; targets and lengths that the host has anyway",
)
def ctc_loss(call: Call) -> list[Charge]:
    """Three uploads."""
    sizes = Charge("upload", htod=1, waits=1, dtype="int64", why="lengths and offsets go up for the kernel")
    return [sizes] * 3 if call["log_probs"].numel() else []


@cost(
    "_fft_c2r",
    why="a transform along one dimension overwrites its input, which is copied first",
    source="aten/src/ATen/native/cuda/SpectralOps.cpp, _fft_c2r_cufft",
    figures="1 DtoD along one dimension of a contiguous tensor; nothing otherwise",
)
def fft_to_real(call: Call) -> Charge | None:
    """One memcpy along one dimension."""
    spectrum = call["self"]
    copied = len(call["dim"]) == 1 and spectrum.is_contiguous() and not spectrum.is_conj()
    return device_copy(spectrum) if copied else None
