"""One setting names the method, a second the rate; a bad one fails when the configuration is built."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from types import ModuleType

import pytest

from syncscope.pruning import VideoPruningConfig, VideoPruningSpec, evs, spec, vidcom2


def test_evs_is_the_default_method():
    config = VideoPruningConfig(video_pruning_rate=0.75)
    assert config.get_video_pruning_spec() == VideoPruningSpec(method="evs", rate=0.75)


def test_the_two_settings_make_the_specification():
    config = VideoPruningConfig("vidcom2", 0.5)
    assert config.get_video_pruning_spec() == VideoPruningSpec(method="vidcom2", rate=0.5)


@pytest.mark.parametrize("rate", [None, 0, 0.0])
def test_there_is_no_specification_when_pruning_is_off(rate):
    assert VideoPruningConfig("vidcom2", rate).get_video_pruning_spec() is None


@pytest.mark.parametrize("rate", [None, 0.5])
def test_an_unknown_method_fails_at_once_with_the_list_of_supported(rate):
    with pytest.raises(ValueError) as caught:
        VideoPruningConfig("fastv", rate)
    assert str(caught.value) == (
        "video_pruning_method is 'fastv', which is not supported here: choose one of evs, vidcom2"
    )


def test_a_method_that_the_model_does_not_support_fails_at_once():
    with pytest.raises(ValueError) as caught:
        VideoPruningConfig("vidcom2", 0.5, supported_video_pruning_methods=("evs",))
    assert str(caught.value) == (
        "video_pruning_method is 'vidcom2', which is not supported here: choose one of evs"
    )


def test_a_model_cannot_support_a_method_that_nobody_wrote():
    with pytest.raises(ValueError, match=r"choose one of \(none\)$"):
        VideoPruningConfig("fastv", 0.5, supported_video_pruning_methods=("fastv",))


@pytest.mark.parametrize("rate", [-0.1, 1, 1.5, float("nan")])
def test_a_rate_out_of_range_fails_at_once(rate):
    with pytest.raises(ValueError) as caught:
        VideoPruningConfig("evs", rate)
    assert str(caught.value) == (
        f"video_pruning_rate is {rate!r}, expected the fraction pruned, in [0, 1): "
        "give 0.75 to prune three tokens of four, or None to prune nothing"
    )


def test_configuration_and_specification_are_frozen():
    with pytest.raises(FrozenInstanceError):
        VideoPruningConfig().video_pruning_rate = 0.5
    with pytest.raises(FrozenInstanceError):
        VideoPruningSpec("evs", 0.5).rate = 0.6


def test_a_specification_loads_its_method():
    assert VideoPruningSpec("evs", 0.5).load() is evs
    assert VideoPruningSpec("vidcom2", 0.5).load() is vidcom2


def test_every_declared_method_has_the_two_functions():
    for name in spec.supported_video_pruning_methods:
        method = VideoPruningSpec(name, 0.5).load()
        assert callable(method.compute_retained_tokens_count) and callable(method.compute_retention_mask)


def test_a_new_method_is_two_functions_and_one_entry(monkeypatch):
    every_second = ModuleType("every_second")
    every_second.compute_retained_tokens_count = lambda tokens_per_frame, num_frames, q: 0
    every_second.compute_retention_mask = lambda video_embeds, video_size_thw, spatial_merge_size, q: None
    monkeypatch.setitem(sys.modules, "every_second", every_second)
    declared = {**spec.supported_video_pruning_methods, "every_second": "every_second"}
    monkeypatch.setattr(spec, "supported_video_pruning_methods", declared)
    found = VideoPruningConfig("every_second", 0.5).get_video_pruning_spec()
    assert found is not None and found.load() is every_second


def test_the_specification_needs_no_torch():
    program = "import sys, syncscope.pruning; print('torch' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
