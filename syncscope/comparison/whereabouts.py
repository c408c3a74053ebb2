"""From the observed calls of all cases to the lines that caused them, and to the laws of growth."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import TypeAlias

from syncscope.comparison.branches import branches, executable_lines, unvisited
from syncscope.comparison.calls import Observed
from syncscope.comparison.growth import Observation, total_law
from syncscope.comparison.results import Branch, Law, Range, SiteResult
from syncscope.events import Event, Side, figure
from syncscope.sites import Site
from syncscope.subjects.loader import Subject

Cases: TypeAlias = Sequence[Sequence[Observed]]
"""The observed calls of one subject: a sequence a case."""

_Key: TypeAlias = tuple[Site, str, str, str]


def laws(
    subject: Subject, cases: Cases, names: Sequence[str], found: Sequence[Branch], swept: Sequence[str]
) -> dict[str, Law]:
    """The law of every count over the cases."""
    lines = [branch.lines for branch in found]
    return {
        name: total_law([_observation(subject, call, name) for call in _calls(cases)], lines, swept)
        for name in names
    }


def sites(
    subject: Subject, side: Side, cases: Cases, found: Sequence[Branch], swept: Sequence[str]
) -> list[SiteResult]:
    """Every line that caused an event which isn't a mere launch, in the order of the file."""
    keys = sorted({_key(event) for call in _calls(cases) for event in _causing(call)})
    lines = [branch.lines for branch in found]
    return [_site_result(subject, side, key, cases, lines, swept) for key in keys]


def conditional_lines(subject: Subject, side: Side, cases: Cases) -> list[Branch]:
    """The subject's lines that ran for some inputs only."""
    return branches(side, _executable(subject), _visits(cases))


def unvisited_lines(subject: Subject, cases: Cases) -> list[tuple[int, int]]:
    """Lines that ran for no input, in functions of the subject's file that did run."""
    visits = _visits(cases)
    ran = frozenset().union(*visits)
    lines: set[int] = set()
    for function in _functions(subject):
        own = executable_lines(function)
        lines |= own if own & ran else set()
    return unvisited(lines, visits)


def _executable(subject: Subject) -> set[int]:
    return set().union(*(executable_lines(function) for function in _functions(subject)))


def _functions(subject: Subject) -> Iterator[CodeType]:
    """The code of every function in the subject's file; what stands outside ran at its import."""
    yield from _functions_in(compile(subject.source, subject.path, "exec", dont_inherit=True))


def _functions_in(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module or of a class: of its body only they run in a call."""
    for inner in (constant for constant in code.co_consts if isinstance(constant, CodeType)):
        if inner.co_flags & inspect.CO_OPTIMIZED:
            yield inner
        else:
            yield from _functions_in(inner)


def _visits(cases: Cases) -> list[frozenset[int]]:
    """The lines that ran for each input: the calls with one case's seed share it."""
    return [visited for case in cases for visited in {call.seed: call.visited for call in case}.values()]


def _calls(cases: Cases) -> list[Observed]:
    return [call for case in cases for call in case]


def _causing(call: Observed) -> Iterator[Event]:
    return (event for event in call.events if event.kind != "launch")


def _key(event: Event) -> _Key:
    return event.site, event.kind, event.api, event.op


def _observation(subject: Subject, call: Observed, name: str) -> Observation:
    return _seen(subject, call, lambda event: figure(event, name))


def _seen(subject: Subject, call: Observed, adds: Callable[[Event], int]) -> Observation:
    by_line: Counter[int] = Counter()
    number = 0
    for event in call.events:
        number += adds(event)
        if event.site.file == subject.path:
            by_line[event.site.line] += adds(event)
    return Observation(call.case, number, by_line, call.visited)


def _site_result(
    subject: Subject,
    side: Side,
    key: _Key,
    cases: Cases,
    lines: Sequence[tuple[int, int]],
    swept: Sequence[str],
) -> SiteResult:
    site, kind, api, op = key
    mine = [[[event for event in call.events if _key(event) == key] for call in case] for case in cases]
    first = next(event for case in mine for call in case for event in call)
    seen = [_seen(subject, call, lambda event: int(_key(event) == key)) for call in _calls(cases)]
    return SiteResult(
        subject=side,
        file=subject.name_of(site.file),
        line=site.line,
        function=site.function,
        text=site.text,
        kind=kind,
        api=api,
        per_case=[Range(min(map(len, case)), max(map(len, case))) for case in mine],
        growth=total_law(seen, lines, swept),
        op=op,
        shape=list(first.shape),
        dtype=first.dtype,
        dtoh=first.dtoh,
        htod=first.htod,
        dtod=first.dtod,
        waits=first.waits,
        reason=first.reason,
        may_wait=any(event.may_wait for case in mine for call in case for event in call),
    )
