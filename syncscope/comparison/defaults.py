"""What a subject sets for the whole process is not the other's business."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import torch


class Defaults(NamedTuple):
    """Torch's, as they were at some moment.

    ``deterministic`` is torch's debug mode, which is 1 where it only warns; ``threads`` are those of one
    operator on the CPU; ``device`` is None unless one was set.
    """

    dtype: torch.dtype
    gradients: bool
    deterministic: int
    threads: int
    device: torch.device | None

    @classmethod
    def now(cls) -> Defaults:
        """As they are."""
        return cls(*(look() for look in _looks()))

    def put_back(self) -> None:
        """Set those that have changed since. Quick: it is asked for between all calls that are timed."""
        dtype, gradients, deterministic, threads, device = _looks()
        if (dtype(), gradients(), deterministic(), threads(), device()) != self:
            self._set(Defaults.now())

    def _set(self, now: Defaults) -> None:
        import torch

        torch.set_default_dtype(self.dtype)
        torch.set_grad_enabled(self.gradients)
        if now.device != self.device:
            torch.set_default_device(self.device)
        # Only where it has to be: the function imports torch._inductor, which takes seconds.
        if now.deterministic != self.deterministic:
            torch.set_deterministic_debug_mode(self.deterministic)
        if now.threads != self.threads:
            torch.set_num_threads(self.threads)


@cache
def _looks() -> tuple[Callable[[], Any], ...]:
    """What tells each of them."""
    import torch

    contexts, modes = torch._GLOBAL_DEVICE_CONTEXT, torch._C._len_torch_function_stack

    def device() -> torch.device | None:
        # torch.get_default_device makes a tensor to find out. A default is one of the modes.
        context = getattr(contexts, "device_context", None) if modes() else None
        return context and context.device

    return (
        torch.get_default_dtype,
        torch.is_grad_enabled,
        torch.get_deterministic_debug_mode,
        torch.get_num_threads,
        device,
    )


@contextmanager
def defaults_kept() -> Iterator[Defaults]:
    """Put them back at the end; before, whoever is in it may do so as well."""
    before = Defaults.now()
    try:
        yield before
    finally:
        before.put_back()
