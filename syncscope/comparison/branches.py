"""Which lines ran for some inputs only, and which for none: the counts say nothing about those."""

from __future__ import annotations

import dis
from collections.abc import Iterator, Sequence, Set
from itertools import groupby
from types import CodeType

from syncscope.comparison.results import Branch
from syncscope.events import Side

# What the compiler puts on the ``def`` line of a function's own code; no tracer reports it as a line.
_PROLOGUE = {
    dis.opmap[name]
    for name in ("RESUME", "MAKE_CELL", "COPY_FREE_VARS", "RETURN_GENERATOR", "POP_TOP")
    if name in dis.opmap
}


def executable_lines(code: CodeType) -> set[int]:
    """The lines of a function at which a tracer can stop, those of the functions defined in it too."""
    instructions = code.co_code
    own = {
        line
        for start, end, line in code.co_lines()
        if line and not _PROLOGUE.issuperset(instructions[start:end:2])
    }
    inner = (executable_lines(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return own.union(*inner)


def branches(subject: Side, executable: Set[int], visits: Sequence[Set[int]]) -> list[Branch]:
    """The groups of neighbouring executable lines that ran for some inputs but not for all.

    ``visits`` has, for every input, the lines that ran; lines that are not in ``executable`` are left out.
    All lines of a group ran for the same inputs, and no group can be made longer.
    """
    return [
        Branch(subject, lines, ran=len(inputs), inputs=len(visits))
        for lines, inputs in _groups(executable, visits)
        if 0 < len(inputs) < len(visits)
    ]


def unvisited(executable: Set[int], visits: Sequence[Set[int]]) -> list[tuple[int, int]]:
    """The groups (first, last) of neighbouring executable lines that ran for no input."""
    return [lines for lines, inputs in _groups(executable, visits) if not inputs]


def _groups(
    executable: Set[int], visits: Sequence[Set[int]]
) -> Iterator[tuple[tuple[int, int], frozenset[int]]]:
    """Runs of executable lines with one set of inputs: (first, last) and the inputs' indices."""

    def inputs(line: int) -> frozenset[int]:
        return frozenset(index for index, ran in enumerate(visits) if line in ran)

    for ran_for, lines in groupby(sorted(executable), key=inputs):
        group = list(lines)
        yield (group[0], group[-1]), ran_for
