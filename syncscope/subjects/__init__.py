"""What is run: how a subject is named and loaded, and which cases and inputs it gets. Imports no torch."""

from __future__ import annotations


class Unusable(Exception):
    """Something the user gave cannot be used; the text is ONE line that says what and how to mend it."""

    def __init__(self, message: str) -> None:
        """Keep ``message`` as one line, whatever an inner error's text brought along."""
        super().__init__(" ".join(message.split()))


class UnusableSubject(Unusable):
    """A subject cannot be found, read, parsed, imported or called."""


class UnusableSweep(Unusable):
    """The sweep's variables or their values make no cases."""


class UnusableInputs(Unusable):
    """Nobody can make the inputs of a case, or who should fails."""
