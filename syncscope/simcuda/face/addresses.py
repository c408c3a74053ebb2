"""What becomes of an address: whether the expression that asks for it lets it go anywhere."""

from __future__ import annotations

import ast
import linecache
import sys
from functools import cache
from types import CodeType, FrameType

_LARGEST_MASK = 4096
"""A page: what such a mask leaves of an address says how it is aligned, and no more."""

_BY_KEY = {"add": 1, "discard": 1, "remove": 1, "get": 2, "setdefault": 2, "pop": 2}
"""Methods of sets and dicts that take a key first, and their most arguments."""

if sys.version_info >= (3, 11):

    def goes_nowhere(caller: FrameType) -> bool:
        """Whether what ``caller`` is asking for is at once compared, tested, a key, or taken by a remainder.

        Such an address is gone with its expression, or tells tensors apart: nobody reads what is there. One
        that is kept, passed on or printed may be read by anybody. Where there is no source, it isn't known.
        """
        return _goes_nowhere(caller.f_code, caller.f_lasti)

else:

    def goes_nowhere(caller: FrameType) -> bool:
        """False: this Python doesn't tell which of the calls in a line is being made."""
        return False


@cache
def _goes_nowhere(code: CodeType, instruction: int) -> bool:
    found = _around(code.co_filename).get(list(code.co_positions())[instruction // 2])  # type: ignore[attr-defined]
    if found is None:
        return False
    call, parent = found
    if isinstance(parent, ast.BinOp):
        return parent.left is call and _keeps_no_address(parent)
    tested = getattr(parent, "test", None) is call
    return tested or isinstance(parent, ast.Compare) or _negates(parent) or _is_key(call, parent)


def _is_key(call: ast.Call, parent: ast.AST) -> bool:
    """``d[address]``, ``{address: 1}``, ``{address for ...}``, ``seen.add(address)``."""
    if isinstance(parent, ast.Call):
        return parent.args[:1] == [call] and _asks_by_key(parent)
    keys = getattr(parent, "keys", None) or (getattr(parent, "key", None), getattr(parent, "slice", None))
    return call in keys or isinstance(parent, (ast.Set, ast.SetComp))


def _asks_by_key(call: ast.Call) -> bool:
    """Whether this is a method that sets or dicts have, with no argument more than theirs."""
    most = _BY_KEY.get(getattr(call.func, "attr", ""), 0)
    return len(call.args) + len(call.keywords) <= most


def _keeps_no_address(operation: ast.BinOp) -> bool:
    """``address % 16``, ``address & 15``."""
    if isinstance(operation.op, ast.Mod):
        return True
    mask = getattr(operation.right, "value", None)
    return isinstance(operation.op, ast.BitAnd) and isinstance(mask, int) and 0 <= mask < _LARGEST_MASK


def _negates(parent: ast.AST) -> bool:
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)


Place = tuple[int | None, int | None, int | None, int | None]


@cache
def _around(file: str) -> dict[Place, tuple[ast.Call, ast.AST]]:
    """Every call in a file by where it stands, with what it stands in."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return {}
    return {
        (call.lineno, call.end_lineno, call.col_offset, call.end_col_offset): (call, parent)
        for parent in ast.walk(tree)
        for call in ast.iter_child_nodes(parent)
        if isinstance(call, ast.Call)
    }
