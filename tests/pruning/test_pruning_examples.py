"""The examples' versions of one function agree, and read as often as their docstrings say."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from syncscope.pruning import evs, vidcom2
from syncscope.subjects.workloads import VideoWorkload, has_pruning_contract

VIDCOM2 = ("vidcom2/per_frame_reads", "vidcom2/read_once", "vidcom2/no_host_reads")
EVS = ("evs/indexed_scalar", "evs/no_upload")
DTYPES = ["bfloat16", "float16", "float32", "float64"]

# What reads, uploads or copies on CUDA: none of it may run in a function without host reads.
READS_AND_UPLOADS = {
    "_local_scalar_dense", "nonzero", "masked_select", "index_put_", "lift_fresh", "clone", "sort",
}  # fmt: skip


class Operators(TorchDispatchMode):
    """Counts the ATen operators that run inside it."""

    def __init__(self):
        super().__init__()
        self.ran = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.ran[func.overloadpacket.__name__] += 1
        return func(*args, **(kwargs or {}))


def operators(function, arguments):
    with Operators() as mode:
        function(*arguments)
    return mode.ran


def redundancy_of(video, size, merge):
    frames, height, width = size
    features = vidcom2._steady_features(video).view(frames, (height // merge) * (width // merge), -1)
    to_video = vidcom2._similarity(features, features.mean(dim=(0, 1)))
    return (to_video + vidcom2._similarity(features, features.mean(dim=1, keepdim=True))).flatten()


@pytest.fixture
def inputs():
    def make(frames, kind="scenes", **case):
        return VideoWorkload(kind, hidden=64).inputs({"frames": frames, **case})[0]

    return make


def test_the_examples_have_the_pruning_contract(example):
    for name in VIDCOM2 + EVS:
        assert has_pruning_contract(example(name).compute_retention_mask)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    frames=st.integers(1, 6),
    tokens=st.sampled_from([1, 2, 4, 6, 12, 20]),
    hidden=st.integers(2, 48),
    q=st.floats(0, 0.99),
    dtype=st.sampled_from(DTYPES),
    kind=st.sampled_from(["scenes", "noise"]),
    seed=st.integers(0, 2**32),
)
def test_the_three_masks_are_equal_where_no_scores_are(example, frames, tokens, hidden, q, dtype, kind, seed):
    workload = VideoWorkload(kind, frames, tokens, hidden, q, dtype)
    arguments, _ = workload.inputs({}, seed)
    masks = [example(name).compute_retention_mask(*arguments) for name in VIDCOM2]
    assert torch.equal(masks[0], masks[1])
    assert torch.equal(masks[1], vidcom2.compute_retention_mask(*arguments))
    redundancy = redundancy_of(*arguments[:3])
    assert torch.equal(redundancy[masks[1]].sort().values, redundancy[masks[2]].sort().values)
    assume(redundancy.unique().numel() == redundancy.numel())
    assert torch.equal(masks[1], masks[2])


@pytest.mark.parametrize("kind", ["scenes", "noise"])
@pytest.mark.parametrize("frames", [1, 2, 8, 32])
def test_the_three_masks_are_equal_on_the_workload(example, inputs, frames, kind):
    arguments = inputs(frames, kind, dtype="float64")
    masks = [example(name).compute_retention_mask(*arguments) for name in VIDCOM2]
    assert torch.equal(masks[0], masks[1]) and torch.equal(masks[1], masks[2])


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_two_forms_of_evs_are_equal(example, inputs, dtype):
    for frames, q in [(1, 0.5), (2, 0.9), (8, 0.25)]:
        arguments = inputs(frames, dtype=dtype, q=q)
        masks = [example(name).compute_retention_mask(*arguments) for name in EVS]
        assert torch.equal(masks[0], masks[1])
        assert torch.equal(masks[0], evs.compute_retention_mask(*arguments))


@pytest.mark.parametrize("name", VIDCOM2 + EVS)
def test_the_examples_announce_the_mask_that_they_make(example, inputs, name):
    module = example(name)
    for frames, q in [(1, 0.0), (3, 0.5), (8, 0.99)]:
        mask = module.compute_retention_mask(*inputs(frames, q=q))
        assert mask.sum() == module.compute_retained_tokens_count(196, frames, q)
    assert module.compute_retention_mask(torch.empty(0, 8), (0, 4, 4), 2, 0.5).shape == (0,)
    of_tensor = module.compute_retention_mask(torch.ones(12, 8), torch.tensor((3, 4, 4)), 2, 0.5)
    assert of_tensor.sum() == module.compute_retained_tokens_count(4, 3, 0.5)


@pytest.mark.parametrize(("frames", "reconciled"), [(2, False), (8, True), (32, True)])
def test_per_frame_reads_reads_t_plus_1_scalars_and_read_once_none(example, inputs, frames, reconciled):
    arguments = inputs(frames)
    old = operators(example("vidcom2/per_frame_reads").compute_retention_mask, arguments)
    new = operators(example("vidcom2/read_once").compute_retention_mask, arguments)
    assert (old["_local_scalar_dense"], new["_local_scalar_dense"]) == (frames + 1, 0)
    for ran in (old, new):
        assert ran["topk"] == frames + 1 + reconciled
        assert ran["scatter_"] == frames
        assert ran["nonzero"] == ran["index_put_"] == reconciled


def test_read_once_reads_one_vector(example, inputs, monkeypatch):
    read = []
    tolist = torch.Tensor.tolist
    monkeypatch.setattr(torch.Tensor, "tolist", lambda self: read.append(self.shape) or tolist(self))
    example("vidcom2/read_once").compute_retention_mask(*inputs(8))
    assert read == [(8,)]


def test_no_host_reads_runs_where_there_is_nothing_to_read(example):
    # A meta tensor has no values: whatever reads one, or needs a shape that depends on one, raises.
    video = torch.empty(8 * 196, 64, dtype=torch.bfloat16, device="meta")
    mask = example("vidcom2/no_host_reads").compute_retention_mask(video, (8, 28, 28), 2, 0.5)
    assert mask.is_meta and mask.shape == (8 * 196,)
    for name in VIDCOM2[:2]:
        with pytest.raises((NotImplementedError, RuntimeError)):
            example(name).compute_retention_mask(video, (8, 28, 28), 2, 0.5)


def test_no_host_reads_runs_the_same_operators_for_any_number_of_frames(example, inputs):
    function = example("vidcom2/no_host_reads").compute_retention_mask
    ran = operators(function, inputs(2))
    assert ran == operators(function, inputs(8)) == operators(function, inputs(32))
    assert ran["_to_copy"] == 1  # the budgets become integers, on the device
    assert not READS_AND_UPLOADS & ran.keys()


def test_the_evs_write_of_a_python_scalar_is_an_index_put_and_the_other_a_scatter(example, inputs):
    old, new = (operators(example(name).compute_retention_mask, inputs(4)) for name in EVS)
    assert (old["index_put_"], old["scatter_"]) == (1, 0)
    assert (new["index_put_"], new["scatter_"]) == (0, 1)
