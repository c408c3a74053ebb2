"""The plots of a benchmark, for light and for dark pages; marks and dashes tell what colours do as well."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syncscope.bench.record import Bench, Row
from syncscope.comparison.results import write_whole
from syncscope.latency.record import Latency
from syncscope.latency.statistics import geometric_mean
from syncscope.reports import bench_rows, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = (7.0, 4.2)
_MARKS = "osD^vPX*"
_DASHES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class Theme:
    """Colours of a page, and of the series on it: Okabe and Ito's, which the colour-blind can tell apart."""

    name: str
    page: str
    ink: str
    series: tuple[str, ...]


_THEMES = (
    Theme("light", "#ffffff", "#1f2328", ("#0072b2", "#d55e00", "#009e73", "#cc79a7")),
    Theme("dark", "#0d1117", "#e6edf3", ("#56b4e9", "#e69f00", "#2fbf9b", "#e9a3c9")),
)


def draw(bench: Bench, folder: Path) -> list[Path]:
    """Write each plot for which there are figures as ``NAME-light.svg`` and ``NAME-dark.svg``.

    The folder is made if there is any.

    Raises:
        OSError: the folder can't be made or written.
    """
    written = []
    for name, plot in _plots(bench):
        folder.mkdir(exist_ok=True)
        for theme in _THEMES:
            path = folder / f"{name}-{theme.name}.svg"
            write_whole(path, _svg(plot, theme))
            written.append(path)
    return written


Plot = Callable[["Axes", Theme], None]


def _plots(bench: Bench) -> Iterator[tuple[str, Plot]]:
    timed = [row for row in bench.rows if row.latency]
    variable = _along(bench)
    if timed and variable:
        yield "speedup", lambda axes, theme: _speedup(axes, theme, bench, variable)
    if timed:
        yield "distribution", lambda axes, theme: _distribution(axes, theme, bench, _typical(timed))
    if any(row.removed is not None for row in timed):
        yield "worth", lambda axes, theme: _worth(axes, theme, bench)


def _svg(plot: Plot, theme: Theme) -> bytes:
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    colours = dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), theme.ink)
    faces = {"figure.facecolor": theme.page, "axes.facecolor": theme.page, "legend.facecolor": theme.page}
    text = {"text.color": theme.ink, "svg.hashsalt": "syncscope", "svg.fonttype": "none"}
    settings: Any = {**text, **colours, **faces}
    with matplotlib.rc_context(settings):
        figure = Figure(figsize=_SIZE, layout="constrained")
        axes = figure.add_subplot()
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.2, color=theme.ink)
        plot(axes, theme)
        # Below, where it hides no figure.
        figure.legend(loc="outside lower center", ncols=2, frameon=False)
        image = io.BytesIO()
        # Without a date, equal figures make equal files.
        FigureCanvasSVG(figure).print_svg(image, metadata={"Date": None})  # type: ignore[no-untyped-call]
    return image.getvalue()


def _along(bench: Bench) -> str:
    """What speedup is drawn over: frames, else the first variable of numbers that varies."""
    names = [name for name in bench_rows.variables(bench) if _is_numeric(bench, name)]
    return "frames" if "frames" in names else next(iter(names), "")


def _is_numeric(bench: Bench, name: str) -> bool:
    values = {row.sweep[name] for row in bench.rows}
    return len(values) > 1 and not any(isinstance(value, str) for value in values)


def _speedup(axes: Axes, theme: Theme, bench: Bench, variable: str) -> None:
    """A series a dtype and machine: the geometric mean at each point, and its rows' intervals' reach."""
    beside = _scale(axes, bench, variable)
    for at, (name, rows) in enumerate(_series(bench).items()):
        points = sorted({row.sweep[variable] for row in rows}, key=float)
        groups = [[row.latency for row in rows if row.latency and row.sweep[variable] == x] for x in points]
        means = [geometric_mean([latency.speedup for latency in group]) for group in groups]
        axes.errorbar(
            [beside(float(x), at) for x in points],
            means,
            yerr=_reach(groups, means),
            color=theme.series[at % len(theme.series)],
            marker=_MARKS[at % len(_MARKS)],
            linestyle=_DASHES[at % len(_DASHES)],
            capsize=3,
            label=name,
        )
    axes.axhline(1, color=theme.ink, linewidth=0.8)
    axes.xaxis.set_major_formatter(_plain)
    axes.set_xlabel(_axis(variable))
    axes.set_ylabel("speedup, old p50 / new p50")
    axes.set_title(f"Speedup over {variable.replace('_', ' ')}, with the reach of the 95 % intervals")


def _scale(axes: Axes, bench: Bench, variable: str) -> Callable[[float, int], float]:
    """Choose the scale of x: doublings, or even steps where a value has none, being 0 or below.

    Returns:
        Where the series with a number has its point: beside the others', so that no interval hides another.
    """
    values = [float(row.sweep[variable]) for row in bench.rows]
    if min(values) > 0:
        axes.set_xscale("log", base=2)
        return lambda x, at: x * 1.03**at
    step = 0.01 * (max(values) - min(values))
    return lambda x, at: x + step * at


def _series(bench: Bench) -> dict[str, list[Row]]:
    """The timed rows by machine and dtype."""
    found: dict[str, list[Row]] = {}
    for row in bench.rows:
        if row.latency:
            machine = row.machine.name if bench.has_unlike_machines else ""
            name = ", ".join(filter(None, (str(row.sweep.get("dtype", "")), machine))) or "all rows"
            found.setdefault(name, []).append(row)
    return found


def _reach(groups: Sequence[Sequence[Latency]], means: Sequence[float]) -> list[list[float]]:
    """From each mean down to the lowest end and up to the highest end of its rows' intervals."""
    below, above = [], []
    for group, mean in zip(groups, means, strict=True):
        lows = [latency.interval.low if latency.interval else latency.speedup for latency in group]
        highs = [latency.interval.high if latency.interval else latency.speedup for latency in group]
        below.append(max(0.0, mean - min(lows)))
        above.append(max(0.0, max(highs) - mean))
    return [below, above]


def _typical(timed: Sequence[Row]) -> Row:
    """The row with the middle speedup."""
    return sorted(timed, key=lambda row: row.latency.speedup if row.latency else 0)[len(timed) // 2]


def _distribution(axes: Axes, theme: Theme, bench: Bench, row: Row) -> None:
    """What part of the samples took at most so long, of old and new in one row."""
    assert row.latency is not None
    for at, (side, samples) in enumerate(row.latency.samples.host.items()):
        axes.ecdf(
            [ns / 1e3 for ns in samples],
            color=theme.series[at],
            linestyle=_DASHES[at],
            linewidth=1.8,
            label=side,
        )
        median = (row.latency.old if side == "old" else row.latency.new).p50 / 1e3
        axes.plot([median], [0.5], _MARKS[at], color=theme.series[at], label=f"{side}'s median")
    times = list(chain.from_iterable(row.latency.samples.host.values()))
    if max(times) > 10 * min(times):
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter("")
    axes.xaxis.set_major_formatter(_plain)
    axes.set_xlabel(f"µs a call, {_kind(row)}")
    axes.set_ylabel("part of the samples that took at most so long")
    axes.set_title(f"The row with the middle speedup: {bench_rows.label(bench, row)}", fontsize="medium")


def _worth(axes: Axes, theme: Theme, bench: Bench) -> None:
    """A point a row, and the fitted line of each machine."""
    for at, (name, rows) in enumerate(_series(bench).items()):
        points = [(row.removed, row.latency.saved_ns / 1e3) for row in rows if row.latency and row.counts]
        if not points:
            continue
        axes.plot(
            *zip(*points, strict=True),
            _MARKS[at % len(_MARKS)],
            color=theme.series[at % len(theme.series)],
            fillstyle="none",
            label=name,
        )
    for at, summary in enumerate(bench.summaries):
        found = summary.worth
        if found:
            ends = _ends(bench, summary.machine)
            line = [found.fixed_us + found.per_wait_us * removed for removed in ends]
            machine = f"{summary.machine}: " if bench.has_unlike_machines else ""
            axes.plot(
                ends,
                line,
                _DASHES[at % len(_DASHES)],
                color=theme.ink,
                linewidth=1,
                label=f"{machine}{found.per_wait_us:.2f} µs a wait",
            )
    axes.set_xlabel("waits removed from a call (counted on a simulated GPU)")
    axes.set_ylabel(f"µs saved a call, {_kind(bench.rows[0])}")
    axes.set_title("Saved time against removed waits")


def _plain(value: float, _: object) -> str:
    """A tick's label without powers of ten."""
    return f"{value:g}"


def _ends(bench: Bench, machine: str) -> list[float]:
    """The fewest and the most waits that were removed in the rows of one machine."""
    rows = (row for row in bench.rows if row.latency and row.machine.name == machine)
    removed = [row.removed for row in rows if row.removed is not None]
    return [min(removed), max(removed)]


def _kind(row: Row) -> str:
    return "GPU" if row.machine.device == "cuda" else "CPU time, not a GPU's"


def _axis(variable: str) -> str:
    symbol = words.symbol(variable)
    return variable.replace("_", " ") + (f", {symbol}" if symbol != variable else "")
