"""What a reader has to know beside the figures, in sentences: above all, what was not looked at."""

from __future__ import annotations

from collections.abc import Sequence

from syncscope.comparison import whereabouts
from syncscope.comparison.calls import Observed
from syncscope.comparison.tally import total
from syncscope.events import Side
from syncscope.subjects.loader import Subject

_KEPT = {"dtoh": "DtoH copies", "htod": "HtoD copies", "waits": "waits"}


def of(
    subject: Subject, side: Side, cases: whereabouts.Cases, firsts: Sequence[Sequence[Observed]]
) -> list[str]:
    """All notes on one subject."""
    place = f"{side} ({subject.file})"
    found = [*_unvisited(subject, cases), *_more_at_first(cases, firsts), *_not_as_on_a_gpu(cases)]
    return [f"{place}: {sentence}" for sentence in found]


def _unvisited(subject: Subject, cases: whereabouts.Cases) -> list[str]:
    spans = list(whereabouts.unvisited_lines(subject, cases))
    of = "it" if len(spans) == 1 and spans[0][0] == spans[0][1] else "them"
    lines = ", ".join(map(_lines, spans))
    return [f"{lines} ran for no input: nothing is known of {of}"] if spans else []


def _lines(lines: tuple[int, int]) -> str:
    first, last = lines
    return f"line {first}" if first == last else f"lines {first}-{last}"


def _more_at_first(cases: whereabouts.Cases, firsts: Sequence[Sequence[Observed]]) -> list[str]:
    """What only the first call of an input did, which isn't counted: a cache was filled."""
    extra: dict[str, int] = {}
    for calls, first in zip(cases, firsts, strict=True):
        for name, words in _KEPT.items():
            usual = max(total(call, name) for call in calls)
            more = max(total(call, name) for call in first) - usual
            if more > 0:
                extra[words] = max(extra.get(words, 0), more)
    if not extra:
        return []
    told = ", ".join(f"{number} {words}" for words, number in extra.items())
    return [f"the first call with an input, which isn't counted, did up to {told} more: something is kept"]


def _not_as_on_a_gpu(cases: whereabouts.Cases) -> list[str]:
    return list(dict.fromkeys(note for calls in cases for call in calls for note in call.notes))
