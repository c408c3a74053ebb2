"""The key on which ATen calls of a watched thread are heard, and how not to be heard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

KEY = torch._C._dispatch_key_parse("Fake")
"""A dispatch key that eager mode gives to no tensor; it lies below autograd and above the backends."""

switch = torch._C._dispatch_tls_set_dispatch_key_included
included = torch._C._dispatch_tls_local_include_set
excluded = torch._C._dispatch_tls_local_exclude_set
Keys = torch._C._ForceDispatchKeyGuard


def begin() -> Callable[[], None]:
    """Hear this thread's ATen calls from now on; the function returned ends it."""
    guard = Keys(included().add(KEY), excluded())
    guard.__enter__()
    return lambda: guard.__exit__(None, None, None)


def below(keys: torch.DispatchKeySet) -> torch.DispatchKeySet:
    """``keys`` without this one, for a call that is passed on."""
    known = _below.get(keys.raw_repr())
    if known is None:
        known = _below[keys.raw_repr()] = keys.remove(KEY)
    return known


_below: dict[int, torch.DispatchKeySet] = {}
"""Few sets of keys occur, and each would take longer to make again than to look up."""


@contextmanager
def unheard() -> Iterator[None]:
    """Run some code for its values alone: none of its ATen calls is heard."""
    with Keys(included().remove(KEY), excluded()):
        yield
