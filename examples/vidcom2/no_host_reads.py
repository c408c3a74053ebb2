"""VidCom2 video pruning (arXiv 2505.14454), without any host read.

No read, no copy, and the same operators for 128 frames as for 2: the budgets stay on the device. The mask is
``read_once``'s where no two scores are equal; which of two equal scores stays is left to top-k in both.

A frame's top-k takes all N tokens, and then as many of its first places are True as the budget says.
The reconcile step needs no branch: the answer is always the first ``count`` tokens of one order, the frames'
choices before the rest, the less redundant before the more. ``count`` is known without the device.

Above 4096 tokens a frame PyTorch orders the result of a top-k by ``sort``, which copies within the device.
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
    kept = least_redundant(redundancy, budgets)
    return first(count, preference(kept, redundancy).flatten())


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
    tokens = redundancy.shape[1]
    order = redundancy.topk(tokens, largest=False).indices
    place = torch.arange(tokens, device=redundancy.device)
    mask = torch.zeros_like(redundancy, dtype=torch.bool)
    return mask.scatter_(1, order, place < budgets.unsqueeze(1))


def preference(kept: Tensor, redundancy: Tensor) -> Tensor:
    """Whole numbers that order the kept tokens before the others, and each by redundancy.

    The bits of a float that is not negative, read as an integer, are in the float's order: exact, where an
    added offset would round. The sign bit is free to say that a token is kept.
    """
    integer = {2: torch.int16, 4: torch.int32, 8: torch.int64}[redundancy.element_size()]
    bits = redundancy.view(integer)
    return torch.where(kept, bits + torch.iinfo(integer).min, bits)


def first(count: int, order: Tensor) -> Tensor:
    """The ``count`` smallest of ``order``, as a boolean mask."""
    chosen = order.topk(count, largest=False, sorted=False).indices
    return torch.zeros_like(order, dtype=torch.bool).scatter_(0, chosen, True)
