"""Composites of torch that do other things on CUDA than on the CPU."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from syncscope.simcuda.costs import table
from syncscope.simcuda.face import Spoken
from syncscope.simcuda.listener import unheard
from syncscope.simcuda.placement import PLACEMENT
from syncscope.simcuda.spellings import spelling


@spelling(F.one_hot)
def one_hot(spoken: Spoken) -> Any:
    """``F.one_hot(x, n)``: on CUDA the values are not checked, and read only to find ``n`` (Onehot.cpp)."""
    words = dict(zip(("tensor", "num_classes"), spoken.args, strict=False)) | spoken.kwargs
    indices, classes = words.get("tensor", words.get("self")), words.get("num_classes", -1)
    if not isinstance(indices, Tensor) or not PLACEMENT.is_on(indices) or not indices.numel():
        return spoken.run(*spoken.args, **spoken.kwargs)
    if classes == -1:
        classes = int(indices.max()) + 1
    made = torch.zeros((*indices.shape, classes), dtype=indices.dtype, device=indices.device)
    return made.scatter_(-1, indices.unsqueeze(-1), 1)


_CTC_NAMES = ("log_probs", "targets", "input_lengths", "target_lengths", "blank", "reduction", "zero_infinity")
_CTC = "lengths that live on the device are fetched, and so are the targets, to choose a kernel (LossCTC.cpp)"


@spelling(torch.ctc_loss)
def ctc_loss(spoken: Spoken) -> Any:
    """``torch.ctc_loss``: on CUDA the host wants the lengths, and looks at the targets."""
    words = dict(zip(_CTC_NAMES, spoken.args, strict=False)) | spoken.kwargs
    if not PLACEMENT.is_on(words["log_probs"]):
        return spoken.run(*spoken.args, **spoken.kwargs)
    lengths = [words["input_lengths"], words["target_lengths"]]
    spoken.device.charge(_of_ctc(words, lengths), op="aten::_to_copy", why=_CTC)
    with unheard():
        words["input_lengths"], words["target_lengths"] = (
            one.tolist() if isinstance(one, Tensor) else one for one in lengths
        )
        if not PLACEMENT.is_on(words["targets"]):
            words["targets"] = words["targets"].clone()
            PLACEMENT.put(words["targets"])
    return spoken.run(**words)


def _of_ctc(words: dict[str, Any], lengths: list[Any]) -> list[table.Charge]:
    """The targets each time that a kernel is chosen; lengths; and for a mean the lengths again."""
    targets = words["targets"]
    of_tensors = any(isinstance(one, Tensor) for one in lengths)
    charges = [table.fetch(one) for one in lengths if table.is_on(one)]
    charges += [table.fetch(targets)] * (1 + of_tensors) if table.is_on(targets) else [table.upload(targets)]
    if words.get("reduction", 1) == 1:
        charges.append(table.Charge("upload", htod=1, waits=1, dtype="int64", note="lengths, for the mean"))
    return [charge for charge in charges if charge is not None]
