"""The inputs of calls that are timed: who makes them, when, and how many at a time."""

from __future__ import annotations

import random
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice, product
from typing import TYPE_CHECKING, Any, Protocol

from syncscope.comparison.contents import arrays
from syncscope.events import SIDES, Side
from syncscope.subjects import Unusable
from syncscope.subjects.cases import Case

if TYPE_CHECKING:
    from syncscope.subjects.inputs import Workload
    from syncscope.subjects.made_inputs import Arguments

# Of each side, between two pauses in which inputs are made.
_MOST_AHEAD = 50
_BYTES_AHEAD = 32 * 2**20
_BYTES_ROTATED = 4 * 2**30


@dataclass(frozen=True)
class Maker:
    """Makes the inputs of one case: number ``n`` of either side with the ``n``-th seed, in turn."""

    workload: Workload
    case: Case
    device: str
    seeds: tuple[int, ...]

    def made(self, seeds: Sequence[int]) -> list[Arguments]:
        """A set for each seed."""
        return self.workload.series(self.case, seeds, self.device)

    def one(self, number: int) -> Arguments:
        """The ``number``-th set."""
        return self.made([self.seed(number)])[0]

    def seed(self, number: int) -> int:
        """The seed of the ``number``-th call of each side."""
        return self.seeds[number % len(self.seeds)]


class InputSets(Protocol):
    """Has the inputs of the next call."""

    def take(self, side: Side, number: int) -> Arguments:
        """The inputs of the ``number``-th call of ``side``, asked for once more where it is made again.

        Both sides have to be asked equally often for each.
        """


class Fresh:
    """Every call has a set of its own.

    They are made for many calls at once: what making them costs, and what it leaves in the processor's
    caches, would else be around every sample. Which of two equal calls has the set that was made first is
    drawn: the younger one lies nearer, in the caches and in memory.
    """

    def __init__(self, maker: Maker, ahead: int, coin: random.Random) -> None:
        """Have up to ``ahead`` sets a side ready."""
        self._maker = maker
        self._coin = coin
        self._each = max(1, ahead // len(maker.seeds))
        self._ready: dict[tuple[Side, int], deque[Arguments]] = {
            (side, seed): deque() for seed in maker.seeds for side in SIDES
        }

    def take(self, side: Side, number: int) -> Arguments:
        """A set that nobody had; where none is left, all are filled up."""
        ready = self._ready[side, self._maker.seed(number)]
        if not ready:
            self._fill()
        return ready.popleft()

    def _fill(self) -> None:
        lacking = list(self._lacking())
        for key, made in zip(lacking, self._maker.made([seed for _, seed in lacking]), strict=True):
            self._ready[key].append(made)

    def _lacking(self) -> Iterator[tuple[Side, int]]:
        """Whose sets are to be made, in the order of making."""
        there = {key: len(ready) for key, ready in self._ready.items()}
        for at, seed in product(range(self._each), self._maker.seeds):
            yield from ((side, seed) for side in self._coin.sample(SIDES, 2) if there[side, seed] <= at)


class OneByOne:
    """Every call has a set that is made right before it: later, it may be over what another call wrote."""

    def __init__(self, maker: Maker) -> None:
        """Have nothing ready."""
        self._maker = maker

    def take(self, side: Side, number: int) -> Arguments:
        """A new set."""
        return self._maker.one(number)


class Rotated:
    """Two times a number of sets, equal two and two, that are made once and used in turn.

    Which side has which of the two is drawn for each turn: one may lie better in memory than the other.
    """

    def __init__(self, maker: Maker, number: int, coin: random.Random) -> None:
        """Make them."""
        seeds = list(islice(cycle(maker.seeds), number))
        self._sets = (maker.made(seeds), maker.made(seeds))
        self._coin = coin
        self._old_has: list[int] = []

    def take(self, side: Side, number: int) -> Arguments:
        """The set whose turn it is."""
        while len(self._old_has) <= number:
            self._old_has.append(self._coin.randrange(2))
        olds = self._old_has[number]
        sets = self._sets[olds if side == "old" else 1 - olds]
        return sets[number % len(sets)]


def ahead(first: Arguments, second: Arguments) -> int:
    """How many sets of each side to make at once, by the size of what one set doesn't share with another."""
    return max(1, min(_MOST_AHEAD, _BYTES_AHEAD // max(1, 2 * _own_bytes(first, second))))


def check_rotation(rotate: int, first: Arguments, second: Arguments) -> None:
    """Refuse more sets than memory should hold.

    Raises:
        Unusable: with one line.
    """
    size = 2 * rotate * _own_bytes(first, second)
    if size > _BYTES_ROTATED:
        raise Unusable(
            f"rotate: {rotate} sets of each side would take {size / 2**30:.1f} GiB, at most "
            f"{_BYTES_ROTATED >> 30} are held: give fewer"
        )


def state(made: Arguments) -> list[int]:
    """What changes where an array of a set is written into: versions of tensors, checksums of NumPy's."""
    return [_state(array) for array in _arrays(made)]


def is_one_memory(first: Arguments, second: Arguments) -> bool:
    """Whether two sets that were made one after the other have other arrays over the same memory."""
    memory = {_address(array) for array in _arrays(first)} - {0}
    return any(_address(array) in memory for array in _own(first, second))


def _state(array: Any) -> int:
    if hasattr(array, "_version"):
        return 0 if array.is_inference() else int(array._version)
    return 0 if array.dtype.hasobject else zlib.crc32(array.tobytes())


def _address(array: Any) -> int:
    """Where the values lie; 0 for what has no memory of its own, as sparse tensors."""
    if hasattr(array, "ctypes"):
        return int(array.ctypes.data) if array.nbytes else 0
    try:
        return int(array.data_ptr())
    except RuntimeError:
        return 0


def _own_bytes(first: Arguments, second: Arguments) -> int:
    return sum(map(_bytes, _own(first, second)))


def _own(first: Arguments, second: Arguments) -> Iterator[Any]:
    """The arrays of ``second`` that it doesn't share with ``first``: not those of a model, say."""
    shared = {id(array) for array in _arrays(first)}
    return (array for array in _arrays(second) if id(array) not in shared)


def _bytes(array: Any) -> int:
    # A sparse tensor has no nbytes of its own.
    return int(array.numel() * array.element_size() if hasattr(array, "element_size") else array.nbytes)


def _arrays(made: Arguments) -> Iterator[Any]:
    """Those that have values: parameters of lazy modules have none yet."""
    from torch.nn.parameter import is_lazy

    return (array for array in arrays(made) if not is_lazy(array))
