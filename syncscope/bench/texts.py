"""The text of the files that subjects import: rows of another text don't belong in one table."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from syncscope.bench.record import Row
    from syncscope.subjects.loader import Subject


def imported(subjects: Iterable[Subject], besides: Collection[str]) -> dict[str, str]:
    """The files, by the user's names, of all modules that ``subjects`` have imported from beside them.

    Each has a hash of its text, taken when its module is first seen here. The paths in ``besides``, and the
    files of a revision, which its commit pins, are left out.
    """
    files = [(subject, module, file) for subject in subjects for module, file in _files(subject)]
    found = {
        subject.name_of(file): _first_seen(module, file)
        for subject, module, file in files
        if file not in besides and not _is_of_revision(subject, file)
    }
    return dict(sorted(found.items()))


def now(file: str) -> str:
    """The hash of a file's text as it is on disk; nothing where there is no such file."""
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12]
    except OSError:
        return ""


def named(hashes: Mapping[str, str]) -> dict[str, str]:
    """As what rows have to agree in."""
    return {f"the text of {file}": text for file, text in hashes.items()}


def of_rows(rows: Iterable[Row]) -> dict[str, str]:
    """The files that were imported while the rows were made, with the hash that the first of them has."""
    return {file: text for row in reversed(list(rows)) for file, text in row.imported.items()}


def _files(subject: Subject) -> list[tuple[str, str]]:
    """Names and files of the modules that belong to the subject."""
    prefix = f"{subject.origin.package}."
    modules = [(name, module) for name, module in list(sys.modules.items()) if f"{name}.".startswith(prefix)]
    return [(name, file) for name, module in modules if (file := getattr(module, "__file__", None))]


def _is_of_revision(subject: Subject, file: str) -> bool:
    prefix = subject.origin.names.prefix
    return bool(prefix) and subject.name_of(file).startswith(prefix)


@cache
def _first_seen(module: str, file: str) -> str:
    """A module keeps the text that it was made from, whatever becomes of its file."""
    return now(file)
