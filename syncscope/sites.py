"""Where in the user's code an event came from."""

from __future__ import annotations

import functools
import linecache
import sys
import sysconfig
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FrameType

_PACKAGE = Path(__file__).parent

# Frames of these packages never are the cause of a wait: they only pass it on.
_PASSED_OVER = ("torch", "pytest", "_pytest", "pluggy", "click", "xdist", "execnet")


@dataclass(frozen=True, order=True)
class Site:
    """One line of the user's code: the frame that caused an event.

    ``line`` counts from 1; ``text`` is the stripped source line, empty where no source is at hand.
    """

    file: str
    line: int
    function: str
    text: str = ""

    def __str__(self) -> str:
        """Name the line as compilers do, ``file:line``."""
        return f"{self.file}:{self.line}"


NOWHERE = Site(file="<no Python frame>", line=0, function="")


@functools.cache
def _skipped_folders() -> tuple[str, ...]:
    """Folders whose frames are passed over, each ending in a separator."""
    folders = ["<frozen "]
    for name in _PASSED_OVER:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            origin = Path(spec.origin)
            folders.append(f"{origin.parent}/" if origin.name == "__init__.py" else str(origin))
    # The pruning methods are subjects like any other: only the rest of the tool is passed over.
    folders += [
        f"{child}/" if child.is_dir() else str(child)
        for child in _PACKAGE.iterdir()
        if child.name not in ("pruning", "__pycache__")
    ]
    return tuple(folders)


def is_users(code: CodeType) -> bool:
    """Whether ``code`` is the user's own, not torch's, the tool's, the test runner's or Python's."""
    return _is_users_file(code.co_filename)


@functools.cache
def _is_users_file(file: str) -> bool:
    return not (file.startswith(_skipped_folders()) or _is_pythons(file))


def _is_pythons(file: str) -> bool:
    """Whether ``file`` is of the standard library: it passes a wait on (``copy.deepcopy``), as torch does."""
    library = sysconfig.get_paths()["stdlib"] + "/"
    return file.startswith(library) and not file.startswith(
        (library + "site-packages/", library + "dist-packages/")
    )


def of_frame(frame: FrameType, line: int | None = None) -> Site:
    """The site of a Python frame, with its source text; at ``line``, or where the frame is now."""
    code = frame.f_code
    line = line or frame.f_lineno or code.co_firstlineno
    # The module's loader would give the module's source for whatever name, that of generated code too.
    names = frame.f_globals if frame.f_globals.get("__file__") == code.co_filename else None
    text = linecache.getline(code.co_filename, line, names).strip()
    name = getattr(code, "co_qualname", code.co_name)
    return _site(code.co_filename, line, name, text)


@functools.cache
def _site(file: str, line: int, function: str, text: str) -> Site:
    """The one site of a line: many events share it."""
    return Site(file, line, function, text)


def stack(depth: int = 8) -> tuple[Site, ...]:
    """The user's frames that are running now, innermost first, at most ``depth`` of them.

    Generated code without source (a dataclass's ``__eq__``) counts only where there is nothing else.
    """
    found: list[Site] = []
    generated: list[Site] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_users_file(frame.f_code.co_filename):
            site = of_frame(frame)
            (generated if site.file.startswith("<") and not site.text else found).append(site)
            if len(found) >= depth:
                break
        frame = frame.f_back
    return tuple(found or generated[:depth])


def here() -> Site:
    """The innermost of the user's frames, or ``NOWHERE``."""
    found = stack(depth=1)
    return found[0] if found else NOWHERE
