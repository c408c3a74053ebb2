"""How the tokens of one video lie: frames, and tokens in each."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor


class Grid(NamedTuple):
    """Frames of a video, and tokens per frame after the spatial merge."""

    frames: int
    tokens: int


def grid_of(
    video_embeds: Tensor, video_size_thw: tuple[int, int, int] | Tensor, spatial_merge_size: int
) -> Grid:
    """The grid of ``video_embeds``, ``(T*H*W/merge**2, hidden)``, from its size before merging.

    A size that is a tensor on a GPU costs one vector read; a tuple costs nothing.

    Raises:
        ValueError: the size does not account for the number of tokens.
    """
    size = video_size_thw.tolist() if isinstance(video_size_thw, Tensor) else video_size_thw
    frames, height, width = size
    grid = Grid(frames, (height // spatial_merge_size) * (width // spatial_merge_size))
    if video_embeds.shape[0] != grid.frames * grid.tokens:
        raise ValueError(
            f"video_embeds has {video_embeds.shape[0]} tokens, but video_size_thw {tuple(size)} with "
            f"spatial_merge_size {spatial_merge_size} means {grid.frames} x {grid.tokens}: "
            "give the video's size before merging"
        )
    return grid
