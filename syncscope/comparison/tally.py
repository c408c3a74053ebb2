"""From the observed calls of a case to its counts, and where torch.profiler contradicts them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence

from syncscope.comparison.calls import Observed
from syncscope.comparison.results import Range, SideResult
from syncscope.events import Counts, count, count_names, figure
from syncscope.observe.profile import Profile

_MEASURED = ("dtoh", "htod", "dtod", "waits")


def total(observed: Observed, name: str) -> int:
    """One count of one call."""
    return sum(figure(event, name) for event in observed.events)


def side_result(
    observed: Sequence[Observed], profile: Profile, family_of: Mapping[str, str], measured: bool
) -> SideResult:
    """Totals and ranges over the calls of one subject in one case.

    Where torch.profiler watched a GPU (``measured``), copies and waits are its figures, not the scope's.
    """
    families = list(dict.fromkeys(family_of.values()))
    counts = count((event for call in observed for event in call.events), families)
    visits = [call.visited for call in observed if call.visited]
    everywhere = frozenset.intersection(*visits) if visits else frozenset()
    return SideResult(
        calls=len(observed),
        counts=_measured(counts, profile) if measured else counts,
        per_call={name: _range([total(call, name) for call in observed]) for name in count_names(families)},
        aten=_aten(profile, family_of),
        visited=sorted(everywhere),
        sometimes=sorted(frozenset.union(*visits) - everywhere) if visits else [],
    )


def _range(numbers: Sequence[int]) -> Range:
    return Range(min(numbers), max(numbers))


def _measured(counts: Counts, profile: Profile) -> Counts:
    device = profile.device
    if device is None:
        return counts
    figures = {name: getattr(device, name) for name in _MEASURED}
    return dataclasses.replace(counts, memcpy=device.memcpy, **figures)


def _aten(profile: Profile, family_of: Mapping[str, str]) -> dict[str, int]:
    """The profiler's totals of item, and of each family."""
    totals = Counter(dict.fromkeys(("item", *family_of.values()), 0))
    totals["item"] = profile.aten.get("item", 0)
    for operator, family in family_of.items():
        totals[family] += profile.aten.get(operator, 0)
    return dict(totals)


def disagreements(
    where: str, observed: Sequence[Observed], profile: Profile, family_of: Mapping[str, str]
) -> list[str]:
    """A sentence for every figure on which the scope and torch.profiler differ, over the same calls.

    ATen calls are compared as both heard them, on whichever device; on a GPU copies and waits as well.
    """
    heard: Counter[str] = Counter()
    for call in observed:
        heard.update(call.heard)
    pairs = {"aten::item": (heard["_local_scalar_dense"], profile.heard.get("_local_scalar_dense", 0))}
    for operator in family_of:
        pairs[f"aten::{operator}"] = heard[operator], profile.heard.get(operator, 0)
    if profile.device is not None:
        foreseen = count(event for call in observed for event in call.events)
        for name in _MEASURED:
            pairs[name] = getattr(foreseen, name), getattr(profile.device, name)
    return [
        f"{where}: {name}: the scope counts {mine}, torch.profiler {theirs}"
        for name, (mine, theirs) in pairs.items()
        if mine != theirs
    ]
