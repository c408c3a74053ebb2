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
import weakref
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from syncscope import sites
from syncscope.observe.starters import is_the_machinerys
from syncscope.sites import NOWHERE, Site

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

    def speaks_for(self, other: Listener) -> bool:
        """Whether a thread in which this one listens needs no other of the same scope as ``other``."""


class _Here(threading.local):
    """Who listens in this thread, outermost first, whether it makes a start, and who gave it its work."""

    def __init__(self) -> None:
        self.listeners: tuple[Listener, ...] = ()
        self.starting = False
        self.origin = NOWHERE


_here = _Here()
_lock = threading.Lock()
_scopes = 0
_undo: list[Callable[[], None]] = []
_followed: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
"""Threads that were started where somebody listened: it is known of them whether they are heard."""


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
            _exchange(ThreadPoolExecutor, "submit", _submit)
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
        contexts = [working_for(sites.here()), *(listener.followed(self) for listener in _here.listeners)]
        _followed.add(self)
        with _running_in(self, contexts), _being_made():
            own(self)
        deaf = [listener for listener in _here.listeners if not listener.hears_threads]
        if deaf and not is_the_machinerys(self):
            _tell(deaf, "threading.Thread.start")
        return None

    return start


def _submit(own: Callable[..., Any]) -> Callable[..., Any]:
    """What is submitted may run in a thread that is older than the scope."""

    @functools.wraps(own)
    def submit(self: ThreadPoolExecutor, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        listeners = _here.listeners
        if not listeners:
            return own(self, fn, *args, **kwargs)
        deaf = [listener for listener in listeners if not listener.hears_threads]
        if deaf and not self._threads <= set(_followed):
            _tell(deaf, "ThreadPoolExecutor.submit")
        return own(self, _heard(fn, listeners, sites.here()), *args, **kwargs)

    return submit


def _heard(fn: Callable[..., Any], listeners: Iterable[Listener], origin: Site) -> Callable[..., Any]:
    @functools.wraps(fn, updated=())
    def work(*args: Any, **kwargs: Any) -> Any:
        with ExitStack() as stack:
            stack.enter_context(working_for(origin))
            for listener in listeners:
                if not any(mine.speaks_for(listener) for mine in _here.listeners):
                    stack.enter_context(listener.followed(threading.current_thread()))
            return fn(*args, **kwargs)

    return work


@contextmanager
def working_for(origin: Site) -> Iterator[None]:
    """This thread does what the line ``origin`` has started or submitted."""
    outer, _here.origin = _here.origin, origin
    try:
        yield
    finally:
        _here.origin = outer


def origin() -> Site:
    """The line that gave this thread its work, or ``NOWHERE``."""
    return _here.origin


def _process_start(api: str, own: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(own)
    def start(*args: Any, **kwargs: Any) -> Any:
        if not _here.listeners or _here.starting:
            return own(*args, **kwargs)
        with _being_made():
            result = own(*args, **kwargs)
        if not is_the_machinerys(*args[:1]):
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
