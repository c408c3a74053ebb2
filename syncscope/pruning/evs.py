"""EVS: drop the video tokens that repeat what the previous frame showed at the same place.

Efficient Video Sampling, arXiv 2510.14624. The first frame is always kept whole.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from syncscope.pruning.grid import grid_of

# A dissimilarity is at most 2, so the first frame's tokens stand before all others.
FIRST_FRAME_DISSIMILARITY = 255.0


def compute_retained_tokens_count(tokens_per_frame: int, num_frames: int, q: float) -> int:
    """How many tokens survive: the fraction ``1 - q``, at least the first frame."""
    total = tokens_per_frame * num_frames
    return min(max(tokens_per_frame, int(total * (1 - q))), total)


def compute_retention_mask(
    video_embeds: Tensor,
    video_size_thw: tuple[int, int, int] | Tensor,
    spatial_merge_size: int,
    q: float,
) -> Tensor:
    """The tokens that differ most from the token at the same place in the previous frame.

    Args:
        video_embeds: floating point, ``(T*H*W/merge**2, hidden)``, features after the vision tower.
        video_size_thw: ``(T, H, W)`` before merging, a tuple or an integer tensor.
        spatial_merge_size: divides H and W.
        q: the fraction pruned, in ``[0, 1)``.

    Returns:
        A boolean mask, ``(T*H*W/merge**2,)``, frame-major, on the input's device, with exactly
        ``compute_retained_tokens_count`` True values.

    Raises:
        ValueError: the size does not account for the number of tokens.
    """
    frames, tokens = grid_of(video_embeds, video_size_thw, spatial_merge_size)
    mask = torch.zeros(frames * tokens, dtype=torch.bool, device=video_embeds.device)
    if mask.numel() == 0:
        return mask
    dissimilarity = _dissimilarity(video_embeds.view(frames, tokens, -1))
    order = dissimilarity.flatten().argsort(stable=True, descending=True)
    mask[order[: compute_retained_tokens_count(tokens, frames, q)]] = True
    return mask


def _dissimilarity(features: Tensor) -> Tensor:
    """``1 - cosine`` of every token to the previous frame's, ``(T, N)`` from ``(T, N, hidden)``."""
    unit = F.normalize(features, dim=-1, eps=max(1e-12, torch.finfo(features.dtype).tiny))
    dissimilarity = torch.full_like(features[..., 0], FIRST_FRAME_DISSIMILARITY)
    dissimilarity[1:].fill_(1).sub_((unit[1:] * unit[:-1]).sum(-1))
    return dissimilarity
