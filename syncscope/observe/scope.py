"""The scope: the context in which calls are observed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from typing_extensions import Self

from syncscope.events import Counts, Event, count
from syncscope.observe.families import family_of
from syncscope.sites import Site

if TYPE_CHECKING:
    from syncscope.simcuda.device import SimulatedDevice


@dataclass(frozen=True)
class SiteCount:
    """How often one line caused events of one kind through one spelling."""

    site: Site
    kind: str
    api: str
    events: int
    dtoh: int
    htod: int
    dtod: int
    waits: int


class Scope:
    """Records what the code inside it makes the host and the device exchange, in this thread.

        with Scope() as scope:
            mask = torch.rand(8, device="cuda") > 0.5
            int(mask.sum())
        scope.counts.scalar_reads  # 1

    With ``device="sim"``, ``cuda`` is the simulated device inside the scope; with ``device="cuda"`` a real
    GPU is watched, and its events are foretold by the same cost table: torch.profiler has the last word.
    ``count`` names ATen operators to count as launches beside top-k and scatter. ``stack`` is the number of
    the user's frames that are kept for each event.

    Raises:
        UnknownFamily: ``count`` names no operator that reaches a device.
    """

    def __init__(
        self, device: Literal["sim", "cuda"] = "sim", count: Collection[str] = (), stack: int = 1
    ) -> None:
        """Prepare; nothing is changed before the scope is entered."""
        self.events: list[Event] = []
        self._families = family_of(count)
        self._device = _device(device)(self._record, self._families, stack)

    def __enter__(self) -> Self:
        """Watch this thread from now on."""
        self._device.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put everything back as it was."""
        self._device.__exit__(kind, error, trace)

    def _record(self, event: Event) -> None:
        self.events.append(event)

    @property
    def counts(self) -> Counts:
        """Totals of all events so far."""
        return count(self.events, tuple(dict.fromkeys(self._families.values())))

    @property
    def operators(self) -> Counter[str]:
        """The ATen calls that were heard, by name and on whichever device."""
        return self._device.operators

    @property
    def kernels(self) -> set[str]:
        """The operators of whose kernels' own calls nothing was heard; it is filled as calls run."""
        return self._device.kernels

    @property
    def sites(self) -> list[SiteCount]:
        """Every line that caused an event that isn't a mere launch, most frequent first."""
        groups: dict[tuple[Site, str, str], list[Event]] = {}
        for event in self.events:
            if event.kind != "launch":
                groups.setdefault((event.site, event.kind, event.api), []).append(event)
        found = [_site_count(*key, events) for key, events in groups.items()]
        return sorted(found, key=lambda one: (-one.events, one.site))

    def reset(self) -> None:
        """Forget all events so far."""
        self.events.clear()
        self._device.operators.clear()


def _site_count(site: Site, kind: str, api: str, events: list[Event]) -> SiteCount:
    return SiteCount(
        site=site,
        kind=kind,
        api=api,
        events=len(events),
        dtoh=sum(event.dtoh for event in events),
        htod=sum(event.htod for event in events),
        dtod=sum(event.dtod for event in events),
        waits=sum(event.waits for event in events),
    )


def _device(name: str) -> type[SimulatedDevice]:
    if name == "sim":
        from syncscope.simcuda.device import SimulatedDevice

        return SimulatedDevice
    from syncscope.observe.gpu import WatchedGpu

    return WatchedGpu
