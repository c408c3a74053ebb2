"""The lines that read, copy or wait, and what became of each between old and new."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from syncscope.comparison.results import Comparison, Range, SiteResult, SubjectRecord
from syncscope.reports import laws, words

_UNCOUNTED = ("launch", "unknown")


class Crossing(Protocol):
    """What a line did: the site of a comparison, or of a run."""

    @property
    def kind(self) -> str:
        """The kind of the event."""

    @property
    def api(self) -> str:
        """Its spelling."""

    @property
    def dtype(self) -> str:
        """The dtype of what was read or moved, empty where there is no single one."""

    @property
    def dtoh(self) -> int:
        """Copies from the device to the host."""

    @property
    def htod(self) -> int:
        """Copies from the host to the device."""

    @property
    def dtod(self) -> int:
        """Copies on the device."""

    @property
    def waits(self) -> int:
        """Waits of the host."""

    @property
    def may_wait(self) -> bool:
        """Whether the driver may wait where PyTorch doesn't."""


@dataclass(frozen=True)
class Line:
    """A site of one subject and its counterpart in the other: same spelling, same source text, or none."""

    site: SiteResult
    counterpart: SiteResult | None

    @property
    def fate(self) -> str:
        """What old's line is in new: ``gone``, ``stays``, or its new growth (``1 a call``)."""
        if self.counterpart is None:
            return "gone"
        stays = "stays" if self._same_growth() else f"{laws.text(self.counterpart.growth)} a call"
        return f"{stays}{_doubt(self.site, self.counterpart)}"

    @property
    def origin(self) -> str:
        """What new's line was in old: ``added``, ``as in old``, or its old growth (``T in old``)."""
        if self.counterpart is None:
            return "added"
        was = "as in old" if self._same_growth() else f"{laws.text(self.counterpart.growth)} in old"
        return f"{was}{_doubt(self.counterpart, self.site)}"

    def _same_growth(self) -> bool:
        return self.counterpart is not None and laws.same(self.site.growth, self.counterpart.growth)


def _doubt(old: SiteResult, new: SiteResult) -> str:
    """What no count shows: the driver may wait in one of them only."""
    if old.may_wait == new.may_wait:
        return ""
    return ", but now the driver may wait" if new.may_wait else ", but now the driver doesn't wait"


def of_old(comparison: Comparison) -> list[Line]:
    """Old's lines that read, copy or wait, in the order of the file."""
    return _lines(comparison, "old")


def of_new(comparison: Comparison) -> list[Line]:
    """New's lines that read, copy or wait: what remains."""
    return _lines(comparison, "new")


def unknown(comparison: Comparison) -> list[SiteResult]:
    """The lines of either subject whose operator is not in the cost table."""
    return [site for site in comparison.sites if site.kind == "unknown"]


def place(comparison: Comparison, site: SiteResult) -> str:
    """``examples/read_once.py:58``: the line, with the subject's path as the user wrote it."""
    return f"{_path(site.file, getattr(comparison, site.subject))}:{site.line}"


def what(site: Crossing, spell: Callable[[str], str] = str) -> str:
    """``scalar read by Tensor.item, int64: 1 DtoH copy, 1 wait``; ``spell`` marks up the names of code."""
    api = f" by {spell(site.api)}" if site.api else ""
    dtype = f", {spell(site.dtype)}" if site.dtype else ""
    return f"{words.KINDS[site.kind]}{api}{dtype}: {costs(site)}"


def a_call(site: SiteResult) -> str:
    """The site's growth in a single call, with the range where the input decides."""
    varying = [events for events in site.per_case if events.varies]
    if not varying:
        return laws.text(site.growth)
    span = Range(min(events.low for events in varying), max(events.high for events in varying))
    return f"{laws.text(site.growth)} (the input decides: {span})"


def _lines(comparison: Comparison, subject: str) -> list[Line]:
    ours = _crossing(site for site in comparison.sites if site.subject == subject)
    theirs = _crossing(site for site in comparison.sites if site.subject != subject)
    waiting = defaultdict(list)
    for site in theirs:
        waiting[_identity(site)].append(site)
    return [Line(site, waiting[key].pop(0) if waiting[key := _identity(site)] else None) for site in ours]


def _crossing(sites: Iterable[SiteResult]) -> list[SiteResult]:
    found = (site for site in sites if site.kind not in _UNCOUNTED or _moves(site))
    return sorted(found, key=lambda site: (site.file, site.line))


def _moves(site: SiteResult) -> bool:
    return site.dtoh + site.htod + site.dtod + site.waits > 0


def _identity(site: SiteResult) -> tuple[str, str, str]:
    """What makes a line the same line after an edit moved it."""
    return (site.kind, site.api, site.text or f"{site.function}:{site.line}")


def costs(site: Crossing) -> str:
    """``1 DtoH copy, 1 wait``; ``1 HtoD copy, the driver may wait``; ``no copy, no wait``."""
    copies = {"DtoH copy": site.dtoh, "HtoD copy": site.htod, "DtoD copy": site.dtod, "wait": site.waits}
    parts = [words.number(amount, name) for name, amount in copies.items() if amount]
    parts += ["the driver may wait"] * site.may_wait
    return ", ".join(parts) or "no copy, no wait"


def _path(file: str, subject: SubjectRecord) -> str:
    """A short and recognisable path: absolute ones belong to one machine only."""
    if file == subject.file:
        label = subject.label.partition("::")[0]
        return label if label.endswith(".py") else PurePath(file).name
    if "site-packages/" in file:
        return file.rpartition("site-packages/")[2]
    folder = PurePath(subject.file).parent
    return str(PurePath(file).relative_to(folder)) if PurePath(file).is_relative_to(folder) else file
