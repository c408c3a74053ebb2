"""The smallest and the largest of some figures over the steps of a run: never an average."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key")


class Ranges(Generic[Key]):
    """For each figure its ``low`` and ``high`` over ``steps`` steps; what a step lacks was 0 in it."""

    def __init__(self) -> None:
        """Begin without a step."""
        self.steps = 0
        self.low: dict[Key, int] = {}
        self.high: dict[Key, int] = {}

    def add(self, figures: Mapping[Key, int]) -> None:
        """Take one more step."""
        for key in self.low.keys() - figures.keys():
            self.low[key] = 0
        for key, amount in figures.items():
            self.low[key] = min(self.low.get(key, 0 if self.steps else amount), amount)
            self.high[key] = max(self.high.get(key, 0), amount)
        self.steps += 1

    def of(self, key: Key) -> tuple[int, int]:
        """The smallest and the largest; 0 and 0 for what was in no step."""
        return self.low.get(key, 0), self.high.get(key, 0)


def merged(parts: Iterable[Ranges[Key]]) -> Ranges[Key]:
    """The ranges over the steps of several threads together."""
    stepped = [part for part in parts if part.steps]
    found: Ranges[Key] = Ranges()
    found.steps = sum(part.steps for part in stepped)
    for key in {key for part in stepped for key in list(part.high)}:
        ends = [part.of(key) for part in stepped]
        found.low[key], found.high[key] = min(low for low, _ in ends), max(high for _, high in ends)
    return found
