"""VidCom2 video pruning (arXiv 2505.14454), as it was: every frame's budget is its own read.

Host reads: ``item`` for each frame and once for the mask's sum, T + 1 in all. Where the budgets do not
add up to the count, the reconcile step adds two copies: in ``nonzero``, and for the scalar that it writes.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def compute_retained_tokens_count(tokens_per_frame: int, num_frames: int, q: float) -> int:
    total = tokens_per_frame * num_frames
    return min(max(num_frames, int(total * (1 - q))), total)


def compute_retention_mask(
    video_embeds: Tensor,
    video_size_thw: tuple[int, int, int] | Tensor,
    spatial_merge_size: int,
    q: float,
) -> Tensor:
    size = video_size_thw.tolist() if isinstance(video_size_thw, Tensor) else video_size_thw
    frames, height, width = size
    tokens = (height // spatial_merge_size) * (width // spatial_merge_size)
    if frames * tokens == 0:
        return torch.zeros(0, dtype=torch.bool, device=video_embeds.device)
    features = steady_features(video_embeds).view(frames, tokens, -1)
    to_video = similarity(features, features.mean(dim=(0, 1)))
    redundancy = to_video + similarity(features, features.mean(dim=1, keepdim=True))
    budgets = frame_budgets(to_video, q)
    count = compute_retained_tokens_count(tokens, frames, q)
    mask = least_redundant(redundancy, budgets).flatten()
    reconcile(mask, redundancy.flatten(), int(mask.sum().item()), count)
    return mask


def steady_features(video_embeds: Tensor) -> Tensor:
    """The half of the channels that vary least over all tokens, normalised to length 1."""
    kept = max(1, int(video_embeds.shape[-1] * 0.5))
    variance = video_embeds.var(dim=0, correction=0)
    channels = variance.topk(kept, largest=False, sorted=False).indices
    tiny = torch.finfo(video_embeds.dtype).tiny
    return F.normalize(video_embeds.index_select(1, channels), dim=-1, eps=max(1e-12, tiny))


def similarity(features: Tensor, centre: Tensor) -> Tensor:
    """A sum of Gaussian kernels of the distance to ``centre``, one value a token, ``(T, N)``."""
    distance = (features - centre).square().sum(-1)
    bandwidths = torch.arange(-3, 2, dtype=distance.dtype, device=distance.device).exp2()
    return torch.exp(-distance.unsqueeze(-1) / (2 * bandwidths)).sum(-1)


def frame_budgets(to_video: Tensor, q: float) -> Tensor:
    """How many tokens each frame keeps, ``(T,)``: more where the frame is unlike the video."""
    score = -to_video.mean(dim=1)
    share = torch.softmax((score - score.max()) / 0.01, dim=0)
    scale = ((1 - q) * (1 + share - share.mean())).clamp(max=1)
    tokens = to_video.shape[1]
    return (scale * tokens).round().to(torch.int64).clamp(1, tokens)


def least_redundant(redundancy: Tensor, budgets: Tensor) -> Tensor:
    """Each frame's least redundant tokens, as many as its budget: a boolean mask ``(T, N)``."""
    mask = torch.zeros_like(redundancy, dtype=torch.bool)
    for frame in range(len(redundancy)):
        budget = int(budgets[frame].item())
        kept = redundancy[frame].topk(budget, largest=False, sorted=False).indices
        mask[frame].scatter_(0, kept, True)
    return mask


def reconcile(mask: Tensor, redundancy: Tensor, kept: int, count: int) -> None:
    """Drop the most redundant kept tokens, or add the least redundant others, until ``count`` are left."""
    if kept == count:
        return
    too_many = kept > count
    candidates = torch.nonzero(mask == too_many).squeeze(1)
    chosen = redundancy[candidates].topk(abs(kept - count), largest=too_many, sorted=False).indices
    mask[candidates[chosen]] = not too_many
