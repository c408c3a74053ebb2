"""What happens in a call: a scope that records events, torch.profiler beside it, and the lines that ran.

The package is callable: ``syncscope.observe()`` is a ``Scope``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syncscope.observe.scope import Scope


class _Observe(ModuleType):
    """This package, which the user calls by the name of what it makes."""

    def __call__(self, *args: Any, **kwargs: Any) -> Scope:
        from syncscope.observe.scope import Scope

        return Scope(*args, **kwargs)


sys.modules[__name__].__class__ = _Observe
