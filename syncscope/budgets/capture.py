"""What was captured in a region, as its author asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from syncscope.budgets.measures import READ_KINDS
from syncscope.events import Counts, Event

if TYPE_CHECKING:
    from syncscope.observe.scope import Scope, SiteCount


class Capture:
    """What a region has done so far: everything that was heard, whether it is allowed or not.

    Events are in the order in which each first came, as often as they came.
    """

    def __init__(self, scope: Scope) -> None:
        """Capture what ``scope`` hears."""
        self._scope = scope

    @property
    def reads(self) -> list[Event]:
        """Every time the host obtained something from the device: an element, the values, a size."""
        return self._events(lambda event: event.kind in READ_KINDS)

    @property
    def scalar_reads(self) -> list[Event]:
        """The reads of one element: ``item``, ``int``, ``if``."""
        return self._events(lambda event: event.kind == "scalar_read")

    @property
    def vector_transfers(self) -> list[tuple[int, ...]]:
        """The shapes of the tensors whose values the host obtained: ``tolist``, ``cpu``, ``numpy``."""
        return [event.shape for event in self._events(lambda event: event.kind == "vector_read")]

    @property
    def size_reads(self) -> list[Event]:
        """Every time the host learned a shape: ``nonzero``, ``x[mask]``."""
        return self._events(lambda event: event.kind == "size_read")

    @property
    def waits(self) -> list[Event]:
        """Whatever made the host wait."""
        return self._events(lambda event: event.waits > 0)

    @property
    def copies(self) -> list[Event]:
        """Whatever copied memory: device to host, host to device, or on the device."""
        return self._events(lambda event: event.dtoh + event.htod + event.dtod > 0)

    @property
    def unknown(self) -> list[Event]:
        """Operators, threads and processes of which nothing is known."""
        return self._events(lambda event: event.kind == "unknown")

    @property
    def sites(self) -> list[SiteCount]:
        """The lines that did it, most frequent first."""
        return self._scope.sites

    @property
    def counts(self) -> Counts:
        """All the numbers."""
        return self._scope.counts

    def _events(self, wanted: Callable[[Event], bool]) -> list[Event]:
        return [
            heard.event
            for heard, times in self._scope.folded.items()
            if wanted(heard.event)
            for _ in range(times)
        ]
