"""A tool number of ``sys.monitoring`` (Python 3.12), where tools stand side by side."""

from __future__ import annotations

import sys
from contextlib import suppress

# The numbers that are not meant for a debugger, coverage, a profiler or an optimizer.
_NOBODYS_TOOLS = (3, 4)

if sys.version_info >= (3, 12):

    def claimed_tool() -> int | None:
        """A number that is syncscope's until ``sys.monitoring.free_tool_id``; None where others have all."""
        for tool in _NOBODYS_TOOLS:
            # Another thread may take a number between a question and the claim: only the claim tells.
            with suppress(ValueError):
                sys.monitoring.use_tool_id(tool, "syncscope")
                return tool
        return None

else:

    def claimed_tool() -> int | None:
        """None: this Python has no ``sys.monitoring``."""
        return None
