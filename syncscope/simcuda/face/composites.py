"""Composites of torch that do other things on CUDA than on the CPU."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from syncscope.simcuda.charges import Charge
from syncscope.simcuda.costs import table
from syncscope.simcuda.face.construction import read_elements
from syncscope.simcuda.face.crossing import Move, moved
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken
from syncscope.simcuda.frames import tensors
from syncscope.simcuda.hearing import unheard
from syncscope.simcuda.placement import PLACEMENT, answers_itself
from syncscope.simcuda.places import CPU, means_cuda
from syncscope.simcuda.reasons import reason


@spelling(F.one_hot)
def one_hot(spoken: Spoken) -> Any:
    """``F.one_hot(x, n)``: on CUDA the values are not checked, and read only to find ``n`` (Onehot.cpp).

    Raises:
        RuntimeError: the indices are of another dtype; as PyTorch words it.
    """
    words = dict(zip(("tensor", "num_classes"), spoken.args, strict=False)) | spoken.kwargs
    indices, classes = words.get("tensor", words.get("self")), words.get("num_classes", -1)
    if not isinstance(indices, Tensor) or not PLACEMENT.is_on(indices) or not indices.numel():
        return spoken.run(*spoken.args, **spoken.kwargs)
    if indices.dtype != torch.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    classes = int(classes)
    if classes == -1:
        classes = int(indices.max()) + 1
    if answers_itself(type(indices)) or torch._C._functorch.is_functorch_wrapped_tensor(indices):
        return (indices.unsqueeze(-1) == torch.arange(classes, device=indices.device)).long()
    made = torch.zeros((*indices.shape, classes), dtype=indices.dtype, device=indices.device)
    return made.scatter_(-1, indices.unsqueeze(-1), 1)


_CTC_NAMES = (
    "log_probs",
    "targets",
    "input_lengths",
    "target_lengths",
    "blank",
    "reduction",
    "zero_infinity",
)
_CTC = reason(
    "torch.ctc_loss",
    "torch.nn.functional.ctc_loss",
    "torch.nn.CTCLoss",
    why="lengths that live on the device are fetched, and so are the targets, to choose a kernel",
    source="aten/src/ATen/native/LossCTC.cpp, ctc_loss; cuda/LossCTC.cu",
    figures="1 DtoH, 1 wait for each tensor of lengths on the device; 1 DtoH, 1 wait for the targets there, "
    "twice with lengths in tensors; 1 HtoD, 1 wait for targets of the host; 1 HtoD, 1 wait for a mean; "
    "3 HtoD, 3 waits more for the kernel",
    instead="lengths as tuples of the host; one call for the whole batch",
)
_MEAN = "the lengths are uploaded, to divide by them for a mean"
_TARGETS = "targets of the host go to the device"


@spelling(torch.ctc_loss)
def ctc_loss(spoken: Spoken) -> Any:
    """``torch.ctc_loss``: on CUDA the host wants the lengths, and looks at the targets."""
    words = dict(zip(_CTC_NAMES, spoken.args, strict=False)) | spoken.kwargs
    if not PLACEMENT.is_on(words["log_probs"]):
        return spoken.run(*spoken.args, **spoken.kwargs)
    lengths = [words["input_lengths"], words["target_lengths"]]
    spoken.device.charge(_of_ctc(words, lengths), op="aten::_to_copy", why=_CTC.why)
    with unheard():
        words["input_lengths"], words["target_lengths"] = (
            one.reshape(-1).tolist() if isinstance(one, Tensor) else one for one in lengths
        )
        if not PLACEMENT.is_on(words["targets"]):
            words["targets"] = words["targets"].clone()
            PLACEMENT.put(words["targets"])
    return spoken.run(**words)


def _of_ctc(words: dict[str, Any], lengths: list[Any]) -> list[Charge]:
    """The targets each time that a kernel is chosen; lengths; and for a mean the lengths again."""
    targets = words["targets"]
    of_tensors = any(isinstance(one, Tensor) for one in lengths)
    charges = [table.fetch(one) for one in lengths if table.is_on(one)]
    charges += (
        [table.fetch(targets)] * (1 + of_tensors)
        if table.is_on(targets)
        else [table.upload(targets, why=_TARGETS)]
    )
    if words.get("reduction", 1) == 1:
        charges.append(Charge("upload", htod=1, waits=1, dtype="int64", why=_MEAN))
    return [charge for charge in charges if charge is not None]


@spelling(torch.where, Tensor.where)
def where(spoken: Spoken) -> Any:
    """``torch.where(mask, t, 1.)``: the number becomes a tensor where ``t`` is, and goes up with it."""
    names = ("condition", "self", "other") if spoken.func is torch.where else ("self", "condition", "other")
    words = dict(zip(names, spoken.args, strict=False)) | spoken.kwargs
    values = [words.get("self", words.get("input")), words.get("other")]
    numbers = [one for one in values if isinstance(one, (int, float, complex))]
    if len(numbers) == 1 and spoken.inputs_on_device and not any(map(table.is_on, values)):
        charge = table.upload(torch.scalar_tensor(numbers[0]))
        spoken.device.charge([charge] if charge else [], op="aten::where", why=_NUMBER)
    return spoken.plainly()


_NUMBER = "a number beside a 0-dim tensor of the host becomes one too, and is uploaded"


@spelling(torch.tensor_split, Tensor.tensor_split)
def tensor_split(spoken: Spoken) -> Any:
    """``torch.tensor_split(x, indices)``: indices in a tensor have to be the host's.

    Raises:
        RuntimeError: they are on the device; as PyTorch words it (TensorShape.cpp).
    """
    words = dict(zip(("input", "indices", "dim"), spoken.args, strict=False)) | spoken.kwargs
    dim = words.pop("dim", None)
    if any(
        table.is_on(value) for name, value in words.items() if name != "input" and isinstance(value, Tensor)
    ):
        read_elements(spoken.device, [dim])
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on cuda:0"
        )
    return spoken.run(*spoken.args, **spoken.kwargs)


@spelling(torch.functional.meshgrid)
def meshgrid(spoken: Spoken) -> Any:
    """``torch.meshgrid(x, y)``: on one device.

    Raises:
        RuntimeError: they are on two; as PyTorch words it (TensorShape.cpp).
    """
    if len(set(map(PLACEMENT.is_on, tensors(spoken.args, {})))) > 1:
        raise RuntimeError("meshgrid expects all tensors to have the same device")
    return spoken.plainly()


@spelling(torch._VF._pad_packed_sequence)
def pad_packed_sequence(spoken: Spoken) -> Any:
    """``pad_packed_sequence``: the lengths that come out are the host's (PackedSequence.cpp)."""
    padded, lengths = spoken.run(*spoken.args, **spoken.kwargs)
    with unheard():
        return padded, lengths.clone()


_BOUNDS = reason(
    "torch.sparse_coo_tensor",
    why="the host fetches the smallest and the largest index of every dimension, to find or check the size",
    source="aten/src/ATen/native/sparse/SparseTensor.cpp, sparse_coo_tensor, "
    "_validate_sparse_coo_tensor_args",
    figures="2 DtoH, 2 waits without a size, or with check_invariants=True; nothing with a size, or "
    "no indices",
    instead="give the size",
)
_HOST_DATA = reason(
    "torch.sparse_coo_tensor",
    why="indices or values of the host go to the device",
    source="torch/csrc/utils/tensor_new.cpp, sparse_coo_tensor_ctor",
    figures="1 HtoD, 1 wait for indices of the host, and for values of the host; nothing for those "
    "on the device",
    instead="indices and values that are on the device",
)


@spelling(torch.sparse_coo_tensor)
def sparse_coo_tensor(spoken: Spoken) -> Any:
    """``torch.sparse_coo_tensor``: bounds are read where no size is given, or invariants are checked."""
    names = ("indices", "values", "size")
    words = dict(zip(names, spoken.args, strict=False)) | spoken.kwargs
    _read_data(spoken, *(words.get(name) for name in names[:2]))
    asked = None if words.get("device") is None else means_cuda(words["device"])
    if "values" not in words:
        return spoken.plainly()  # of a size alone
    if asked is False:
        parts = [_on_host(words.pop(name)) for name in names[:2]]
        return spoken.func(*parts, **{**words, "device": CPU})
    if not (asked or any(table.is_on(words[name]) for name in names[:2])):
        return spoken.plainly()
    if asked is None and table.is_on(words["indices"]) != table.is_on(words["values"]):
        raise RuntimeError("Expected all tensors to be on the same device: indices and values are on two")
    for name in names[:2]:
        words[name] = _on_device(words[name])
    words.pop("device", None)
    _read_data(spoken, words.get("size"))
    checked = words.get("check_invariants")
    if words.get("size") is None or (_checks_invariants() if checked is None else checked):
        bounds = [_bounds(words["indices"])] * 2 if words["indices"].numel() else []
        spoken.device.charge(bounds, op="aten::_to_copy", why=_BOUNDS.why)
    with unheard():
        made = spoken.func(**words)
    return made


@spelling(
    torch.sparse_csr_tensor,
    torch.sparse_csc_tensor,
    torch.sparse_bsr_tensor,
    torch.sparse_bsc_tensor,
    torch.sparse_compressed_tensor,
)
def sparse_compressed_tensor(spoken: Spoken) -> Any:
    """``torch.sparse_csr_tensor``: parts of the host go up where a device is named."""
    _read_data(spoken, *spoken.args[:3], *(spoken.kwargs.get(name) for name in _PARTS))
    device = spoken.kwargs.get("device")
    asked = None if device is None else means_cuda(device)
    if asked is None:
        return spoken.plainly()
    at = _on_device if asked else _on_host
    parts = [at(part) for part in spoken.args[:3]]
    words = {
        name: at(part) if name in _PARTS else part for name, part in spoken.kwargs.items() if name != "device"
    }
    return spoken.run(*parts, *spoken.args[3:], **words)


_PARTS = (
    "crow_indices",
    "ccol_indices",
    "compressed_indices",
    "col_indices",
    "row_indices",
    "plain_indices",
    "values",
)


def _read_data(spoken: Spoken, *given: Any) -> None:
    """Charge the device tensors in lists that the binding makes tensors, or a size, of."""
    for data in given:
        if isinstance(data, (list, tuple)):
            read_elements(spoken.device, data)


def _on_host(data: Any) -> Any:
    """``data`` on the host; what comes from the device is fetched."""
    return moved(data.detach(), Move(cuda=False)) if table.is_on(data) else data


def _on_device(data: Any) -> Tensor:
    """``data`` as a device tensor; what comes from the host is uploaded."""
    if table.is_on(data):
        return data  # type: ignore[no-any-return]
    host = data.detach() if isinstance(data, Tensor) else torch.tensor(data)
    return moved(host, Move(cuda=True))


def _bounds(indices: Tensor) -> Charge:
    name = table.dtype_name(indices)
    return Charge("vector_read", dtoh=1, waits=1, shape=(indices.shape[0],), dtype=name)


def _checks_invariants() -> bool:
    return bool(torch.sparse.check_sparse_tensor_invariants.is_enabled())
