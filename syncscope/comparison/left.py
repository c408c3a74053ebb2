"""What calls of old and new left, outputs and arguments: is it equal?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from syncscope.comparison.calls import Ended, Runner
from syncscope.comparison.parity import argument_differences, differences, over_calls
from syncscope.comparison.results import Difference, Parity
from syncscope.comparison.retained import retained_differences
from syncscope.events import Side

if TYPE_CHECKING:
    from torch import Tensor

Runners = Mapping[Side, Runner]
Pair = Mapping[Side, Ended]


def parity(runners: Runners, pairs: Iterable[Pair]) -> Parity:
    """Over pairs of calls with equal inputs; each is compared as it arrives."""
    returned = False

    def compared(pair: Pair) -> list[Difference]:
        nonlocal returned
        returned = returned or any(ended.output is not None for ended in pair.values())
        return _differences(runners, pair)

    found = over_calls(map(compared, pairs))
    return replace(found, returned=returned)


def unobserved(runners: Runners, seeds: Iterable[int]) -> Iterator[Pair]:
    """Old and new called once for each seed, with nobody looking on."""
    return ({side: runner.plain(seed) for side, runner in runners.items()} for seed in seeds)


def parity_after_timing(runners: Runners, seeds: Iterable[int], before: Parity) -> Parity:
    """Once more after the calls that were timed: equal at first is not yet equal in the hundredth call."""
    after = parity(runners, unobserved(runners, seeds))
    late = [
        replace(found, path=f"after the timed calls, {found.path or 'output'}") for found in after.differences
    ]
    return replace(after, compared=before.compared + after.compared, differences=late)


def _differences(runners: Runners, pair: Pair) -> list[Difference]:
    """How what was promised, what was returned and the arguments differ."""
    promised = (
        found for side, runner in runners.items() for found in retained_differences(runner, pair[side])
    )
    old, new = pair["old"], pair["new"]
    outputs = differences(old.output, new.output, device_of)
    return [*promised, *outputs, *argument_differences(old.arguments, new.arguments, device_of)]


def device_of(tensor: Tensor) -> str:
    """Where a subject's output lives, in CUDA's words."""
    from syncscope.simcuda.placement import PLACEMENT

    return "cuda:0" if PLACEMENT.is_on(tensor) else str(tensor.device)
