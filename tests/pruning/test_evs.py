"""EVS keeps the first frame whole, then what changed most since the previous frame."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from syncscope.pruning import evs

DTYPES = [torch.bfloat16, torch.float16, torch.float32, torch.float64]
videos = {
    "frames": st.integers(1, 6),
    "height": st.integers(1, 4),
    "width": st.integers(1, 4),
    "q": st.floats(0, 0.99),
    "seed": st.integers(0, 2**32),
}


def a_video(frames, height, width, seed, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randn(frames * height * width, 6, generator=generator, dtype=torch.float64)
    return tokens.to(dtype), (frames, 2 * height, 2 * width), 2


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)


def reference(video, frames, tokens, q):
    """EVS in plain Python."""
    scores = [255.0] * tokens + [1 - cosine(video[i], video[i - tokens]) for i in range(tokens, len(video))]
    order = sorted(range(len(video)), key=lambda i: -scores[i])
    kept = set(order[: max(tokens, int(frames * tokens * (1 - q)))])
    return [i in kept for i in range(len(video))]


@settings(max_examples=60, deadline=None)
@given(**videos)
def test_the_mask_is_that_of_the_text_written_in_plain_python(frames, height, width, q, seed):
    video, size, merge = a_video(frames, height, width, seed)
    mask = evs.compute_retention_mask(video, size, merge, q)
    assert mask.tolist() == reference(video.tolist(), frames, height * width, q)


@settings(max_examples=60, deadline=None)
@given(**videos, dtype=st.sampled_from(DTYPES))
def test_the_first_frame_is_whole_and_the_count_as_announced(frames, height, width, q, seed, dtype):
    video, size, merge = a_video(frames, height, width, seed, dtype)
    mask = evs.compute_retention_mask(video, size, merge, q)
    assert mask.dtype == torch.bool and mask.shape == (len(video),)
    assert mask[: height * width].all()
    assert mask.sum() == evs.compute_retained_tokens_count(height * width, frames, q)


@given(st.integers(1, 600), st.integers(1, 200), st.floats(0, 1, exclude_max=True))
def test_the_count_is_the_fraction_left_and_at_least_a_frame(tokens, frames, q):
    count = evs.compute_retained_tokens_count(tokens, frames, q)
    assert count == max(tokens, int(frames * tokens * (1 - q)))
    assert tokens <= count <= frames * tokens


def test_a_frame_that_repeats_the_previous_one_is_dropped_before_one_that_does_not():
    first, changed = torch.eye(4), torch.eye(4).flip(0)
    mask = evs.compute_retention_mask(torch.cat([first, first, changed]), (3, 4, 4), 2, 1 / 3)
    assert mask.tolist() == [True] * 4 + [False] * 4 + [True] * 4


def test_equal_tokens_stay_in_their_order():
    mask = evs.compute_retention_mask(torch.ones(12, 4), (3, 4, 4), 2, 0.5)
    assert mask.tolist() == [True] * 6 + [False] * 6


@pytest.mark.parametrize("size", [(0, 4, 4), (3, 0, 4), (3, 1, 4)])
def test_an_empty_video_gives_an_empty_mask_and_count(size):
    mask = evs.compute_retention_mask(torch.empty(0, 8), size, 2, 0.5)
    assert mask.dtype == torch.bool and mask.shape == (0,)
    tokens = (size[1] // 2) * (size[2] // 2)
    assert evs.compute_retained_tokens_count(tokens, size[0], 0.5) == 0


def test_the_size_may_be_a_tensor():
    video, size, merge = a_video(3, 2, 3, seed=1)
    of_tuple = evs.compute_retention_mask(video, size, merge, 0.5)
    assert torch.equal(of_tuple, evs.compute_retention_mask(video, torch.tensor(size), merge, 0.5))


def test_a_size_that_does_not_fit_is_said_in_one_line():
    with pytest.raises(
        ValueError, match=r"^video_embeds has 9 tokens, but video_size_thw \(2, 4, 4\) .* 2 x 4: "
    ):
        evs.compute_retention_mask(torch.zeros(9, 4), (2, 4, 4), 2, 0.5)
