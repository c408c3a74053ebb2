"""Pruning methods for video tokens, and the specification that names one and its rate.

A method is two functions by one contract:

- ``compute_retained_tokens_count(tokens_per_frame, num_frames, q) -> int``
- ``compute_retention_mask(video_embeds, video_size_thw, spatial_merge_size, q) -> BoolTensor``

``q`` in ``[0, 1)`` is the fraction pruned. The mask has exactly as many True values as the count says.
``evs`` and ``vidcom2`` are submodules; importing this package imports no torch.
"""

from __future__ import annotations

from syncscope.pruning.spec import (
    PruningMethod,
    VideoPruningConfig,
    VideoPruningSpec,
    supported_video_pruning_methods,
)

__all__ = ["PruningMethod", "VideoPruningConfig", "VideoPruningSpec", "supported_video_pruning_methods"]
