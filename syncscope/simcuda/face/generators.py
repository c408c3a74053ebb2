"""Random numbers of the simulated device: they come from the CPU's generators, as in a run on the CPU."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from syncscope.simcuda.places import CUDA, means_cuda

_TORCH_GENERATOR: Any = torch.Generator


class Generator(_TORCH_GENERATOR):  # type: ignore[misc]
    """``torch.Generator(device="cuda")``."""

    def __new__(cls) -> Generator:
        """A new generator, whose numbers are those of a CPU generator with the same seed."""
        made: Generator = super().__new__(cls, device="cpu")
        return made

    def get_offset(self) -> int:
        """How far a counter has come that a CPU generator doesn't have."""
        return 0

    def set_offset(self, offset: int) -> None:
        """There is no counter to be set."""

    @property
    def device(self) -> torch.device:
        """Where it makes numbers."""
        return CUDA


class _DefaultGenerator(Generator):
    """``torch.cuda.default_generators[0]``: what the CPU's own default generator is on the CPU."""

    def manual_seed(self, seed: int) -> _DefaultGenerator:
        """Begin again at ``seed``."""
        torch.default_generator.manual_seed(seed)
        return self

    def seed(self) -> int:
        """Begin again anywhere; where is returned."""
        return torch.default_generator.seed()

    def initial_seed(self) -> int:
        """Where it began."""
        return torch.default_generator.initial_seed()

    def get_state(self) -> torch.Tensor:
        """All that decides the numbers to come."""
        return torch.default_generator.get_state()

    def set_state(self, state: torch.Tensor) -> None:
        """Go on from ``state``."""
        torch.default_generator.set_state(state)


_DEFAULT = _DefaultGenerator()


def generator(device: Any = None) -> Any:
    """``torch.Generator(device)``."""
    if device is not None and means_cuda(device):
        return Generator()
    return _TORCH_GENERATOR() if device is None else _TORCH_GENERATOR(device)


def of_the_cpu(given: Any, on_device: bool) -> Any:
    """The CPU's generator that makes the numbers of ``given``.

    Raises:
        RuntimeError: it is of another device than the numbers are for; as PyTorch words it
            (ATen/core/Generator.h, check_generator).
    """
    wanted = "cuda" if on_device else "cpu"
    if given.device.type != wanted:
        raise RuntimeError(f"Expected a '{wanted}' device type for generator but found '{given.device.type}'")
    return torch.default_generator if given is _DEFAULT else given


def seed_from_entropy() -> None:
    """``torch.cuda.seed()``."""
    torch.default_generator.seed()


def manual_seed(seed: int) -> None:
    """``torch.cuda.manual_seed(seed)``."""
    torch.default_generator.manual_seed(int(seed))


def get_rng_state(device: Any = "cuda") -> torch.Tensor:
    """``torch.cuda.get_rng_state()``."""
    return torch.default_generator.get_state()


def set_rng_state(new_state: torch.Tensor, device: Any = "cuda") -> None:
    """``torch.cuda.set_rng_state(state)``."""
    torch.default_generator.set_state(new_state)


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    """``torch.cuda.set_rng_state_all(states)``."""
    for state in new_states:
        set_rng_state(state)


ANSWERS: dict[str, Any] = {
    "default_generators": (_DEFAULT,),
    "seed": seed_from_entropy,
    "seed_all": seed_from_entropy,
    "manual_seed": manual_seed,
    "manual_seed_all": manual_seed,
    "initial_seed": lambda: torch.default_generator.initial_seed(),
    "get_rng_state": get_rng_state,
    "get_rng_state_all": lambda: [get_rng_state()],
    "set_rng_state": set_rng_state,
    "set_rng_state_all": set_rng_state_all,
}
"""What ``torch.cuda`` and ``torch.cuda.random`` say."""
