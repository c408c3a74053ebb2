"""Which files' lines are shown: ``--only`` and ``--skip``."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from syncscope.subjects import Unusable


@dataclass(frozen=True)
class Paths:
    """Files, folders (with all in them) and globs, as the user wrote them; relative ones from ``folder``."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    folder: str = field(default_factory=os.getcwd)

    def check(self) -> None:
        """Find out whether every path can be meant.

        Raises:
            Unusable: there is no such file or folder, and it is no glob.
        """
        for option, given in (("only", self.only), ("skip", self.skip)):
            for path in given:
                if not (glob.has_magic(path) or os.path.exists(self._whole(path))):
                    raise Unusable(
                        f"{option}: {path}: no such file or folder; give one that is there, or a glob"
                    )

    def show(self, file: str) -> bool:
        """Whether the lines of ``file`` (a code object's name of it) are shown."""
        return (not self.only or self._any(self.only, file)) and not self._any(self.skip, file)

    def unmatched(self, files: Iterable[str]) -> list[str]:
        """The globs of ``only`` that mean none of ``files``, and none on disk."""
        return [
            pattern
            for pattern in self.only
            if glob.has_magic(pattern)
            and not glob.glob(self._whole(pattern), recursive=True)
            and not any(self._any((pattern,), file) for file in files)
        ]

    def _any(self, patterns: Sequence[str], file: str) -> bool:
        names = {file, os.path.realpath(file)}
        return any(self._is_meant(pattern, name) for pattern in patterns for name in names)

    def _is_meant(self, pattern: str, file: str) -> bool:
        whole = self._whole(pattern)
        if glob.has_magic(pattern):
            return any(fnmatchcase(file, each) for each in (pattern, whole, f"*/{pattern}"))
        return any(
            file == each or file.startswith(each + os.sep) for each in (whole, os.path.realpath(whole))
        )

    def _whole(self, path: str) -> str:
        return os.path.normpath(os.path.join(self.folder, path))
