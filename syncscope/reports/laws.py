"""Growth laws as reports say them."""

from __future__ import annotations

from syncscope.comparison.results import Law


def text(law: Law) -> str:
    """The law's text; what happens in a branch only reads ``1 where lines 71-75 run``."""
    return law.text.removeprefix("0 (+").removesuffix(")") if _in_one_branch(law) else law.text


def same(old: Law, new: Law) -> bool:
    """Whether two laws say the same; the lines of a branch may have moved."""
    return _without_lines(old) == _without_lines(new)


def change(old: Law, new: Law) -> str:
    """``T + 1 → 1 (+2 where lines 71-75 run)``; an addition that both have is said once, with new's lines."""
    shared = new.extras and [extra.law for extra in old.extras] == [extra.law for extra in new.extras]
    return f"{_main_part(old) if shared else old.text} → {new.text}"


def _in_one_branch(law: Law) -> bool:
    return law.text.startswith("0 (+") and len(law.extras) == 1


def _main_part(law: Law) -> str:
    return law.text.partition(" (+")[0]


def _without_lines(law: Law) -> tuple[object, ...]:
    extras = [extra.law for extra in law.extras]
    return (law.kind, law.base, law.slope, law.variable, law.values, extras)
