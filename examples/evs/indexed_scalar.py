"""EVS video pruning (arXiv 2510.14624), with an indexed write of a Python scalar.

``mask[kept] = True`` makes a tensor of the Python scalar on the host and uploads it, and the host waits.
The copies within the device are the sort's.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def compute_retained_tokens_count(tokens_per_frame: int, num_frames: int, q: float) -> int:
    total = tokens_per_frame * num_frames
    return min(max(tokens_per_frame, int(total * (1 - q))), total)


def compute_retention_mask(
    video_embeds: Tensor,
    video_size_thw: tuple[int, int, int] | Tensor,
    spatial_merge_size: int,
    q: float,
) -> Tensor:
    size = video_size_thw.tolist() if isinstance(video_size_thw, Tensor) else video_size_thw
    frames, height, width = size
    tokens = (height // spatial_merge_size) * (width // spatial_merge_size)
    mask = torch.zeros(frames * tokens, dtype=torch.bool, device=video_embeds.device)
    if mask.numel() == 0:
        return mask
    scores = dissimilarity(video_embeds.view(frames, tokens, -1))
    order = scores.flatten().argsort(stable=True, descending=True)
    kept = order[: compute_retained_tokens_count(tokens, frames, q)]
    mask[kept] = True
    return mask


def dissimilarity(features: Tensor) -> Tensor:
    """``1 - cosine`` of every token to the previous frame's at the same place; 255 in the first frame."""
    unit = F.normalize(features, dim=-1, eps=max(1e-12, torch.finfo(features.dtype).tiny))
    scores = torch.full_like(features[..., 0], 255)
    scores[1:].fill_(1).sub_((unit[1:] * unit[:-1]).sum(-1))
    return scores
