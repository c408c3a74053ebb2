"""What a program leaves for the very end of Python, after every exit handler, and so after the report."""

from __future__ import annotations

import gc
from types import FunctionType

from syncscope.observe.ownership import is_own


def unfinished() -> list[str]:
    """A sentence for each ``__del__`` of the user's own whose objects are still alive."""
    kinds = {type(one) for one in gc.get_objects()}
    methods = {getattr(kind, "__del__", None) for kind in kinds}
    own = (one for one in methods if isinstance(one, FunctionType) and is_own(one.__code__))
    return sorted(
        f"{one.__qualname__} ({one.__code__.co_filename}:{one.__code__.co_firstlineno}) runs when Python "
        "ends, after this report: what it reads and waits for isn't counted; delete its objects before"
        for one in own
    )
