"""What is kept of a timed case. Imports no torch, no numpy and no scipy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from msgspec import Meta

from syncscope.events import Side

TimedOn = Literal["cpu", "cuda"]
Times = Annotated[list[Annotated[int, Meta(gt=0)]], Meta(min_length=1)]
Positive = Annotated[float, Meta(gt=0, le=1e18)]
Probability = Annotated[float, Meta(ge=0, le=1)]
Verdict = Literal["faster", "slower", "no difference", "inconclusive"]


@dataclass(frozen=True)
class Timing:
    """How each row is timed.

    A row goes on while its noise could hide a difference that counts, to ``prolong`` times ``iterations``.
    ``budget_s`` stands in place of both where it is given. ``rotate`` sets of inputs are made once and used
    in turn; 0: every call has fresh ones. A row slower than ``recheck_beyond`` (a fraction) is run again, in
    trials of ``recheck_iterations``.
    """

    warmups: int = 25
    iterations: int = 100
    prolong: int = 10
    budget_s: float | None = None
    rotate: int = 0
    threads: int = 1
    recheck_beyond: float = 0.03
    recheck_iterations: int = 500


@dataclass(frozen=True)
class Samples:
    """Raw times in nanoseconds, in the order in which they were taken.

    ``host`` are times of the caller, of each side; on a GPU from an idle device to an idle device, and
    ``device`` are the events' times beside them, else empty. ``order`` has a letter a call and a word a block
    (``onno noon``). ``repeated`` calls were made again, since the kernel had interrupted them or
    their counterpart.
    """

    host: dict[Side, Times]
    order: Annotated[str, Meta(pattern="^[on ]*$")]
    device: dict[Side, Times] = field(default_factory=dict)
    repeated: int = 0

    def __post_init__(self) -> None:
        """Refuse what no run can have left.

        Raises:
            ValueError: old and new have not equally many samples.
        """
        for times in (self.host, self.device):
            if len(times.get("old", ())) != len(times.get("new", ())):
                raise ValueError("old and new have to have equally many samples")
        if not self.host:
            raise ValueError("there are no samples")


@dataclass(frozen=True)
class Quantiles:
    """Of the samples of one side, in nanoseconds."""

    p20: Positive
    p50: Positive
    p80: Positive


@dataclass(frozen=True)
class Interval:
    """Where a figure lies with 95 % confidence."""

    low: float
    high: float


@dataclass(frozen=True)
class DeviceTimes:
    """What the device took, between two events on the current stream: medians in nanoseconds."""

    old: Positive
    new: Positive

    @property
    def speedup(self) -> float:
        """Old's by new's."""
        return self.old / self.new


@dataclass(frozen=True)
class Recheck:
    """The speedup of a row that looked slower, in each of some longer trials in alternating order.

    ``iterations`` are those of the shortest trial. It ``holds`` where the median is beyond the limit and all
    trials are slower. ``trials`` are the raw times of each.
    """

    iterations: int
    speedups: Annotated[list[Positive], Meta(min_length=1)]
    speedup: Positive
    holds: bool
    trials: list[Samples] = field(default_factory=list)


@dataclass(frozen=True)
class Latency:
    """What the samples of one case say.

    ``speedup`` is old's median by new's, above 1 where new is faster; ``interval`` is that of the speedup,
    absent where there are too few blocks. ``p`` is the probability of such samples if old and new were equal,
    by swaps in the blocks, ``mann_whitney`` that if each sample were drawn by itself. ``superiority`` is the
    part of all pairs of an old and a new call in which new took less time. ``smallest_visible`` is the
    difference that a run like this one sees four times in five, as a fraction; absent where it can see none.
    ``corrected_p``, ``corrected_visible`` and ``corrected`` are p, that difference and the verdict with
    regard to the number of rows. ``device`` is there on a GPU.
    """

    on: TimedOn
    samples: Samples
    old: Quantiles
    new: Quantiles
    speedup: Positive
    interval: Interval | None
    p: Probability
    mann_whitney: Probability
    superiority: Probability
    smallest_visible: float | None
    verdict: Verdict
    corrected_p: Probability
    corrected_visible: float | None
    corrected: Verdict
    device: DeviceTimes | None = None
    recheck: Recheck | None = None

    @property
    def iterations(self) -> int:
        """How many samples each side has."""
        return len(self.samples.host["old"])

    @property
    def saved_ns(self) -> float:
        """What a call of new takes less than one of old, by the medians."""
        return self.old.p50 - self.new.p50

    @property
    def is_within_noise(self) -> bool:
        """Whether it is faster or slower by the test, while its interval says that it may be neither."""
        told = self.corrected in ("faster", "slower")
        return told and self.interval is not None and self.interval.low <= 1 <= self.interval.high

    @property
    def is_by_chance(self) -> bool:
        """Whether its interval says that it is faster or slower, and the test among all rows doesn't."""
        interval = self.interval
        told = self.corrected == "no difference"
        return told and interval is not None and not interval.low <= 1 <= interval.high

    @property
    def regressed(self) -> bool:
        """Whether new is slower and stayed so when it was looked at again."""
        return self.recheck is not None and self.recheck.holds
