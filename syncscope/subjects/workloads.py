"""The built-in video workload: features after a vision tower, made for one point of a sweep.

The number of copies of a pruning method depends on the video. Frames with equal statistics get equal
budgets, which add up; frames that differ do not.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from syncscope.subjects import Unusable

if TYPE_CHECKING:
    from torch import Tensor

CONTRACT = ("video_embeds", "video_size_thw", "spatial_merge_size", "q")
"""The parameters of a pruning function, for which this workload makes the arguments."""

KINDS = ("scenes", "noise")
DTYPES = ("bfloat16", "float16", "float32", "float64")
SPATIAL_MERGE_SIZE = 2

# Frames of ``scenes`` differ in level by up to this many standard deviations of their tokens.
HIGHEST_LEVEL = 2.0


class UnusableWorkload(Unusable):
    """The inputs cannot be made; the message says what was given, what was expected and what to do."""


def has_pruning_contract(function: Callable[..., Any]) -> bool:
    """Whether ``function`` takes ``(video_embeds, video_size_thw, spatial_merge_size, q)``.

    Further parameters are allowed where they have defaults.
    """
    try:
        bound = inspect.signature(function).bind(*CONTRACT)
    except (TypeError, ValueError):
        return False
    return tuple(bound.arguments) == CONTRACT


@dataclass(frozen=True)
class VideoWorkload:
    """Inputs of a pruning function, for the sweep's variables; every field is the default of one.

    Attributes:
        kind: ``scenes`` (each frame has its own mean) or ``noise`` (independent tokens).
        frames: frames of the video, T.
        tokens_per_frame: tokens of a frame after merging; they have to fill a rectangle.
        hidden: channels of a token.
        q: the fraction pruned, in ``[0, 1)``.
        dtype: ``bfloat16``, ``float16``, ``float32`` or ``float64``.

    Raises:
        UnusableWorkload: a value from which no video can be made.
    """

    kind: str = "scenes"
    frames: int = 8
    tokens_per_frame: int = 196
    hidden: int = 1024
    q: float = 0.5
    dtype: str = "bfloat16"

    def __post_init__(self) -> None:
        """Refuse what no video can be made of."""
        _check_choice("workload", self.kind, KINDS)
        _check_choice("dtype", self.dtype, DTYPES)
        for name in ("frames", "tokens_per_frame", "hidden"):
            _check_positive(name, getattr(self, name))
        _check_fraction(self.q)
        rectangle(self.tokens_per_frame)

    def at(self, case: Mapping[str, int | float | str]) -> VideoWorkload:
        """This workload with the variables of ``case``.

        Raises:
            UnusableWorkload: a variable that a video does not have, or a value that is out of range.
        """
        variables = [field.name for field in fields(self) if field.name != "kind"]
        for name in case:
            if name not in variables:
                raise UnusableWorkload(
                    f"the video workload has no variable {name!r}: sweep one of {', '.join(variables)}, "
                    "or define make_inputs"
                )
        changes: dict[str, Any] = dict(case)
        return replace(self, **changes)

    def inputs(
        self, case: Mapping[str, int | float | str], seed: int = 0, device: str = "cpu"
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Fresh arguments, ``(video_embeds, video_size_thw, spatial_merge_size, q)`` and no keywords.

        ``video_embeds`` is ``(frames * tokens_per_frame, hidden)`` on ``device``; its values depend on the
        case and the seed, not on the device. ``video_size_thw`` is ``(T, H, W)`` before merging.

        Raises:
            UnusableWorkload: as ``at``.
        """
        video = self.at(case)
        height, width = rectangle(video.tokens_per_frame)
        size = (video.frames, height * SPATIAL_MERGE_SIZE, width * SPATIAL_MERGE_SIZE)
        return (_features(video, seed).to(device, copy=True), size, SPATIAL_MERGE_SIZE, video.q), {}


def rectangle(tokens: int) -> tuple[int, int]:
    """Height and width of the most nearly square rectangle of ``tokens``, height at most width.

    A single row counts as a rectangle only where there is no other way to lie, for 1 to 3 tokens.

    Raises:
        UnusableWorkload: a prime above 3.
    """
    height = next(h for h in range(math.isqrt(tokens), 0, -1) if tokens % h == 0)
    if height == 1 and tokens > 3:
        raise UnusableWorkload(
            f"tokens_per_frame is {tokens}, a prime, expected a number that fills a rectangle: "
            f"give {tokens - 1} or {tokens + 1}"
        )
    return height, tokens // height


# Made once and copied for every call: drawing the numbers takes ten times as long as copying them.
@functools.lru_cache(maxsize=4)
def _features(video: VideoWorkload, seed: int) -> Tensor:
    """The video's features on the CPU; callers copy them."""
    import torch

    generator = torch.Generator("cpu").manual_seed(seed)
    shape = (video.frames, video.tokens_per_frame, video.hidden)
    features = torch.randn(shape, generator=generator, device="cpu", dtype=torch.float32)
    if video.kind == "scenes":
        # Evenly spaced in random order, so that no two frames of any seed are alike.
        levels = torch.linspace(0, HIGHEST_LEVEL, video.frames, device="cpu", dtype=torch.float32)
        order = torch.randperm(video.frames, generator=generator, device="cpu")
        features += levels[order].view(-1, 1, 1)
    return features.flatten(0, 1).to(getattr(torch, video.dtype))


def _check_choice(name: str, given: object, choices: tuple[str, ...]) -> None:
    if given not in choices:
        raise UnusableWorkload(f"{name} is {given!r}, which is unknown: choose one of {', '.join(choices)}")


def _check_positive(name: str, given: object) -> None:
    if not isinstance(given, int) or given < 1:
        raise UnusableWorkload(f"{name} is {given!r}, expected a whole number: give 1 or more")


def _check_fraction(q: object) -> None:
    if not isinstance(q, (int, float)) or not 0 <= q < 1:
        raise UnusableWorkload(f"q is {q!r}, expected the fraction pruned, in [0, 1): give 0.5 to prune half")
