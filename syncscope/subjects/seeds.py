"""Equal random numbers for whoever has to be given equal inputs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global generators of torch (each device), numpy and Python; put their states back on exit."""
    import numpy
    import torch

    generators = (torch.default_generator, *torch.cuda.default_generators)
    states = [generator.get_state() for generator in generators]
    numpys, pythons = numpy.random.get_state(), random.getstate()
    try:
        torch.manual_seed(seed)
        numpy.random.seed(seed)
        random.seed(seed)
        yield
    finally:
        for generator, state in zip(generators, states, strict=True):
            generator.set_state(state)
        numpy.random.set_state(numpys)
        random.setstate(pythons)
