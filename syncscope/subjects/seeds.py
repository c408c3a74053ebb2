"""Equal random numbers for whoever has to be given equal inputs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators of torch (each device), numpy and Python; put their states back on exit."""
    import numpy
    import torch

    states = [(generator, generator.get_state()) for generator in _generators()]
    numpys, pythons = numpy.random.get_state(), random.getstate()
    try:
        seed_again(seed)
        if torch.backends.cuda.is_built() and not torch.cuda.is_initialized():
            torch.cuda.manual_seed_all(seed)  # for whoever is the first to use the GPU
        yield
    finally:
        for generator, state in states:
            generator.set_state(state)
        numpy.random.set_state(numpys)
        random.setstate(pythons)


def seed_again(seed: int) -> None:
    """Inside of ``seeded``: the same for another seed, much faster than to leave it and enter it anew."""
    import numpy

    for generator in _generators():
        generator.manual_seed(seed)
    numpy.random.seed(seed)
    random.seed(seed)


def _generators() -> tuple[torch.Generator, ...]:
    import torch

    return torch.default_generator, *torch.cuda.default_generators
