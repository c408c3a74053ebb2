"""A file that one process at a time holds, for as long as it lives."""

from __future__ import annotations

import os
import stat
from pathlib import Path


class NoFile(OSError):
    """The path is that of a device, a pipe or the like."""


class LockedFile:
    """An open file at ``path``, made if it isn't there, which nobody else can open in this way meanwhile.

    The lock is the kernel's and goes with the process however that ends; processes that were forked from it
    don't have it. On Windows there is none.
    """

    def __init__(self, path: Path) -> None:
        """Open and lock.

        Raises:
            BlockingIOError: another process holds it.
            NoFile: it is no regular file.
            OSError: it can't be opened or locked.
        """
        self._path = path
        self._descriptor = self._opened()
        # Who held it may have removed it between opening and locking: that lock would be of no file.
        while not self._is_there():
            os.close(self._descriptor)
            self._descriptor = self._opened()

    def read(self) -> bytes:
        """All of it."""
        with open(self._descriptor, "rb", closefd=False) as file:
            file.seek(0)
            return file.read()

    def cut(self, size: int) -> None:
        """Keep the first ``size`` bytes."""
        os.ftruncate(self._descriptor, size)

    def append(self, text: bytes) -> None:
        """Put ``text`` at the end; it is on disk when this returns."""
        rest = memoryview(text)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Let others have it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _opened(self) -> int:
        # Not to wait at a pipe for its other end.
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(self._path, flags, 0o644)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NoFile
            _lock(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), self._path.stat())
        except FileNotFoundError:
            return False


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        # A lock of flock would outlive this process in those that were forked from it.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except PermissionError:  # as some systems say it
        raise BlockingIOError from None
