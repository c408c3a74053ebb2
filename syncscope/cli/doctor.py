"""``syncscope doctor``: does the probe bite on this installation?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from syncscope.cli import options
from syncscope.cli.exit_codes import FINDING, FINE

if TYPE_CHECKING:
    from rich.table import Table

    from syncscope.comparison.results import Environment
    from syncscope.observe.planted import Finding


@click.command("doctor")
@options.device
def command(device: Literal["auto", "cuda", "sim"]) -> int:
    """Plant a read of each spelling, and a clean function: does the probe see all, and nothing else?"""
    from syncscope.cli.terminal import StandardOutput
    from syncscope.comparison.environment import environment
    from syncscope.comparison.run import resolved
    from syncscope.observe.planted import examine

    on = resolved(device)
    findings = examine("cuda" if on == "cuda" else "sim")
    missed = [finding for finding in findings if not finding.right]
    console = StandardOutput()
    console.print(_table(findings))
    console.print(_verdict(findings, missed), highlight=False)
    console.print(_versions(environment(on)), highlight=False)
    return FINDING if missed else FINE


def _table(findings: list[Finding]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table("planted", "expected", "seen", "", box=None, pad_edge=False)
    for finding in findings:
        seen = finding.error or _counts(finding.seen)
        row = (
            finding.plant.spelling,
            _counts(finding.plant.expected),
            seen,
            "ok" if finding.right else "WRONG",
        )
        table.add_row(*map(Text, row))
    return table


def _counts(figures: tuple[int, int, int, int]) -> str:
    """``1 scalar read``; ``nothing``."""
    names = ("scalar read", "vector read", "size read", "upload")
    told = [f"{n} {name}{'s' if n > 1 else ''}" for n, name in zip(figures, names, strict=True) if n]
    return ", ".join(told) or "nothing"


def _verdict(findings: list[Finding], missed: list[Finding]) -> str:
    if not missed:
        return f"The probe saw all {len(findings)} plants as they are, and nothing else."
    names = ", ".join(finding.plant.spelling for finding in missed)
    return (
        f"The probe was wrong about {len(missed)} of {len(findings)} plants: {names}. "
        "Don't trust counts made on this installation; report it with the lines above."
    )


def _versions(here: Environment) -> str:
    gpu = f", {here.gpu}, driver {here.driver}, CUDA {here.cuda}" if here.gpu else ""
    return f"device {here.device}{gpu}, torch {here.torch}, Python {here.python}, {here.platform}"
