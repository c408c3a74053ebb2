"""``x[..]``: lists among the indices are read and become tensors in the binding, unheard by a listener."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from torch import Tensor

from syncscope.simcuda.face.construction import read_elements
from syncscope.simcuda.face.spellings import spelling
from syncscope.simcuda.face.spoken import Spoken

_LONG = 32  # a list as long as this is data, whatever is in it


@spelling(Tensor.__getitem__, Tensor.__setitem__)
def brackets(spoken: Spoken) -> Any:
    """``x[index]`` and ``x[index] = value``: device tensors in lists are read as with item()."""
    index = spoken.args[1]
    if isinstance(index, (list, tuple)):
        for data in _data(index):
            read_elements(spoken.device, data)
    return spoken.plainly()


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
