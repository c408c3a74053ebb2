"""Models of transformers in miniature, with random weights, on the CPU and on the simulated device."""

import inspect
import os
from dataclasses import dataclass

import pytest
import torch

import syncscope
from syncscope.observe.scope import Scope

os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported: nothing is fetched here


@dataclass
class Both:
    """What ``act(model, inputs)`` gave on the CPU, and on the simulated device under ``scope``."""

    expected: list[torch.Tensor]
    found: list[torch.Tensor]
    scope: Scope

    def check(self):
        """Equal bit for bit, nothing unknown, and the report names each line that waits."""
        assert len(self.found) == len(self.expected) > 0
        for found, expected in zip(self.found, self.expected, strict=True):
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            assert torch.equal(bits(found), bits(expected))
        assert self.scope.counts.unknown_ops == 0
        report = self.scope.report()
        for site in self.waits:
            assert site.text and any(place in site.file for place in ("/transformers/", "/tests/models/"))
            assert f"{os.path.basename(site.file)}:{site.line}" in report

    @property
    def waits(self):
        """The lines that wait."""
        return [count.site for count in self.scope.sites if count.waits]

    def waits_at(self, text):
        """How often the host waits at lines that read ``text``."""
        return sum(count.waits for count in self.scope.sites if text in count.site.text)


def bits(tensor):
    """The bytes of a tensor: in those a NaN equals itself."""
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def leaves(value):
    """The tensors in a model's output, those inside of a cache too."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return leaves(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return leaves(vars(value)) if hasattr(value, "__dict__") and not isinstance(value, type) else []


def forward(model, inputs):
    with torch.no_grad():
        return model(**inputs)


@pytest.fixture
def build():
    """Make the model of a class in transformers, of a configuration with these settings."""
    transformers = pytest.importorskip("transformers", reason="the extra `models` isn't installed")
    transformers.logging.set_verbosity_error()

    def made(name, settings):
        kind = getattr(transformers, name)
        torch.manual_seed(0)
        return kind(kind.config_class(**settings)).eval()

    return made


@pytest.fixture
def on_both(build):
    """Let ``act(model, inputs)`` run on the CPU and on the simulated device, from equal random states."""

    def run(name, settings, inputs, act=forward):
        model = build(name, settings)
        inputs = {key: value for key, value in inputs.items() if key in takes(model)}
        torch.manual_seed(1)
        expected = leaves(act(model, inputs))
        model = build(name, settings)
        with syncscope.observe(device="sim") as scope:
            model.to("cuda")
            inputs = {key: value.to("cuda") for key, value in inputs.items()}
            scope.reset()
            torch.manual_seed(1)
            found = leaves(act(model, inputs))
            assert all(tensor.is_cuda for tensor in found)
        return Both(expected, found, scope)

    return run


def takes(model):
    return inspect.signature(model.forward).parameters
