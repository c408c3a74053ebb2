"""The two subjects of a comparison: loaded side by side, and called with the same arguments."""

from __future__ import annotations

import inspect
from inspect import Parameter, Signature

from syncscope.subjects import UnusableSubject
from syncscope.subjects.loader import Subject, load


def load_pair(old: str, new: str) -> tuple[Subject, Subject]:
    """Load the two subjects of a comparison, baseline first.

    Raises:
        UnusableSubject: one of them can't be loaded, or they take different parameters.
    """
    baseline = load(old)
    changed = load(new, beside=[baseline])
    check_signatures(baseline, changed)
    return baseline, changed


def check_signatures(old: Subject, new: Subject) -> None:
    """Check that both take the same parameters; either may have more that are optional.

    A function without a signature, as some built-in ones are, passes.

    Raises:
        UnusableSubject: with both signatures.
    """
    olds, news = _signature(old), _signature(new)
    if olds is None or news is None or _shared(olds, news) == _shared(news, olds):
        return
    raise UnusableSubject(
        f"{old.label} takes {_spelled(olds)} but {new.label} takes {_spelled(news)}: "
        "give both the same parameters, or those that only one has a default"
    )


def _signature(subject: Subject) -> Signature | None:
    try:
        return inspect.signature(subject.function)
    except (TypeError, ValueError):
        return None


def _shared(signature: Signature, other: Signature) -> list[str]:
    """Names of the parameters, in order, without the optional ones that ``other`` doesn't have."""
    return [
        name
        for name, parameter in signature.parameters.items()
        if name in other.parameters or not _is_optional(parameter)
    ]


def _is_optional(parameter: Parameter) -> bool:
    variadic = parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return variadic or parameter.default is not Parameter.empty


def _spelled(signature: Signature) -> str:
    """``(scores, k=4)``, without annotations."""
    bare = [parameter.replace(annotation=Parameter.empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=Signature.empty))
