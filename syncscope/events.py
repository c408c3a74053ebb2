"""The vocabulary: what a scope records, and the counts made of it. Imports no torch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from syncscope.sites import NOWHERE, Site

Kind = Literal["scalar_read", "vector_read", "size_read", "upload", "copy", "wait", "launch", "unknown"]
"""``copy`` is a copy that stays on the device; ``wait`` a wait without a copy (``synchronize``)."""

Provenance = Literal["measured", "emulated", "simulated", "recorded"]

Side = Literal["old", "new"]
SIDES: tuple[Side, ...] = ("old", "new")

KINDS: tuple[Kind, ...] = (
    "scalar_read", "vector_read", "size_read", "upload", "copy", "wait", "launch", "unknown",
)  # fmt: skip

COUNT_NAMES = (
    "scalar_reads", "vector_reads", "size_reads", "dtoh", "htod", "dtod", "memcpy", "waits", "unknown_ops",
)  # fmt: skip


@dataclass(frozen=True)
class Event:
    """One thing that happened at the border between host and device.

    ``api`` is the spelling in Python (``Tensor.item``), ``op`` the ATen overload that did it (empty where
    no operator was involved). ``dtoh``, ``htod`` and ``dtod`` are CUDA memcpys, ``waits`` the host's
    explicit waits. ``shape`` and ``dtype`` are those of the value that was read, moved or made.
    ``family`` names the counted operator family of a launch (``topk``, ``scatter``). ``may_wait``: the
    driver may wait where PyTorch doesn't, which no count shows.
    """

    kind: Kind
    api: str
    op: str = ""
    dtoh: int = 0
    htod: int = 0
    dtod: int = 0
    waits: int = 0
    shape: tuple[int, ...] = ()
    dtype: str = ""
    family: str = ""
    reason: str = ""
    site: Site = NOWHERE
    stack: tuple[Site, ...] = ()
    may_wait: bool = False


@dataclass(frozen=True)
class Counts:
    """Totals over some events. ``memcpy`` is ``dtoh + htod + dtod``; ``launches`` has one number a family."""

    scalar_reads: int = 0
    vector_reads: int = 0
    size_reads: int = 0
    dtoh: int = 0
    htod: int = 0
    dtod: int = 0
    memcpy: int = 0
    waits: int = 0
    launches: dict[str, int] = field(default_factory=dict)
    unknown_ops: int = 0

    @property
    def host_reads(self) -> int:
        """Every time the host obtained a device value: scalar, vector and size reads."""
        return self.scalar_reads + self.vector_reads + self.size_reads


_KIND_OF = {
    "scalar_reads": "scalar_read",
    "vector_reads": "vector_read",
    "size_reads": "size_read",
    "unknown_ops": "unknown",
}


def figure(event: Event, name: str) -> int:
    """What ``event`` adds to the count ``name``: one of ``COUNT_NAMES``, or ``launches.topk``."""
    if name in _KIND_OF:
        return int(event.kind == _KIND_OF[name])
    if name == "memcpy":
        return event.dtoh + event.htod + event.dtod
    if name.startswith("launches."):
        return int(event.kind == "launch" and event.family == name.removeprefix("launches."))
    return int(getattr(event, name))


def count_names(families: Iterable[str]) -> list[str]:
    """Every count of a call, the launches of a family as ``launches.topk``."""
    return [*COUNT_NAMES, *(f"launches.{family}" for family in families)]


def count(events: Iterable[Event], families: Sequence[str] = ()) -> Counts:
    """Add up ``events``; every family in ``families`` is in ``launches``, with 0 where nothing of it ran."""
    seen = list(events)
    launched = dict.fromkeys((*families, *(event.family for event in seen if event.family)))
    return Counts(
        **{name: sum(figure(event, name) for event in seen) for name in COUNT_NAMES},
        launches={family: sum(figure(event, f"launches.{family}") for event in seen) for family in launched},
    )
