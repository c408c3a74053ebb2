"""What a budget limits: host reads, or everything that the host waits for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from syncscope.events import Event

READ_KINDS = {"scalar_read": "scalar", "vector_read": "vector", "size_read": "size"}


@dataclass(frozen=True)
class Measure:
    """A number that an event adds to, told apart into ``parts``; ``beside`` are numbers outside the total.

    ``amounts`` gives what one event adds to the parts and to what is beside them.
    """

    name: str
    parts: Mapping[str, tuple[str, str]]
    """The parts in the order in which they are said, with their words for one and for several."""
    amounts: Callable[[Event], dict[str, int]]
    verb: str
    beside: tuple[str, ...] = ()

    def total(self, found: Mapping[str, int]) -> int:
        """The sum of the parts."""
        return sum(number for part, number in found.items() if part not in self.beside)


def _reads(event: Event) -> dict[str, int]:
    part = READ_KINDS.get(event.kind)
    return {} if part is None else {part: 1}


def _syncs(event: Event) -> dict[str, int]:
    amounts = {_cause(event): event.waits, "copies": event.dtoh + event.htod + event.dtod}
    return {part: number for part, number in amounts.items() if number}


def _cause(event: Event) -> str:
    """Why the host waits: ``explicit`` where the code asks for just that, and no operator is involved."""
    if event.kind in READ_KINDS:
        return "reads"
    if event.kind == "upload":
        return "uploads"
    return "inside" if event.op else "explicit"


HOST_READS = Measure(
    "host reads",
    {"scalar": ("scalar", "scalar"), "vector": ("vector", "vector"), "size": ("size", "size")},
    _reads,
    verb="read",
)
SYNCS = Measure(
    "syncs",
    {
        "reads": ("read", "reads"),
        "uploads": ("upload", "uploads"),
        "explicit": ("explicit", "explicit"),
        "inside": ("inside an operator", "inside operators"),
        "copies": ("copy", "copies"),
    },
    _syncs,
    verb="wait",
    beside=("copies",),
)
"""A sync is a wait of the host. Uploads from pinned memory that aren't waited for are none; copies are
memcpys of all directions, those that stay on the device too."""
