"""The options that say how a row is timed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from syncscope.cli.options import number
from syncscope.subjects import Unusable

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


class _Percent(click.ParamType[float]):
    """Some percent, at least 0."""

    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """``3`` and ``0.5``."""
        try:
            found = float(value)
        except (TypeError, ValueError):
            found = math.nan
        if not math.isfinite(found) or found < 0:
            self.fail(f"{value!r} is no number of percent: write for example 3 or 0.5", param, ctx)
        return found


_CALLS = 1_000_000  # every sample is kept

_TIMING: tuple[Callable[[Any], Any], ...] = (
    number(
        "--warmups",
        least=0,
        most=_CALLS,
        default=25,
        help="Calls of each side that aren't timed, in every row.",
    ),
    number("--iterations", least=1, most=_CALLS, default=100, help="Samples of each side in every row."),
    number(
        "--prolong",
        least=1,
        most=1_000,
        default=10,
        help="A row goes on while its noise could hide 10 %, to so many times its iterations; 1: none does.",
    ),
    click.option(
        "--time-budget",
        type=_Seconds(),
        metavar="60s",
        help="In place of --iterations and --prolong: so long for a row, less where that is enough.",
    ),
    number(
        "--rotate",
        least=0,
        most=10_000,
        default=0,
        help="Make so many inputs once and use them in turn; 0: fresh ones.",
    ),
    number("--threads", least=1, most=1_024, default=1, help="Threads that torch may use on the CPU."),
    click.option(
        "--recheck-beyond",
        type=_Percent(),
        default=3.0,
        show_default=True,
        metavar="PERCENT",
        help="Run a row again that is slower by more: five trials in alternating order.",
    ),
    number(
        "--recheck-iterations",
        least=1,
        most=_CALLS,
        default=500,
        help="Samples of each side in such a trial.",
    ),
)


def timing(command: _F) -> _F:
    """Decorate a command with what says how rows are timed."""
    for option in reversed(_TIMING):
        command = option(command)
    return command


def timing_of(given: dict[str, Any], seeds: int) -> Timing:
    """Take the values of these options out of ``given``.

    Raises:
        Unusable: two of them contradict each other, or there are fewer inputs to rotate than ``seeds``.
    """
    from syncscope.latency.record import Timing

    _choose_length(given)
    if 0 < given["rotate"] < seeds:
        raise Unusable(
            f"rotate: {given['rotate']} inputs have no room for {seeds} seeds: "
            f"give --rotate {seeds} or more, or fewer --seeds"
        )
    return Timing(
        warmups=given.pop("warmups"),
        iterations=given.pop("iterations"),
        prolong=given.pop("prolong"),
        budget_s=given.pop("time_budget"),
        rotate=given.pop("rotate"),
        threads=given.pop("threads"),
        recheck_beyond=given.pop("recheck_beyond") / 100,
        recheck_iterations=given.pop("recheck_iterations"),
    )


def _choose_length(given: dict[str, Any]) -> None:
    """A time budget stands in place of iterations; the command line's choice wins over a setting's."""
    source = click.get_current_context().get_parameter_source
    for name in ("iterations", "prolong"):
        if given["time_budget"] is None or source(name) is ParameterSource.DEFAULT:
            continue
        if source(name) is source("time_budget"):
            raise Unusable(f"time-budget: stands in place of --{name}: give one of them")
        if source(name) is ParameterSource.COMMANDLINE:
            given["time_budget"] = None
