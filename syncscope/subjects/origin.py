"""Whose code an executed line is, and what the user calls its file."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from types import FrameType

from syncscope.sites import is_users
from syncscope.subjects.importer import without_importer
from syncscope.subjects.naming import FileNames


@dataclass(frozen=True)
class Origin:
    """Where a subject's code comes from.

    ``package`` is the top-level name of all modules that belong to the subject, in ``sys.modules``.
    """

    package: str
    names: FileNames

    def describe(self, error: BaseException) -> str:
        """The error's type, text and place in the subject's code: ``ValueError: no frames (file.py:12)``."""
        text, line = without_importer(_text(error)), self.line_of(error)
        return f"{type(error).__name__}{f': {text}' if text else ''}{f' ({line})' if line else ''}"

    def line_of(self, error: BaseException) -> str:
        """``file.py:12``: the subject's innermost line under ``error``, else the innermost at all."""
        places = [place for place in traceback.walk_tb(error.__traceback__) if is_users(place[0].f_code)]
        own = [place for place in places if self._owns(place[0])]
        return "".join(
            f"{self.names.of(frame.f_code.co_filename)}:{line}" for frame, line in (own or places)[-1:]
        )

    def _owns(self, frame: FrameType) -> bool:
        # Generated code, a dataclass's methods for one, has a module of the subject and no file.
        generated = frame.f_code.co_filename.startswith("<")
        return not generated and str(frame.f_globals.get("__name__")).partition(".")[0] == self.package


def _text(error: BaseException) -> str:
    """What the error says, where it can: its class may be the subject's own."""
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return "its text can't be made"
