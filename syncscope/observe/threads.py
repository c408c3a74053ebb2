"""The threads of a scope: those that are heard, each with a tally of its own, and those that aren't."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Protocol

from syncscope import sites
from syncscope.events import Event
from syncscope.observe import allowances, starts
from syncscope.observe.ownership import own_line
from syncscope.observe.stepping import StepWatch
from syncscope.observe.tally import Tally
from syncscope.sites import NOWHERE

if TYPE_CHECKING:
    from syncscope.simcuda.watch import Sink, Watch

_WHY_THREAD = "what this thread reads, copies and waits for is missing: threads=True (run --threads) hears it"
_WHY_BARE_THREAD = (
    "what this thread reads, copies and waits for is missing: start it as a threading.Thread, which "
    "threads=True (run --threads) hears"
)
_WHY_PROCESS = "what this process reads, copies and waits for is missing: observe it in a scope of its own"
_WHY = {
    "threading.Thread.start": _WHY_THREAD,
    "ThreadPoolExecutor.submit": _WHY_THREAD,
    "_thread.start_new_thread": _WHY_BARE_THREAD,
}


class Owner(Protocol):
    """The scope that threads belong to."""

    entry: object
    """The current use of the scope, from its entrance to its exit; None in between."""
    hears_threads: bool
    stack: int
    step_watch: StepWatch | None

    @property
    def families(self) -> tuple[str, ...]:
        """The operator families whose launches are counted."""

    def made_device(self, sink: Sink) -> Watch:
        """A device of the scope's kind, whose events go to ``sink``."""

    def followed(self) -> AbstractContextManager[None]:
        """What a thread runs in that a heard one starts."""


class HeardThread:
    """A thread whose events are the scope's, during its use ``entry`` only if one is given."""

    def __init__(self, scope: Owner, entry: object = None) -> None:
        """Prepare; nothing is heard before ``listening``."""
        self.tally = Tally(scope.families)
        self.device = scope.made_device(self._add)
        self._scope, self._entry = scope, entry

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear the current thread."""
        with ExitStack() as entered:
            self.listen(entered)
            yield

    def listen(self, entered: ExitStack) -> None:
        """Hear the current thread until ``entered`` is left."""
        entered.enter_context(self.device)
        entered.enter_context(starts.told(self))
        entered.enter_context(allowances.heeded(self.tally))
        if self._scope.step_watch is not None:
            entered.enter_context(self._scope.step_watch.follow(self.tally))

    @property
    def hears_threads(self) -> bool:
        """Whether what this thread starts is heard as well."""
        return self._scope.hears_threads

    def followed(self, thread: Thread) -> AbstractContextManager[None]:
        """What a thread that is started here runs in."""
        return self._scope.followed()

    def unwatched(self, api: str) -> None:
        """Record that something was started here which isn't heard."""
        stack = sites.stack(self._scope.stack)
        own = own_line()
        site = stack[0] if own is NOWHERE and stack else own
        self._add(Event("unknown", api, reason=_WHY.get(api, _WHY_PROCESS), site=site, stack=stack))

    def speaks_for(self, other: starts.Listener) -> bool:
        """Whether this is the same use of the scope that ``other`` belongs to."""
        return self._scope is getattr(other, "_scope", None) and self._counts()

    def _counts(self) -> bool:
        return self._entry is None or self._entry is self._scope.entry

    def _add(self, event: Event) -> None:
        if event.site == NOWHERE:  # a thread whose function isn't written in Python
            origin = starts.origin()
            event = replace(event, site=origin, stack=(origin,))
        if self._counts():
            self.tally.add(event, allowances.allowance(event, self.tally))


class UnheardThread:
    """A thread of which one unknown event says that it isn't heard; nor is what it starts."""

    # Nothing more is to be said of what it starts.
    hears_threads = True

    def __init__(self, scope: Owner) -> None:
        """Prepare; nothing is changed before ``listening``."""
        self._scope = scope

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Let the thread have the simulated device, without which its calls would fail."""
        device = self._scope.made_device(_ignored)
        if not device.simulated:
            yield
            return
        with device, starts.told(self):
            yield

    def followed(self, thread: Thread) -> AbstractContextManager[None]:
        """What a thread that is started here runs in."""
        return UnheardThread(self._scope).listening()

    def speaks_for(self, other: starts.Listener) -> bool:
        """Whether ``other`` is of the same scope: that it isn't heard is known."""
        return self._scope is getattr(other, "_scope", None)

    def unwatched(self, api: str) -> None:
        """Nothing: it is known that nothing is known."""


def _ignored(event: Event) -> None:
    """Take no notice."""
