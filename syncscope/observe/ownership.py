"""Whose code it is: the user's own, or a library's (site-packages, the standard library)."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from pathlib import PurePath
from types import CodeType, FrameType

from syncscope import sites
from syncscope.sites import NOWHERE, Site

_INSTALLED = frozenset({"site-packages", "dist-packages"})


@functools.cache
def in_library(file: str) -> bool:
    """Whether a code object's file is a library's; code without a file (``<string>``) is the user's own."""
    return file.startswith("<frozen ") or in_standard_library(file) or is_installed(file)


@functools.cache
def in_standard_library(file: str) -> bool:
    """Whether a code object's file came with Python."""
    return file.startswith(_standard_folders()) and not is_installed(file)


def is_installed(file: str) -> bool:
    """Whether a file was installed by pip or the system's packages."""
    return not _INSTALLED.isdisjoint(PurePath(file).parts)


def is_own(code: CodeType) -> bool:
    """Whether ``code`` is the user's own: not a library's, not torch's, the tool's or the test runner's."""
    return not in_library(code.co_filename) and sites.is_users(code)


def own_line() -> Site:
    """The innermost running line of the user's own code, or ``NOWHERE``."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_own(frame.f_code):
            return sites.of_frame(frame)
        frame = frame.f_back
    return NOWHERE


def shown_path(file: str, folder: str) -> str:
    """A short path: a library's from its package on, the user's own from ``folder`` on where it is inside."""
    parts = PurePath(file).parts
    for at in range(len(parts) - 1, 0, -1):
        if parts[at] in _INSTALLED:
            return str(PurePath(*parts[at + 1 :]))
    for base in (*_standard_folders(), f"{folder}{os.sep}"):
        if file.startswith(base):
            return file.removeprefix(base)
    return file


@functools.cache
def _standard_folders() -> tuple[str, ...]:
    """Where Python's own modules are, each ending in a separator."""
    folders = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), os.path.dirname(os.__file__)}
    return tuple(f"{folder}{os.sep}" for folder in sorted(folders))
