"""The words that reports use for counts, operator families, kinds of events and swept variables."""

from __future__ import annotations

from collections.abc import Sequence

COUNTS = {
    "scalar_reads": "scalar reads",
    "vector_reads": "vector reads",
    "size_reads": "size reads",
    "dtoh": "DtoH copies",
    "htod": "HtoD copies",
    "dtod": "DtoD copies",
    "memcpy": "copies",
    "waits": "waits",
    "unknown_ops": "unknown operators",
}

KINDS = {
    "scalar_read": "scalar read",
    "vector_read": "vector read",
    "size_read": "size read",
    "upload": "upload",
    "copy": "copy on the device",
    "wait": "wait",
    "launch": "launch",
    "unknown": "unknown operator",
}

FAMILIES = {"topk": "Top-K", "scatter": "Scatter"}

# As growth laws write them.
SYMBOLS = {"frames": "T"}

PROVENANCE = {
    "measured": "measured (torch.profiler on a GPU)",
    "emulated": "emulated (no kernel ran)",
    "simulated": "simulated (no GPU ran)",
    "recorded": "recorded (elsewhere)",
}


def count_name(key: str) -> str:
    """``copies`` for ``memcpy``, ``Top-K calls`` for ``launches.topk``."""
    family = key.removeprefix("launches.")
    return COUNTS[key] if family == key else f"{family_name(family)} calls"


def family_name(family: str) -> str:
    """A counted operator family as the published tables write it."""
    return FAMILIES.get(family, family)


def symbol(variable: str) -> str:
    """``T`` for ``frames``: what a growth law and a table's first column call a swept variable."""
    return SYMBOLS.get(variable, variable)


def number(amount: int, noun: str) -> str:
    """``1 wait``, ``2 waits``, ``2 copies``."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{amount} {noun if amount == 1 else plural}"


def series(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


def lines(first_last: tuple[int, int]) -> str:
    """``line 60``, ``lines 71-75``."""
    first, last = first_last
    return f"line {first}" if first == last else f"lines {first}-{last}"


def shortened(text: str, limit: int) -> str:
    """``text`` on one line, its end replaced by an ellipsis where it is longer than ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"
