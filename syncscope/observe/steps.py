"""Steps: single calls of the functions that the user named, found while they run."""

from __future__ import annotations

import re
from types import CodeType, FrameType

from syncscope.observe.ownership import is_own
from syncscope.observe.tally import Folded, Tally
from syncscope.subjects import Unusable


class Named:
    """The functions of the user's own code with a qualified name: exactly ``text``, or matching it whole.

    A function inside another is also found without what it is inside of (``step`` for
    ``main.<locals>.step``). ``found`` has the qualified names of those that were called.

    Raises:
        Unusable: ``text`` is no regular expression.
    """

    def __init__(self, text: str) -> None:
        """Look for ``text``."""
        self.text = text
        self.found: list[str] = []
        self._known: dict[CodeType, bool] = {}
        try:
            self._pattern = re.compile(text)
        except re.error as error:
            raise Unusable(
                f"per: {text!r} is no regular expression ({error}): give a function's name, or mend it"
            ) from None

    def has(self, code: CodeType) -> bool:
        """Whether a call of ``code`` is a step."""
        known = self._known.get(code)
        return self._looked_up(code) if known is None else known

    def _looked_up(self, code: CodeType) -> bool:
        name: str = getattr(code, "co_qualname", code.co_name)
        names = {name, name.rpartition("<locals>.")[2]}
        fits = self.text in names or any(self._pattern.fullmatch(each) for each in names)
        self._known[code] = fits and is_own(code)
        if self._known[code]:
            self.found.append(name)
        return self._known[code]


class Stepper:
    """Opens and ends the steps of one thread's tally, as frames of the named functions come and go.

    A named function that is called in a step is part of that step. What a generator or a coroutine does
    from its first to its last line is one step, without what others do while it pauses.
    """

    def __init__(self, tally: Tally) -> None:
        """No step is open yet."""
        self._tally = tally
        self._open: int | None = None
        self._paused: dict[int, Folded] = {}

    def begin(self, frame: FrameType) -> None:
        """The function of ``frame`` is called, or goes on."""
        if self._open is None:
            self._open = id(frame)
            self._tally.step = self._paused.pop(id(frame), {})

    def pause(self, frame: FrameType) -> None:
        """The generator or coroutine of ``frame`` hands over, and may go on later."""
        if self._open == id(frame):
            self._paused[id(frame)] = self._tally.step or {}
            self._tally.step = self._open = None

    def end(self, frame: FrameType) -> None:
        """The call of ``frame`` is over."""
        if self._open == id(frame):
            self._tally.finish()
            self._open = None

    def end_all(self) -> None:
        """End what is still open: a generator that was never exhausted is a step too."""
        if self._open is not None:
            self._tally.finish()
            self._open = None
        for step in self._paused.values():
            self._tally.step = step
            self._tally.finish()
        self._paused.clear()
