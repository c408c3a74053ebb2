"""Operators on lists of tensors."""

from __future__ import annotations

from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs.copies import copied
from syncscope.simcuda.costs.layouts import charged
from syncscope.simcuda.costs.table import Call, cost, device_copy, is_on, upload


@cost(
    "_foreach_copy_",
    why="one kernel where all lie on the device in one order; else one copy after the other",
    source="aten/src/ATen/native/cuda/ForeachBinaryOpList.cu, foreach_tensor_copy_list_kernel_cuda_; "
    "ForeachOpsKernels.cpp, foreach_tensor_copy_list_kernel_slow_",
    figures="nothing where all are on the device, of the same strides and dtype; 1 DtoD for each "
    "dense pair elsewhere on the device; 1 DtoH, 1 wait for each pair to the host; 1 HtoD, 1 "
    "wait for each pair to the device; 0 waits with non_blocking=True",
    instead="sources on the device, or pinned ones and non_blocking=True",
    mixes=True,
)
def foreach_copy(call: Call) -> list[Charge]:
    """Nothing for the kernel; what each copy costs where one side is on the host."""
    targets, sources = call["self"], call["src"]
    if all(is_on(one) for one in (*targets, *sources)) and _one_kernel(targets, sources):
        return []
    waits = bool(call["non_blocking"])
    return charged(*(copied(t, s, waits) for t, s in zip(targets, sources, strict=True)))


def _one_kernel(targets: list[Tensor], sources: list[Tensor]) -> bool:
    pairs = list(zip(targets, sources, strict=True))
    dtypes = {one.dtype for one in targets}, {one.dtype for one in sources}
    alike = all(t.shape == s.shape and t.stride() == s.stride() for t, s in pairs)
    return alike and all(len(kinds) == 1 for kinds in dtypes)


@cost(
    "_foreach_clone",
    why="one kernel copies all",
    source="aten/src/ATen/native/cuda/ForeachUnaryOp.cu, foreach_tensor_clone_cuda",
    figures="nothing",
)
def foreach_clone(call: Call) -> None:
    """Nothing."""


@cost(
    "_foreach_addcmul.Tensor",
    "_foreach_addcmul_.Tensor",
    "_foreach_addcdiv.Tensor",
    "_foreach_addcdiv_.Tensor",
    why="the factors are numbers in a tensor that has to be the host's",
    source="aten/src/ATen/native/ForeachUtils.h, convert_tensor_to_scalar_list",
    figures="nothing: factors on the device are an error",
    mixes=True,
)
def foreach_factors(call: Call) -> None:
    """Nothing.

    Raises:
        RuntimeError: the factors are on the device; as PyTorch words it.
    """
    if is_on(call["scalars"]):
        raise RuntimeError("Expected scalars to be on CPU, got cuda:0 instead.")


@cost(
    "bernoulli_.Tensor",
    why="probabilities on the host go up first",
    source="aten/src/ATen/native/cuda/DistributionBernoulli.cu, bernoulli_tensor_kernel",
    figures="1 HtoD, 1 wait where p is a tensor of the host; nothing otherwise",
    instead="p on the device, or a Python number",
    mixes=True,
)
def bernoulli(call: Call) -> Charge | None:
    """One upload of a host tensor."""
    return upload(call["p"]) if call.on_host("p") else None


@cost(
    "_pack_padded_sequence",
    why="lengths are the host's, and so are the batch sizes that come out",
    source="aten/src/ATen/native/PackedSequence.cpp, _pack_padded_sequence",
    figures="1 DtoD where all lengths are equal; nothing otherwise: lengths on the device are an error",
    mixes=True,
    host_results=(1,),
)
def pack_padded_sequence(call: Call) -> Charge | None:
    """One memcpy of a single step.

    Raises:
        RuntimeError: the lengths are on the device; as PyTorch words it.
    """
    if is_on(call["lengths"]):
        raise RuntimeError(
            "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"
        )
    lengths = call["lengths"]
    steps = call["input"].transpose(0, 1) if call["batch_first"] else call["input"]
    return device_copy(steps[: int(lengths[0])]) if len(set(lengths.tolist())) == 1 else None
