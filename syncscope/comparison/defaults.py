"""What a subject sets for the whole process is not the other's business."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Defaults:
    """Torch's, as they were at some moment; ``threads`` are those of one operator on the CPU."""

    dtype: torch.dtype
    device: torch.device
    gradients: bool
    deterministic: bool
    threads: int

    @classmethod
    def now(cls) -> Defaults:
        """As they are."""
        import torch

        return cls(
            torch.get_default_dtype(),
            torch.get_default_device(),
            torch.is_grad_enabled(),
            torch.are_deterministic_algorithms_enabled(),
            torch.get_num_threads(),
        )

    def put_back(self) -> None:
        """Set those that have changed since."""
        import torch

        now = Defaults.now()
        if now == self:
            return
        torch.set_default_dtype(self.dtype)
        torch.set_grad_enabled(self.gradients)
        if now.device != self.device:
            torch.set_default_device(None if self.device.type == "cpu" else self.device)
        # Only where it has to be: the function imports torch._inductor, which takes seconds.
        if now.deterministic != self.deterministic:
            torch.use_deterministic_algorithms(self.deterministic)
        if now.threads != self.threads:
            torch.set_num_threads(self.threads)


@contextmanager
def defaults_kept() -> Iterator[Defaults]:
    """Put them back at the end; before, whoever is in it may do so as well."""
    before = Defaults.now()
    try:
        yield before
    finally:
        before.put_back()
