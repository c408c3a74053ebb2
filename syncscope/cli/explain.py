"""``syncscope explain``: what a name in a report is, why it waits, and what is done instead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from syncscope.cli.exit_codes import FINE
from syncscope.subjects import Unusable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from syncscope.simcuda.explanations.explanation import Explanation

_NAMES_SHOWN = 8


@click.command("explain")
@click.argument("kind", required=False)
def command(kind: str | None) -> int:
    """Explain KIND: what it is, why and when it waits, how much, and what is done instead.

    KIND is what a report names: a kind of event (scalar_read, upload), a call as it is written (item, if,
    'x[mask]', torch.unique), or an ATen operator (aten::nonzero). Without KIND all that is known is listed.
    """
    from syncscope.cli.terminal import StandardOutput

    console = StandardOutput()
    if kind is None:
        _overview(console)
    else:
        for number, one in enumerate(_found(kind)):
            if number:
                console.print()
            _tell(one, console)
    return FINE


def _found(kind: str) -> list[Explanation]:
    from syncscope.simcuda.explanations import lookup

    found = lookup.find(kind)
    if not found:
        close = ", ".join(lookup.closest(kind))
        hint = f"did you mean {close}?" if close else "name a kind of event, a call or an ATen operator;"
        raise Unusable(f"explain: nothing is known of {kind!r}; {hint} `syncscope explain` lists all")
    return found


def _tell(one: Explanation, console: Console) -> None:
    from rich.text import Text

    console.print(Text(_title(one), style="bold"))
    console.print(_rows(_facts(one)))


def _title(one: Explanation) -> str:
    shown, more = one.names[:_NAMES_SHOWN], len(one.names) - _NAMES_SHOWN
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _facts(one: Explanation) -> Iterator[tuple[str, str]]:
    """The labelled lines of one explanation; what isn't known is left out."""
    from syncscope.simcuda.explanations.figures import clauses

    facts = {
        "what": one.what,
        "counted as": (one.kind or "").replace("_", " ") if one.kind not in one.names else "",
        "only with": "a sparse tensor among the arguments" if one.sparse else "",
        "why": one.why,
        "how much": "\n".join(map(str, clauses(one.figures))) if one.figures else "",
        "versions": one.versions,
        "instead": one.instead,
        "before": one.before,
        "after": one.after,
        "operator": ", ".join(one.operators),
        "source": one.source,
    }
    return ((label, fact) for label, fact in facts.items() if fact)


def _rows(facts: Iterable[tuple[str, str]]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="dim")
    table.add_column(overflow="fold")
    for label, fact in facts:
        table.add_row(Text(f"  {label}"), Text(fact))
    return table


def _overview(console: Console) -> None:
    from rich.text import Text

    from syncscope.simcuda.explanations import known
    from syncscope.simcuda.explanations.kinds import KINDS

    sections = {
        "Kinds of events": [(one.names[0], one.what) for one in KINDS],
        "Calls": [(one.names[0], _first_figure(one)) for one in known.of_spellings()],
        "Other functions": [(one.names[0], _first_figure(one)) for one in known.of_other_functions()],
    }
    for title, facts in sections.items():
        console.print(Text(title, style="bold"))
        console.print(_rows(facts))
        console.print()
    _families(console)


def _first_figure(one: Explanation) -> str:
    return one.figures.partition("; ")[0]


def _families(console: Console) -> None:
    from rich.text import Text

    from syncscope.simcuda.explanations import known
    from syncscope.simcuda.explanations.figures import waits

    console.print(Text("ATen operators by family", style="bold"))
    for family, entries in known.families().items():
        waiting = [name for entry in entries if waits(entry.figures) for name in entry.operators]
        others = [name for entry in entries if not waits(entry.figures) for name in entry.operators]
        console.print(Text(f"  {family}"))
        lines = {"  may wait": ", ".join(waiting), "  no wait": ", ".join(others)}
        console.print(_rows((label, names) for label, names in lines.items() if names))
