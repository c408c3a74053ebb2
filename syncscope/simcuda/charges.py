"""What an operator did at the border between host and device."""

from __future__ import annotations

from dataclasses import dataclass

from syncscope.events import Kind


@dataclass(frozen=True)
class Charge:
    """One thing that an operator did at the border between host and device.

    ``dtoh``, ``htod``, ``dtod`` are memcpys, ``waits`` are explicit waits of the host; ``shape`` and
    ``dtype`` are those of the value moved. ``why`` is the reason where the operator does several things: it
    stands in place of the entry's. ``may_wait`` says why the driver may wait where PyTorch doesn't, and is
    added to the reason. ``silent``: its waits are not PyTorch's own calls, and
    ``torch.cuda.set_sync_debug_mode`` notices none of them.
    """

    kind: Kind
    dtoh: int = 0
    htod: int = 0
    dtod: int = 0
    waits: int = 0
    shape: tuple[int, ...] = ()
    dtype: str = ""
    why: str = ""
    may_wait: str = ""
    silent: bool = False
