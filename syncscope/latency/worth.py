"""What the removed waits are worth: saved time against waits removed, over the rows of one machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from syncscope.latency.record import Interval

FEWEST_ROWS = 3


@dataclass(frozen=True)
class Worth:
    """A line through saved time over waits removed, one point a row.

    ``per_wait_us`` is its slope with a 95 % interval, ``fixed_us`` what is saved where no wait is removed.
    ``explained`` is the part of the whole gain that the slope accounts for, ``r_squared`` the part of the
    differences between rows that the line does.
    """

    rows: int
    per_wait_us: float
    interval: Interval
    fixed_us: float
    explained: float | None
    r_squared: float


def fitted(removed: Sequence[float], saved_us: Sequence[float]) -> Worth | None:
    """Fit the line; nothing where there are too few rows, or nothing varies over them.

    The slope's interval is Student's; ``explained`` is absent where nothing was gained in all.
    """
    if len(removed) < FEWEST_ROWS or len(set(removed)) == 1 or len(set(saved_us)) == 1:
        return None
    from scipy import stats

    line = stats.linregress(removed, saved_us)
    margin = float(stats.t.ppf(0.975, len(removed) - 2) * line.stderr)
    slope, gained = float(line.slope), sum(saved_us)
    return Worth(
        rows=len(removed),
        per_wait_us=slope,
        interval=Interval(slope - margin, slope + margin),
        fixed_us=float(line.intercept),
        explained=slope * sum(removed) / gained if gained > 0 else None,
        r_squared=float(line.rvalue) ** 2,
    )
