"""What becomes of an address: whether the expression that asks for it lets it go anywhere."""

from __future__ import annotations

import ast
import linecache
import sys
from functools import cache
from types import CodeType, FrameType

_LARGEST_MASK = 4096
"""A page: what such a mask leaves of an address says how it is aligned, and no more."""

if sys.version_info >= (3, 11):

    def is_only_compared(caller: FrameType) -> bool:
        """Whether the call that ``caller`` is making is at once compared, tested, or taken by a remainder.

        Such an address is gone with its expression: nobody can read what it points to. One that is kept,
        passed on or printed may be read by anybody. Where there is no source, it isn't known.
        """
        return _is_only_compared(caller.f_code, caller.f_lasti)

else:

    def is_only_compared(caller: FrameType) -> bool:
        """False: this Python doesn't tell which of the calls in a line is being made."""
        return False


@cache
def _is_only_compared(code: CodeType, instruction: int) -> bool:
    found = _around(code.co_filename).get(list(code.co_positions())[instruction // 2])  # type: ignore[attr-defined]
    if found is None:
        return False
    call, parent = found
    if isinstance(parent, ast.BinOp):
        return parent.left is call and _keeps_no_address(parent)
    tested = getattr(parent, "test", None) is call
    return tested or isinstance(parent, ast.Compare) or _negates(parent)


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
