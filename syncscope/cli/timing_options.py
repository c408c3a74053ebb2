"""The options that say how a row is timed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from syncscope.cli.options import number

if TYPE_CHECKING:
    from syncscope.latency.record import Timing

_F = TypeVar("_F", bound=Callable[..., Any])

_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0}


class _Seconds(click.ParamType[float]):
    """A time with its unit, in seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """``60s``, ``500ms`` and ``2m``."""
        if isinstance(value, float):
            return value
        found = re.fullmatch(r"(\d+\.?\d*|\.\d+)(ms|s|m)", str(value).strip(), re.ASCII)
        if not found or float(found[1]) == 0:
            self.fail(f"{value!r} is no time: write for example 60s, 500ms or 2m", param, ctx)
        return float(found[1]) * _SECONDS[found[2]]


_TIMING: tuple[Callable[[Any], Any], ...] = (
    number("--warmups", least=0, default=25, help="Calls of each side that aren't timed, in every row."),
    number("--iterations", least=1, default=100, help="Samples of each side in every row."),
    click.option(
        "--time-budget",
        type=_Seconds(),
        metavar="60s",
        help="In place of --iterations: so long for a row, less where its interval is narrow sooner.",
    ),
    number(
        "--rotate", least=0, default=0, help="Make so many inputs once and use them in turn; 0: fresh ones."
    ),
    number("--threads", least=1, default=1, help="Threads that torch may use on the CPU."),
    click.option(
        "--recheck-beyond",
        type=click.FloatRange(min=0),
        default=3.0,
        show_default=True,
        metavar="PERCENT",
        help="Run a row again that is slower by more: five trials in alternating order.",
    ),
    number("--recheck-iterations", least=1, default=500, help="Samples of each side in such a trial."),
)


def timing(command: _F) -> _F:
    """Decorate a command with what says how rows are timed."""
    for option in reversed(_TIMING):
        command = option(command)
    return command


def timing_of(given: dict[str, Any]) -> Timing:
    """Take the values of these options out of ``given``."""
    from syncscope.latency.record import Timing

    return Timing(
        warmups=given.pop("warmups"),
        iterations=given.pop("iterations"),
        budget_s=given.pop("time_budget"),
        rotate=given.pop("rotate"),
        threads=given.pop("threads"),
        recheck_beyond=given.pop("recheck_beyond") / 100,
        recheck_iterations=given.pop("recheck_iterations"),
    )
