"""How a subject is written, and how its files are called in what is shown."""

from __future__ import annotations

import os
from dataclasses import dataclass

from syncscope.subjects import UnusableSubject

_FORMS = "file.py, file.py::function, package.module:function or main:file.py::function"


@dataclass(frozen=True)
class SubjectName:
    """A subject as written, taken apart; either ``file`` or ``module`` is given."""

    label: str
    file: str = ""
    module: str = ""
    function: str = ""
    revision: str = ""


@dataclass(frozen=True)
class FileNames:
    """What the files in the folder ``within`` are called: ``prefix`` and the path from ``base``."""

    base: str
    within: str
    prefix: str = ""

    def of(self, path: str) -> str:
        """The user's name of a file that is executed from ``path``; outside the folder, the path itself."""
        if not f"{path}{os.sep}".startswith(f"{self.within}{os.sep}"):
            return path
        return f"{self.prefix}{os.path.relpath(path, self.base)}"


def parse(text: str) -> SubjectName:
    """Take a subject as written apart; a file that exists under the whole name wins over the other readings.

    Raises:
        UnusableSubject: it is a folder, or of none of the forms that a subject has.
    """
    place, marked, function = text.partition("::")
    if marked and not function:
        raise UnusableSubject(f"{text} names no function: write {place}::function, or {place} alone")
    if os.path.isdir(place) and not os.path.isfile(os.path.join(place, "__init__.py")):
        raise UnusableSubject(f"{place} is a folder: name a file in it, {os.path.join(place, 'file.py')}")
    if os.path.isfile(place) or (":" not in place and _looks_like_file(place)):
        return SubjectName(text, file=place, function=function)
    left, colon, right = place.rpartition(":")
    if colon and not left:
        raise UnusableSubject(f"{text} names no revision before `:`: write HEAD:{right} or {right}")
    if colon and _looks_like_file(right):
        return SubjectName(text, file=right, function=function, revision=left)
    if colon and _looks_like_file(left):
        raise UnusableSubject(
            f"{text} is no subject: a function of a file follows `::`, write {left}::{right}"
        )
    if colon and function:
        raise UnusableSubject(f"{text} is no subject: write {_FORMS}")
    return _module(text, left if colon else place, right if colon else function)


def _looks_like_file(place: str) -> bool:
    return place.endswith(".py") or "/" in place or os.sep in place


def _module(text: str, module: str, function: str) -> SubjectName:
    if not all(part.isidentifier() for part in module.split(".")):
        raise UnusableSubject(f"`{text}` is neither a file nor a module: write {_FORMS}")
    return SubjectName(text, module=module, function=function)
