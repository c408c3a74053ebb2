"""Which lines of some files run during one call."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import CodeType, FrameType
from typing import Any

from syncscope.observe.monitoring import claimed_tool

Lines = dict[str, set[int]]


def visited_lines(call: Callable[[], object], files: Collection[str]) -> dict[str, frozenset[int]]:
    """Run ``call`` and say which lines of each of ``files`` ran in this thread meanwhile, counted from 1.

    ``files`` are names as code objects have them (``co_filename``). Before Python 3.12 another trace function
    (a debugger's, coverage's) sees nothing of the call, and is put back on any way out; later Pythons have
    ``sys.monitoring``, where tools stand side by side. What ``call`` raises is passed on.
    """
    lines: Lines = {file: set() for file in files}
    with _watching(lines):
        call()
    return {file: frozenset(numbers) for file, numbers in lines.items()}


def _watching(lines: Lines) -> AbstractContextManager[None]:
    if sys.version_info >= (3, 12):
        tool = claimed_tool()
        if tool is not None:
            return _monitored(lines, tool)
    return _traced(lines)


@contextmanager
def _traced(lines: Lines) -> Iterator[None]:
    def local(frame: FrameType, event: str, _: object) -> Callable[..., Any]:
        if event == "line":
            lines[frame.f_code.co_filename].add(frame.f_lineno)
        return local

    def enter(frame: FrameType, *_: object) -> Callable[..., Any] | None:
        return local if frame.f_code.co_filename in lines else None

    previous = sys.gettrace()
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(previous)


if sys.version_info >= (3, 12):

    @contextmanager
    def _monitored(lines: Lines, tool: int) -> Iterator[None]:
        monitoring = sys.monitoring
        watched_thread = threading.get_ident()

        def line(code: CodeType, number: int) -> object:
            numbers = lines.get(code.co_filename)
            if numbers is None:
                return monitoring.DISABLE
            if threading.get_ident() != watched_thread:
                return None
            numbers.add(number)
            return monitoring.DISABLE

        try:
            monitoring.register_callback(tool, monitoring.events.LINE, line)
            # What an earlier use of this tool's number disabled stays disabled until events are restarted.
            monitoring.restart_events()
            monitoring.set_events(tool, monitoring.events.LINE)
            yield
        finally:
            monitoring.set_events(tool, monitoring.events.NO_EVENTS)
            monitoring.register_callback(tool, monitoring.events.LINE, None)
            monitoring.free_tool_id(tool)
