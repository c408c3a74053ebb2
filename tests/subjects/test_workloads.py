"""The built-in video is equal on every device, fresh for every call, and of the kind asked for."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from syncscope.pruning import vidcom2
from syncscope.subjects.workloads import UnusableWorkload, VideoWorkload, has_pruning_contract, rectangle


def test_the_defaults_are_those_of_the_published_figures():
    (video, size, merge, q), keywords = VideoWorkload().inputs({"frames": 32})
    assert video.shape == (32 * 196, 1024) and video.dtype == torch.bfloat16
    assert (size, merge, q, keywords) == ((32, 28, 28), 2, 0.5, {})


def test_a_case_replaces_the_defaults():
    case = {"frames": 3, "tokens_per_frame": 12, "q": 0.25, "dtype": "float32", "hidden": 8}
    (video, size, merge, q), _ = VideoWorkload(hidden=16).inputs(case)
    assert video.shape == (36, 8) and video.dtype == torch.float32
    assert (size, merge, q) == ((3, 6, 8), 2, 0.25)


@pytest.mark.parametrize("kind", ["scenes", "noise"])
def test_equal_seeds_give_equal_values_and_others_do_not(kind):
    def video(seed):
        return VideoWorkload(kind, hidden=16).inputs({}, seed)[0][0]

    assert torch.equal(video(0), video(0))
    assert not torch.equal(video(0), video(1))


def test_every_call_gets_tensors_of_its_own():
    workload = VideoWorkload(hidden=16)
    first = workload.inputs({})[0][0]
    expected = first.clone()
    first.zero_()
    assert torch.equal(workload.inputs({})[0][0], expected)


def test_making_inputs_leaves_the_global_random_numbers_alone():
    before = torch.get_rng_state()
    VideoWorkload(hidden=8).inputs({}, seed=123)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_device_is_the_one_asked_for():
    assert VideoWorkload(hidden=16).inputs({}, device="meta")[0][0].is_meta


def test_frames_of_scenes_have_means_of_their_own_and_those_of_noise_one():
    def means(kind):
        video = VideoWorkload(kind, frames=5, dtype="float32").inputs({})[0][0]
        return video.view(5, -1).mean(1).sort().values

    torch.testing.assert_close(means("scenes"), torch.linspace(0, 2, 5), atol=0.02, rtol=0)
    torch.testing.assert_close(means("noise"), torch.zeros(5), atol=0.02, rtol=0)


def reconciles(workload, seed, monkeypatch):
    """Whether the budgets of VidCom2 miss the count for this video."""
    missed = []
    with monkeypatch.context() as patch:
        patch.setattr(vidcom2, "_reconcile", lambda mask, scores, kept, count: missed.append(kept != count))
        vidcom2.compute_retention_mask(*workload.inputs({}, seed)[0])
    return missed[0]


@pytest.mark.parametrize(("frames", "scenes"), [(2, False), (8, True), (32, True)])
def test_scenes_need_the_reconcile_step_as_published_and_noise_never(frames, scenes, monkeypatch):
    assert reconciles(VideoWorkload("scenes", frames), 0, monkeypatch) == scenes
    assert not reconciles(VideoWorkload("noise", frames), 0, monkeypatch)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize(("frames", "expected"), [(2, False), (8, True)])
def test_scenes_behave_so_for_any_seed_dtype_and_width(frames, expected, dtype, monkeypatch):
    for seed, hidden in [(1, 64), (2, 128), (3, 256)]:
        workload = VideoWorkload("scenes", frames, hidden=hidden, dtype=dtype)
        assert reconciles(workload, seed, monkeypatch) == expected


@given(st.integers(1, 2000))
def test_a_rectangle_is_the_most_nearly_square_one(tokens):
    try:
        height, width = rectangle(tokens)
    except UnusableWorkload:
        assert tokens > 3 and all(tokens % n for n in range(2, tokens))
    else:
        assert height * width == tokens and height <= width
        assert not any(tokens % h == 0 and h * h <= tokens for h in range(height + 1, width))


@pytest.mark.parametrize(("tokens", "expected"), [(1, (1, 1)), (3, (1, 3)), (48, (6, 8)), (196, (14, 14))])
def test_rectangles(tokens, expected):
    assert rectangle(tokens) == expected


CHOICE = "which is unknown: choose one of"
MESSAGES = {
    "frames is 0, expected a whole number: give 1 or more": {"frames": 0},
    "frames is -1, expected a whole number: give 1 or more": {"frames": -1},
    "frames is 'abc', expected a whole number: give 1 or more": {"frames": "abc"},
    "frames is 2.5, expected a whole number: give 1 or more": {"frames": 2.5},
    "tokens_per_frame is 0, expected a whole number: give 1 or more": {"tokens_per_frame": 0},
    "tokens_per_frame is 197, a prime, expected a number that fills a rectangle: give 196 or 198": {
        "tokens_per_frame": 197
    },
    "hidden is 0, expected a whole number: give 1 or more": {"hidden": 0},
    "q is 1, expected the fraction pruned, in [0, 1): give 0.5 to prune half": {"q": 1},
    "q is -0.1, expected the fraction pruned, in [0, 1): give 0.5 to prune half": {"q": -0.1},
    "q is 'half', expected the fraction pruned, in [0, 1): give 0.5 to prune half": {"q": "half"},
    f"dtype is 'int7', {CHOICE} bfloat16, float16, float32, float64": {"dtype": "int7"},
    "the video workload has no variable 'n': sweep one of frames, tokens_per_frame, hidden, q, dtype, "
    "or define make_inputs": {"n": 4},
}


@pytest.mark.parametrize(("message", "case"), MESSAGES.items(), ids=lambda value: str(value)[:30])
def test_a_bad_case_is_refused_in_one_line(message, case):
    with pytest.raises(UnusableWorkload) as caught:
        VideoWorkload().inputs(case)
    assert str(caught.value) == message


def test_an_unknown_kind_is_refused_in_one_line():
    with pytest.raises(UnusableWorkload) as caught:
        VideoWorkload("static")
    assert str(caught.value) == f"workload is 'static', {CHOICE} scenes, noise"


def test_the_contract_is_recognised_by_its_parameters():
    def with_a_default(video_embeds, video_size_thw, spatial_merge_size, q, temperature=0.01): ...
    def with_a_further_one(video_embeds, video_size_thw, spatial_merge_size, q, temperature): ...
    def in_another_order(video_embeds, q, video_size_thw, spatial_merge_size): ...
    def of_another_kind(tokens, budget): ...

    assert has_pruning_contract(vidcom2.compute_retention_mask)
    assert has_pruning_contract(with_a_default)
    assert not has_pruning_contract(with_a_further_one)
    assert not has_pruning_contract(in_another_order)
    assert not has_pruning_contract(of_another_kind)
    assert not has_pruning_contract(vidcom2.compute_retained_tokens_count)
    assert not has_pruning_contract(lambda *arguments: None)
    assert not has_pruning_contract(dict)
