"""Why calls copy or wait that no operator at the dispatcher answers for: the cost table's other half."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

_REASONS: list[Reason] = []
_PACKAGES = ("syncscope.simcuda.face", "syncscope.simcuda.dispatch", "syncscope.simcuda.stand_ins")


@dataclass(frozen=True)
class Reason:
    """What is known of some calls from Python that copy or wait where no operator is heard.

    ``spellings`` are the functions (``Tensor.cpu``); the rest is as in an entry of the cost table.
    """

    spellings: tuple[str, ...]
    why: str
    source: str
    figures: str
    instead: str = ""
    versions: str = ""


def reason(
    *spellings: str, why: str, source: str, figures: str, instead: str = "", versions: str = ""
) -> Reason:
    """Enter and return what is known of ``spellings``."""
    made = Reason(spellings, why, source, figures, instead, versions)
    _REASONS.append(made)
    return made


def reasons() -> Iterator[Reason]:
    """Every reason once."""
    _load()
    yield from _REASONS


@cache
def _load() -> None:
    for name in _PACKAGES:
        for module in pkgutil.iter_modules(importlib.import_module(name).__path__):
            importlib.import_module(f"{name}.{module.name}")
