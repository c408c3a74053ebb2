"""Which of old and new is called when: in small blocks that have each of them equally often."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import repeat

from syncscope.events import Side

Block = tuple[Side, ...]

OLD_FIRST: Block = ("old", "new", "new", "old")
NEW_FIRST: Block = ("new", "old", "old", "new")


def drawn(coin: random.Random) -> Iterator[Block]:
    """Blocks without end, each by a throw of ``coin``: old new new old, or new old old new.

    A machine that grows slower evenly slows both sides of such a block alike. Since the order is drawn, what
    a block says for one side is a coin's throw where old and new are equal, however the noise hangs together.
    """
    while True:
        yield coin.choice((OLD_FIRST, NEW_FIRST))


def balanced(iterations: int, coin: random.Random) -> Iterator[Block]:
    """Drawn blocks in which each side is called ``iterations`` times; an odd one stands in a last pair."""
    draw = drawn(coin)
    for _ in range(iterations // 2):
        yield next(draw)
    if iterations % 2:
        yield next(draw)[:2]


def alternating(iterations: int, first: Side) -> Iterator[Block]:
    """``first`` and the other in turn, ``iterations`` times: the order of one trial of a re-check."""
    return repeat(OLD_FIRST[:2] if first == "old" else NEW_FIRST[:2], iterations)
