"""All that can be explained: the kinds, what users write, and the cost table's two halves."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from inspect import getattr_static

import torch

from syncscope.simcuda.costs.free import is_free
from syncscope.simcuda.costs.table import Entry, entries
from syncscope.simcuda.explanations.explanation import Explanation
from syncscope.simcuda.explanations.spelling import Spelling
from syncscope.simcuda.explanations.spellings import SPELLINGS
from syncscope.simcuda.operators import Operator, operator
from syncscope.simcuda.reasons import Reason, reasons


@cache
def of_operators() -> tuple[Explanation, ...]:
    """One for each entry of the cost table."""
    return tuple(map(_of_entry, entries()))


@cache
def of_functions() -> tuple[Explanation, ...]:
    """One for each reason that is no operator's."""
    return tuple(map(_of_reason, reasons()))


@cache
def of_spellings() -> tuple[Explanation, ...]:
    """One for each way in which a call is written; what it leaves out is as stated for what does it."""
    return tuple(_of_spelling(spelling) for spelling in SPELLINGS)


def families() -> dict[str, list[Entry]]:
    """The entries by family: the file of the cost table that they are in, by what its title says first."""
    found: dict[str, list[Entry]] = {}
    for entry in entries():
        found.setdefault(_title(entry).partition(":")[0].rstrip("."), []).append(entry)
    return found


def of_other_functions() -> tuple[Explanation, ...]:
    """Those of the functions that no spelling refers to."""
    told = {spelling.by for spelling in SPELLINGS}
    return tuple(one for one in of_functions() if told.isdisjoint(one.names))


def of_operator_without_entry(name: str) -> Explanation | None:
    """What it means that the ATen operator ``name`` has no entry; None where there is no such operator."""
    overloads = list(_overloads(name))
    if not overloads:
        return None
    if all(one.implicit or one.explicit for one in overloads):
        why, figures = (
            "it is made of other operators, and those that copy or wait count for themselves",
            "nothing",
        )
    elif all(map(is_free, overloads)):
        why, figures = "its code on the host neither copies nor waits", "nothing"
    else:
        why, figures = "nothing is known of what it does on the host: it may wait", "1 unknown"
    what = "An operator of PyTorch without an entry in the cost table."
    return Explanation((f"aten::{name}",), what, why, figures + " of its own" * (figures == "nothing"))


def of_function_of_torch(name: str) -> Explanation | None:
    """What is told of any other function by its full name (``torch.nn.functional.interpolate``)."""
    scope, *names = name.partition("(")[0].split(".")
    found: object = torch if scope == "torch" else None
    for part in names:
        found = getattr_static(found, part, None)  # torch.classes answers any name, with an error
    if not callable(found):
        return None
    what = "A function of PyTorch that nothing is stated of."
    why = "it is made of operators, and a report names beside it the one that copies or waits"
    return Explanation((name,), what, why, "nothing of its own")


def _overloads(name: str) -> Iterator[Operator]:
    """Those that the dispatcher knows: some are TorchScript's alone."""
    for full_name in _operator_names():
        base, _, overload = full_name.removeprefix("aten::").partition(".")
        if base == name:
            yield operator(getattr(getattr(torch.ops.aten, base), overload or "default"))


@cache
def _operator_names() -> tuple[str, ...]:
    return tuple(name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::"))


def _of_entry(entry: Entry) -> Explanation:
    shown = next((one for one in SPELLINGS if one.by in entry.operators and one.before), None)
    return Explanation(
        names=tuple(f"aten::{name}" for name in entry.operators),
        what=_title(entry),
        why=entry.why,
        figures=entry.figures,
        versions=entry.versions,
        instead=entry.instead,
        before=shown.before if shown else "",
        after=shown.after if shown else "",
        source=entry.source,
        sparse=entry.sparse,
    )


def _title(entry: Entry) -> str:
    """The first line of the file in which the entry stands."""
    return (sys.modules[entry.rule.__module__].__doc__ or "").partition("\n")[0]


def _of_reason(reason: Reason) -> Explanation:
    return Explanation(
        names=reason.spellings,
        what="A function that no listener at the dispatcher hears, or not as it is.",
        why=reason.why,
        figures=reason.figures,
        versions=reason.versions,
        instead=reason.instead,
        source=reason.source,
    )


def _of_spelling(spelling: Spelling) -> Explanation:
    told = Explanation(spelling.names, spelling.what, kind=spelling.kind)
    by = _done_by(spelling.by)
    if by is not None:
        told = replace(by, names=spelling.names, what=spelling.what, kind=spelling.kind)
        told = replace(told, operators=(f"aten::{spelling.by}",) if by in of_operators() else ())
    names = ("figures", "why", "instead", "before", "after", "source")
    own = {name: value for name in names if (value := getattr(spelling, name))}
    return replace(told, **{"before": "", "after": "", **own})


def _done_by(name: str) -> Explanation | None:
    return next((one for one in _candidates() if name in one.names or f"aten::{name}" in one.names), None)


def _candidates() -> Iterator[Explanation]:
    # A function's last reason is the one that its own title names.
    yield from of_operators()
    yield from of_functions()
