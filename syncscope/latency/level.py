"""At which level a difference counts, and how many calls it takes to reach it. Imports no numpy."""

from __future__ import annotations

import math

LEVEL = 0.02
"""Of rows without a difference so many get a verdict; of 200 hardly ever more than 5 %."""

RESOLUTION = 0.1
"""A row that could not have seen a difference as small as this says nothing by seeing none."""


def of_one_more(rows: int, found: int) -> float:
    """The level for one more row, where ``found`` of ``rows`` have reached theirs.

    As Benjamini and Hochberg's correction has it: the largest p of k found rows is at most k / rows of the
    level.
    """
    return LEVEL * min(1.0, (found + 1) / rows)


def fewest_blocks(level: float = LEVEL) -> int:
    """How many blocks can be swapped in enough ways: two of 2**blocks have to be rarer than ``level``."""
    return math.floor(1 - math.log2(level)) + 1


def fewest_iterations(level: float = LEVEL) -> int:
    """A block has two calls of each side."""
    return 2 * fewest_blocks(level)
