"""syncscope: find, count and compare the places where Python waits for a GPU."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from syncscope.observe.allowances import allowed
    from syncscope.observe.scope import Scope as observe

__version__ = "0.1.0"
__all__ = ["__version__", "allowed", "observe"]


def __getattr__(name: str) -> Any:
    """Import the packages that users call from here only when they are asked for."""
    if name == "observe":
        return import_module("syncscope.observe")
    if name == "allowed":
        return import_module("syncscope.observe.allowances").allowed
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
