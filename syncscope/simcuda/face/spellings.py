"""Spellings: torch functions that mean something else, or cost something unseen, on a simulated device."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syncscope.simcuda.face.spoken import Spoken

Spelling = Callable[["Spoken"], Any]

_SPELLINGS: dict[Any, Spelling] = {}
_FILES = (
    "queries", "brackets", "transfers", "construction", "composites", "nested", "attention", "sharing",
    "overloads", "refusals", "casting", "powers", "plans",
)  # fmt: skip


def spelling(*functions: Any) -> Callable[[Spelling], Spelling]:
    """Let the decorated function answer for ``functions`` while the simulated device is active.

    Getters of properties are given as ``torch.Tensor.device.__get__``: such wrappers are made anew each time
    they are looked up, and are equal, never identical.
    """

    def enter(answer: Spelling) -> Spelling:
        _SPELLINGS.update(dict.fromkeys(functions, answer))
        return answer

    return enter


@cache
def spellings() -> dict[Any, Spelling]:
    """Every spelling, by the function it answers for."""
    for name in _FILES:
        importlib.import_module(f"syncscope.simcuda.face.{name}")
    return _SPELLINGS
