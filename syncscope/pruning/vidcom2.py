"""VidCom2: keep the least redundant video tokens, and more of them in frames that stand out.

Video Compression Commander, EMNLP 2025, arXiv 2505.14454. This is the form that reads all frame budgets
with one transfer. All arithmetic stays in the input's dtype.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from syncscope.pruning.grid import grid_of

KEPT_CHANNELS = 0.5
LOG2_BANDWIDTHS = (-3, 2)
TEMPERATURE = 0.01


def compute_retained_tokens_count(tokens_per_frame: int, num_frames: int, q: float) -> int:
    """How many tokens survive: the fraction ``1 - q``, at least one a frame."""
    total = tokens_per_frame * num_frames
    return min(max(num_frames, int(total * (1 - q))), total)


def compute_retention_mask(
    video_embeds: Tensor,
    video_size_thw: tuple[int, int, int] | Tensor,
    spatial_merge_size: int,
    q: float,
) -> Tensor:
    """The tokens least similar to the video's centre and to their frame's.

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
    if frames * tokens == 0:
        return torch.zeros(0, dtype=torch.bool, device=video_embeds.device)
    features = _steady_features(video_embeds).view(frames, tokens, -1)
    to_video = _similarity(features, features.mean(dim=(0, 1)))
    redundancy = to_video + _similarity(features, features.mean(dim=1, keepdim=True))
    budgets: list[int] = _frame_budgets(to_video, q).tolist()
    mask = _least_redundant(redundancy, budgets).flatten()
    _reconcile(mask, redundancy.flatten(), sum(budgets), compute_retained_tokens_count(tokens, frames, q))
    return mask


def _steady_features(video_embeds: Tensor) -> Tensor:
    """The channels that vary least over all tokens, normalised to length 1."""
    kept = max(1, int(video_embeds.shape[-1] * KEPT_CHANNELS))
    variance = video_embeds.var(dim=0, correction=0)
    channels = variance.topk(kept, largest=False, sorted=False).indices
    tiny = torch.finfo(video_embeds.dtype).tiny
    return F.normalize(video_embeds.index_select(1, channels), dim=-1, eps=max(1e-12, tiny))


def _similarity(features: Tensor, centre: Tensor) -> Tensor:
    """A sum of Gaussian kernels of the distance to ``centre``, one value a token, ``(T, N)``."""
    distance = (features - centre).square().sum(-1)
    bandwidths = torch.arange(*LOG2_BANDWIDTHS, dtype=distance.dtype, device=distance.device).exp2()
    return torch.exp(-distance.unsqueeze(-1) / (2 * bandwidths)).sum(-1)


def _frame_budgets(to_video: Tensor, q: float) -> Tensor:
    """How many tokens each frame keeps, ``(T,)``: more where the frame is unlike the video."""
    score = -to_video.mean(dim=1)
    share = torch.softmax((score - score.max()) / TEMPERATURE, dim=0)
    scale = ((1 - q) * (1 + share - share.mean())).clamp(max=1)
    tokens = to_video.shape[1]
    # Clamped as an integer: bfloat16 rounds a large frame size up, past its own tokens.
    return (scale * tokens).round().to(torch.int64).clamp(1, tokens)


def _least_redundant(redundancy: Tensor, budgets: list[int]) -> Tensor:
    """Each frame's ``budget`` least redundant tokens, a boolean mask ``(T, N)``."""
    mask = torch.zeros_like(redundancy, dtype=torch.bool)
    for frame, budget in enumerate(budgets):
        kept = redundancy[frame].topk(budget, largest=False, sorted=False).indices
        mask[frame].scatter_(0, kept, True)
    return mask


def _reconcile(mask: Tensor, redundancy: Tensor, kept: int, count: int) -> None:
    """Drop the most redundant kept tokens, or add the least redundant others, until ``count`` are left."""
    if kept == count:
        return
    too_many = kept > count
    candidates = torch.nonzero(mask == too_many).squeeze(1)
    chosen = redundancy[candidates].topk(abs(kept - count), largest=too_many, sorted=False).indices
    mask[candidates[chosen]] = not too_many
