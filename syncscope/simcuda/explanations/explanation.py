"""What is told of one name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from syncscope.events import Kind


@dataclass(frozen=True)
class Explanation:
    """What is told of ``names``, of which the first is its title.

    ``what`` and ``why`` are a sentence each, ``figures`` as in an entry of the cost table; ``before`` and
    ``after`` are lines of code, the second doing with less. ``kind`` is what a report counts it as,
    ``operators`` are the ATen operators that do it. ``sparse``: told of calls with a sparse tensor only.
    """

    names: Sequence[str]
    what: str
    why: str = ""
    figures: str = ""
    versions: str = ""
    instead: str = ""
    before: str = ""
    after: str = ""
    source: str = ""
    kind: Kind | None = None
    operators: Sequence[str] = ()
    sparse: bool = False
