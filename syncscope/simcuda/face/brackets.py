"""``x[..]``: lists among the indices are read and become tensors in the binding, unheard by a listener."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from syncscope.simcuda import backward
from syncscope.simcuda.face.construction import read_elements
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken

_LONG = 32  # a list as long as this is data, whatever is in it


@spelling(Tensor.__getitem__)
def read(spoken: Spoken) -> Any:
    """``x[index]``: device tensors in lists are read as with item()."""
    index = spoken.args[1]
    if isinstance(index, (list, tuple)):
        for data in _data(index):
            read_elements(spoken.device, data)
    return spoken.plainly()


@spelling(Tensor.__setitem__)
def write(spoken: Spoken) -> None:
    """``x[index] = value``."""
    read(spoken)
    backward.note(spoken.args[0], spoken.args[2])


_ATEN = torch.ops.aten
_OPERATORS = (_ATEN.index_put, _ATEN.index_put_, _ATEN._unsafe_index_put, _ATEN._index_put_impl_)


@spelling(
    *(torch.index_put, torch.index_put_, Tensor.index_put, Tensor.index_put_),
    *(torch._unsafe_index_put, torch._index_put_impl_, torch.copysign, Tensor.copysign, Tensor.copysign_),
    *_OPERATORS,
    *(packet.default for packet in _OPERATORS),
)
def noted(spoken: Spoken) -> Any:
    """A call whose backward makes zeros in place of its last tensor."""
    result = spoken.plainly()
    given = [one for one in (*spoken.args, *spoken.kwargs.values()) if isinstance(one, Tensor)]
    backward.note(result, given[-1])
    return result


def _data(index: list[Any] | tuple[Any, ...]) -> Iterator[Any]:
    """The lists that become tensors (python_variable_indexing.cpp, treatSequenceAsTuple)."""
    if isinstance(index, tuple) or _stands_for_a_tuple(index):
        yield from (one for one in index if isinstance(one, (list, tuple)))
    else:
        yield index


def _stands_for_a_tuple(index: Iterable[Any]) -> bool:
    """Whether ``x[[a, b]]`` means ``x[a, b]``: it is short, and of more than numbers."""
    items = list(index)
    told = any(item is None or isinstance(item, (Tensor, list, tuple, slice)) for item in items)
    return told and len(items) < _LONG
