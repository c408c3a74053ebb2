"""Where threads and processes are started in a scope: what runs in them is seen, or said to be unseen.

The functions that start them are exchanged while a scope is active anywhere, and do nothing of their own in
threads without one.
"""

from __future__ import annotations

import _thread
import functools
import os
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from syncscope.observe.starters import is_the_machinerys

_STARTS_PROCESSES = (
    (subprocess.Popen, "__init__", "subprocess.Popen"),
    (BaseProcess, "start", "multiprocessing.Process.start"),
    (os, "fork", "os.fork"),
    (os, "forkpty", "os.forkpty"),
    (os, "posix_spawn", "os.posix_spawn"),
    (os, "posix_spawnp", "os.posix_spawnp"),
    (os, "system", "os.system"),
    (_thread, "start_new_thread", "_thread.start_new_thread"),
)
"""What can't be followed: where each function is, and how the user spells it. No system has all."""

_ABSENT = object()


class Listener(Protocol):
    """Who wants to know what this thread starts."""

    @property
    def hears_threads(self) -> bool:
        """Whether nothing is to be said of threads, since they are heard."""

    def followed(self, thread: threading.Thread) -> AbstractContextManager[Any]:
        """A context for the new thread to run in."""

    def unwatched(self, api: str) -> None:
        """Something was started by ``api`` that is not watched."""


class _Here(threading.local):
    """Who listens in this thread, outermost first, and whether a start is being made."""

    def __init__(self) -> None:
        self.listeners: tuple[Listener, ...] = ()
        self.starting = False


_here = _Here()
_lock = threading.Lock()
_scopes = 0
_undo: list[Callable[[], None]] = []


@contextmanager
def told(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` what this thread starts, inside of ``noticed``."""
    outer = _here.listeners
    _here.listeners = (*outer, listener)
    try:
        yield
    finally:
        _here.listeners = outer


@contextmanager
def noticed() -> Iterator[None]:
    """Notice the starts of all threads, as long as the context lasts anywhere."""
    _change()
    try:
        yield
    finally:
        _change_back()


def _change() -> None:
    global _scopes
    with _lock:
        _scopes += 1
        if _scopes == 1:
            _exchange(threading.Thread, "start", _thread_start)
            for owner, name, api in _STARTS_PROCESSES:
                if hasattr(owner, name):
                    _exchange(owner, name, functools.partial(_process_start, api))


def _change_back() -> None:
    global _scopes
    with _lock:
        _scopes -= 1
        while _scopes == 0 and _undo:
            _undo.pop()()


def _exchange(owner: Any, name: str, made: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    own = getattr(owner, name)
    ours = made(own)

    def put_back() -> None:
        # What another tool has put over ours stays: without a scope ours only passes on.
        if vars(owner).get(name) is ours:
            setattr(owner, name, own)

    setattr(owner, name, ours)
    _undo.append(put_back)


def _thread_start(own: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    @functools.wraps(own)
    def start(self: threading.Thread) -> None:
        if not _here.listeners or _here.starting:
            return own(self)
        contexts = [listener.followed(self) for listener in _here.listeners]
        with _running_in(self, contexts), _being_made():
            own(self)
        deaf = [listener for listener in _here.listeners if not listener.hears_threads]
        if deaf and not is_the_machinerys(self):
            _tell(deaf, "threading.Thread.start")
        return None

    return start


def _process_start(api: str, own: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(own)
    def start(*args: Any, **kwargs: Any) -> Any:
        if not _here.listeners or _here.starting:
            return own(*args, **kwargs)
        with _being_made():
            result = own(*args, **kwargs)
        if not is_the_machinerys():
            _tell(_here.listeners, api)
        return result

    return start


def _tell(listeners: Iterable[Listener], api: str) -> None:
    for listener in listeners:
        listener.unwatched(api)


@contextmanager
def _being_made() -> Iterator[None]:
    """A start inside of a start (``multiprocessing`` forks) is told once, as the user wrote it."""
    _here.starting = True
    try:
        yield
    finally:
        _here.starting = False


@contextmanager
def _running_in(thread: threading.Thread, contexts: list[AbstractContextManager[Any]]) -> Iterator[None]:
    """Let ``thread`` run inside of ``contexts``, unless it can't be started."""
    run, own = thread.run, vars(thread).get("run", _ABSENT)

    def put_back() -> None:
        if own is _ABSENT:
            vars(thread).pop("run", None)
        else:
            vars(thread)["run"] = own

    def run_inside() -> None:
        put_back()
        with ExitStack() as stack:
            for context in contexts:
                stack.enter_context(context)
            run()

    vars(thread)["run"] = run_inside
    try:
        yield
    except BaseException:
        put_back()
        raise
