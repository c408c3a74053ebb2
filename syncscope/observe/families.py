"""Counted operator families: which ATen operators are launches of what."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from syncscope.subjects import Unusable

FAMILIES = {
    "topk": ("topk",),
    "scatter": ("scatter", "scatter_", "scatter_add", "scatter_add_", "scatter_reduce", "scatter_reduce_"),
}
"""The families that are always counted, each with its operators."""


class UnknownFamily(Unusable):
    """What was asked to be counted is no operator that reaches a device."""


def family_of(names: Iterable[str] = ()) -> dict[str, str]:
    """The family of each counted operator: those of ``FAMILIES``, and each of ``names`` as one of its own.

    Raises:
        UnknownFamily: ATen has no such operator, or it is made of others before it reaches a device.
    """
    families = {operator: family for family, operators in FAMILIES.items() for operator in operators}
    for name in (given.removeprefix("aten::") for given in names):
        if name not in FAMILIES:
            _check(name)
            families[name] = name
    return families


def _check(name: str) -> None:
    from torch import ops

    from syncscope.simcuda.operators import operator

    packet = getattr(ops.aten, name, None)
    if packet is None:
        close = difflib.get_close_matches(name, _all_names(), n=3)
        hint = f"did you mean {', '.join(close)}?" if close else "name an ATen operator, as in aten::topk"
        raise UnknownFamily(f"count: ATen has no operator {name!r}: {hint}")
    known = [getattr(packet, overload) for overload in packet.overloads() if _is_dispatched(name, overload)]
    if operator(known[0]).implicit:
        raise UnknownFamily(
            f"count: aten::{name} is made of other operators and is never launched itself: count those"
        )


def _is_dispatched(name: str, overload: str) -> bool:
    """Whether an overload reaches the dispatcher: some are TorchScript's alone (``mul.left_t``)."""
    import torch

    full = f"aten::{name}" if overload == "default" else f"aten::{name}.{overload}"
    return bool(torch._C._dispatch_has_kernel(full)) and overload.rpartition("_")[2] != "out"


def _all_names() -> set[str]:
    import torch

    names = (name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))
    return {name.removeprefix("aten::").partition(".")[0] for name in names}
