"""Old and new in turn, block by block, in one process."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from syncscope.events import Side
from syncscope.latency.clock import Clock
from syncscope.latency.order import Block, balanced
from syncscope.latency.record import Samples
from syncscope.latency.samplers import Call, Sample, Sampler

Prepare = Callable[[Side, int], Call]
"""Makes the call of a side with fresh inputs; the same number means equal inputs for both sides."""

# A pair of which a call was interrupted is made again at once. Where calls are so long or the machine is so
# busy that hardly any passes, that is of no use: so many more calls are made for each that did pass, and a
# few besides.
_REPETITIONS = 4
_SPARE = 10

# The generations of the garbage collector, and how often to look at the oldest: what it does there leaves the
# caches of small functions colder.
_YOUNG, _ALL = 1, 2
_FULL_EVERY = 16


MOST_BLOCKS = 5_000
"""Where a time budget ends, however much is left of it: more would only fill the disk."""

Ask = Callable[[Samples], bool]


@dataclass
class Collected:
    """The samples so far: those of whole blocks."""

    host: dict[Side, list[int]] = field(default_factory=lambda: {"old": [], "new": []})
    device: dict[Side, list[int]] = field(default_factory=lambda: {"old": [], "new": []})
    order: list[str] = field(default_factory=list)
    repeated: int = 0
    undisturbed: int = 0

    def passes(self, one: Sample, other: Sample) -> bool:
        """Whether to keep a pair: neither call was interrupted, or another try isn't worth it."""
        if not (one.interrupted or other.interrupted):
            self.undisturbed += 2
            return True
        if self.repeated >= _REPETITIONS * self.undisturbed + _SPARE:
            return True
        self.repeated += 2
        return False

    def add(self, block: Block, samples: Iterable[Sample]) -> None:
        """Keep one block."""
        for side, sample in zip(block, samples, strict=True):
            # A clock that is too coarse for the call may not have moved.
            self.host[side].append(sample.host_ns or 1)
            if sample.device_ns is not None:
                self.device[side].append(sample.device_ns or 1)
        self.order.append("".join(side[0] for side in block))

    def samples(self) -> Samples:
        """What is kept of it."""
        device = self.device if self.device["old"] else {}
        return Samples(self.host, " ".join(self.order), device, self.repeated)


def warm(prepare: Prepare, warmups: int) -> None:
    """Call old and new in turn, ``warmups`` times each, and look at no clock."""
    for number in range(warmups):
        prepare("old", number)()
        prepare("new", number)()
        gc.collect(_YOUNG)


def collect(prepare: Prepare, blocks: Iterable[Block], sampler: Sampler, collected: Collected) -> None:
    """Take the samples of ``blocks`` into ``collected``, pair by pair: a call of each side, equal inputs.

    Where a call was interrupted both are made again. So each side is called equally often, whatever happens,
    and neither gets ahead of the other in the inputs that are ready.
    """
    for block in blocks:
        samples: list[Sample] = []
        first = len(collected.host["old"])
        for at in range(0, len(block), 2):
            samples += _passing(prepare, block[at], block[at + 1], first + at // 2, sampler, collected)
        collected.add(block, samples)


def tidied(blocks: Iterable[Block]) -> Iterator[Block]:
    """The same blocks; after each, what calls left in reference cycles is freed, as after repeated calls.

    While the garbage collector is off it would pile up. In ``steady`` this takes no longer than a
    microsecond, since what was there before is left alone; what has survived since is looked at seldom.
    """
    for number, block in enumerate(blocks, 1):
        yield block
        gc.collect(_YOUNG if number % _FULL_EVERY else _ALL)


def _passing(
    prepare: Prepare, one: Side, other: Side, number: int, sampler: Sampler, collected: Collected
) -> tuple[Sample, Sample]:
    while True:
        pair = sampler.sample(prepare(one, number)), sampler.sample(prepare(other, number))
        if collected.passes(*pair):
            return pair
        gc.collect(_YOUNG)


def prolonged(
    coin: random.Random, collected: Collected, iterations: int, prolong: int, hides: Ask
) -> Iterator[Block]:
    """``iterations`` of each side, and as many again while what there is ``hides`` a difference.

    At most ``prolong`` times as many in all.
    """
    whole, odd = iterations // 2 * 2, iterations % 2
    yield from balanced(whole, coin)
    for _ in range(prolong - 1):
        if not hides(collected.samples()):
            break
        yield from balanced(whole, coin)
    yield from balanced(odd, coin)


def until(
    blocks: Iterable[Block],
    collected: Collected,
    clock: Clock,
    budget_ns: int,
    enough: Ask,
) -> Iterator[Block]:
    """Blocks until the time is used up, or the samples so far are ``enough``; asked after each half more.

    One at least.
    """
    end, ask_at = clock.now_ns() + budget_ns, 8
    for block in blocks:
        number = len(collected.order)
        if number >= MOST_BLOCKS or (number and clock.now_ns() >= end):
            return
        if number >= ask_at:
            if enough(collected.samples()):
                return
            ask_at += ask_at // 2
        yield block


@contextmanager
def steady(threads: int) -> Iterator[None]:
    """A fixed number of torch's threads, and no garbage collector in the samples.

    What is there already is kept out of its sight, so that between samples it is soon done.
    """
    import torch

    before, collecting = torch.get_num_threads(), gc.isenabled()
    gc.collect()
    gc.disable()
    gc.freeze()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        gc.unfreeze()
        if collecting:
            gc.enable()
