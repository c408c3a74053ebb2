"""The markers of a test, and the budgets that they set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from syncscope.budgets.budget import Budget, WrongBudget, limited, no_host_reads, no_syncs
from syncscope.budgets.measures import HOST_READS, SYNCS, Measure

_FAMILIES = (("host_reads", "no_host_reads"), ("syncs", "no_syncs"))


def budgets(item: pytest.Item) -> list[Budget]:
    """The budgets of ``item``: of reads and of syncs, each from the mark that stands closest to it.

    Raises:
        WrongBudget: a mark says nothing, contradicts itself, or there are two of a kind.
    """
    return [_budget(mark) for names in _FAMILIES if (mark := _closest(item, names)) is not None]


def _closest(item: pytest.Item, names: tuple[str, ...]) -> pytest.Mark | None:
    """A parameter's own mark before the function's, the function's before the class's and the module's."""
    parameters = getattr(getattr(item, "callspec", None), "marks", ())
    own = [mark for mark in parameters if mark.name in names]
    if own:
        return own[-1]  # type: ignore[no-any-return]
    found = [(node, mark) for node, mark in item.iter_markers_with_node() if mark.name in names]
    nearest = [mark for node, mark in found if node is found[0][0]]
    if len(nearest) > 1 and found[0][0] is item:
        raise WrongBudget(
            f"two budgets of a kind, {' and '.join(mark.name for mark in nearest)}: keep one of them"
        )
    return nearest[-1] if nearest else None


def _budget(mark: pytest.Mark) -> Budget:
    try:
        return _MADE[mark.name](mark)
    except WrongBudget as error:
        raise WrongBudget(f"@pytest.mark.{mark.name}: {error}") from None


def _limited(measure: Measure, parts: tuple[str, ...]) -> Callable[[pytest.Mark], Budget]:
    def made(mark: pytest.Mark) -> Budget:
        given = _arguments(mark, ("exactly", "max", *parts, "allow_idle"))
        return limited(
            measure,
            given.get("exactly"),
            given.get("max"),
            {part: given.get(part) for part in parts},
            bool(given.get("allow_idle")),
        )

    return made


def _none(made: Callable[..., Budget]) -> Callable[[pytest.Mark], Budget]:
    return lambda mark: made(bool(_arguments(mark, ("allow_idle",)).get("allow_idle")))


def _arguments(mark: pytest.Mark, names: tuple[str, ...]) -> Mapping[str, Any]:
    strange = [name for name in mark.kwargs if name not in names]
    if mark.args or strange:
        given = ", ".join([*map(repr, mark.args), *strange])
        raise WrongBudget(f"{given} can't be taken: its arguments are {'=, '.join(names)}=")
    return mark.kwargs


_MADE: dict[str, Callable[[pytest.Mark], Budget]] = {
    "host_reads": _limited(HOST_READS, ("scalar", "vector", "size")),
    "no_host_reads": _none(no_host_reads),
    "syncs": _limited(SYNCS, ("reads", "uploads", "explicit", "copies")),
    "no_syncs": _none(no_syncs),
}
