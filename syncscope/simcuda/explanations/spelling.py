"""How calls are written in Python, and which operator or function does the work."""

from __future__ import annotations

from dataclasses import dataclass

from syncscope.events import Kind


@dataclass(frozen=True)
class Spelling:
    """Calls that are written in one of ``names``; the first is their title.

    ``by`` is the ATen operator that does it (``index.Tensor``), or the function where none is heard
    (``Tensor.cpu``): what is left empty here is as stated there. ``before`` and ``after`` are run by
    the tests, with the names x, mask, index and so on.
    """

    names: tuple[str, ...]
    what: str
    by: str
    kind: Kind | None = None
    figures: str = ""
    why: str = ""
    instead: str = ""
    before: str = ""
    after: str = ""
    source: str = ""
