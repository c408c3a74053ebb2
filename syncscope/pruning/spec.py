"""Which pruning method runs and how much it prunes, checked when the configuration is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from torch import Tensor

supported_video_pruning_methods: Mapping[str, str] = MappingProxyType({
    "evs": "syncscope.pruning.evs",
    "vidcom2": "syncscope.pruning.vidcom2",
})  # fmt: skip
"""Every method by name, and the module with its two functions. A new method is one more entry."""


class PruningMethod(Protocol):
    """The two functions of a method; a module that defines both is one."""

    def compute_retained_tokens_count(self, tokens_per_frame: int, num_frames: int, q: float) -> int:
        """How many tokens survive, known before any mask exists."""

    def compute_retention_mask(
        self,
        video_embeds: Tensor,
        video_size_thw: tuple[int, int, int] | Tensor,
        spatial_merge_size: int,
        q: float,
    ) -> Tensor:
        """Which tokens survive: a flat boolean mask in frame-major order."""


@dataclass(frozen=True)
class VideoPruningSpec:
    """A pruning method's name and its rate, the fraction pruned in ``(0, 1)``."""

    method: str
    rate: float

    def load(self) -> PruningMethod:
        """The module with the method's two functions; imports torch."""
        return cast(PruningMethod, import_module(supported_video_pruning_methods[self.method]))


@dataclass(frozen=True)
class VideoPruningConfig:
    """The two settings of video pruning, and the methods that the model supports.

    ``video_pruning_rate`` always means the fraction pruned, in ``[0, 1)``; None or 0 turns pruning off.

    Raises:
        ValueError: the method is unknown or not supported by the model (whether or not pruning is on), or
            the rate is out of range; the message lists what is expected.
    """

    video_pruning_method: str = "evs"
    video_pruning_rate: float | None = None
    supported_video_pruning_methods: tuple[str, ...] = field(
        default_factory=lambda: tuple(supported_video_pruning_methods)
    )

    def __post_init__(self) -> None:
        """Fail here, not later in a forward pass."""
        self._check_method()
        self._check_rate()

    def get_video_pruning_spec(self) -> VideoPruningSpec | None:
        """The method and the rate, or None when pruning is off."""
        if not self.video_pruning_rate:
            return None
        return VideoPruningSpec(self.video_pruning_method, self.video_pruning_rate)

    def _check_method(self) -> None:
        known = supported_video_pruning_methods
        supported = [name for name in self.supported_video_pruning_methods if name in known]
        if self.video_pruning_method not in supported:
            raise ValueError(
                f"video_pruning_method is {self.video_pruning_method!r}, which is not supported here: "
                f"choose one of {', '.join(supported) or '(none)'}"
            )

    def _check_rate(self) -> None:
        rate = self.video_pruning_rate
        if rate is not None and not (isinstance(rate, (int, float)) and 0 <= rate < 1):
            raise ValueError(
                f"video_pruning_rate is {rate!r}, expected the fraction pruned, in [0, 1): "
                "give 0.75 to prune three tokens of four, or None to prune nothing"
            )
