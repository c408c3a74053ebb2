"""Finding what is known of a name, in whichever way it was copied out of a report, a trace or the code."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache

from syncscope.simcuda.explanations import known
from syncscope.simcuda.explanations.explanation import Explanation
from syncscope.simcuda.explanations.kinds import KINDS

Index = dict[str, list[Explanation]]

_ATEN = "aten::"
(_UNKNOWN,) = (one for one in KINDS if one.kind == "unknown")
_STATEMENTS = frozenset({"if", "while", "for", "assert", "not"})
_BETWEEN = re.compile(r" (or|and|in) ")
_PREFIXES = ("", "_", "linalg_", "_linalg_")
_SUFFIXES = ("", "_", "_ex", "2")
_COMPARES = re.compile(r"mask|[<>]|[!=]=")
_INDEXED = re.compile(r"[\w.]+\[(?P<inside>.*)\](?: ?(?P<written>[-+*/]?=)(?!=) ?(?P<value>.+))?")
_DEVICE = re.compile(r"cuda|dev")
_HOSTS = re.compile(r"cpu|host|list|\bnp\b")
_NUMBER = re.compile(r"-?[\d.]+|true|false")


def find(name: str) -> list[Explanation]:
    """What is known of ``name``: one explanation or several, most often one; none if nothing is."""
    for form in _forms(" ".join(name.split()).replace("'", '"').casefold()):
        found = _of_form(form)
        if found:
            return found
    function = _UNKNOWN if _is_custom(name) else known.of_function_of_torch(name)
    return [function] if function else []


def _is_custom(name: str) -> bool:
    """Whether ``name`` is an operator outside of PyTorch's own namespace (``torchvision::nms``)."""
    return re.fullmatch(r"(?!aten::)\w+::[\w.]+", name) is not None


def closest(name: str) -> list[str]:
    """Up to three names that are known, and look like ``name``."""
    names = _displayed()
    forms = dict.fromkeys(form.removeprefix(_ATEN) for form in _forms(name.casefold()))
    close = (match for form in forms for match in get_close_matches(form, names, n=3))
    return list(dict.fromkeys(names[match] for match in close))[:3]


@cache
def _displayed() -> dict[str, str]:
    """Every name that is known, by how it is looked up."""
    indices = [*_indices(), _operators()]
    told = [one for index in indices for found in index.values() for one in found]
    written = {name.removeprefix(_ATEN).casefold(): name for one in told for name in one.names}
    return {key: written.get(key, key) for index in indices for key in index}


def _of_form(form: str) -> list[Explanation]:
    if not form.startswith(_ATEN):
        for index in _indices():
            if form in index:
                return index[form]
    return _of_operator(form.removeprefix(_ATEN))


def _of_operator(name: str) -> list[Explanation]:
    """Entries under the operator's name, with its overload or without, or with what PyTorch adds to it."""
    base = name.partition(".")[0]
    found = _first(_operators(), (name, base, *_varied(base)))
    if not all(one.sparse for one in found):
        return found
    dense = known.of_operator_without_entry(base)
    return [*([dense] if dense else []), *found]


def _varied(base: str) -> Iterator[str]:
    bare = base.removesuffix("_")
    return (f"{prefix}{bare}{suffix}" for prefix in _PREFIXES for suffix in _SUFFIXES)


def _first(index: Index, keys: Iterable[str]) -> list[Explanation]:
    return next((index[key] for key in keys if key in index), [])


def _forms(text: str) -> Iterator[str]:
    """``text``, then what it is an example of, from the closest to the most general."""
    yield text
    yield text.replace(" ", "_")
    if text[:1] in ("[", "("):
        yield from _forms(text[1:].partition(" for ")[0])
        return
    indexed = _INDEXED.fullmatch(text)
    if indexed is not None:
        yield from _of_brackets(indexed["inside"], indexed["written"], indexed["value"] or "")
        return
    yield from _of_statement(text)
    if " = " in text:
        yield from _forms(text.partition(" = ")[2])
    if " (" in text:  # Memcpy DtoH (Device -> Pageable)
        yield text.partition(" (")[0]
    called = _called(text)
    if called is not None:
        function, arguments = called
        yield from _of_call(function.rpartition(".")[2], arguments)
        yield from _forms(function)
        return
    if _COMPARES.search(text) and "mask" not in text:
        yield "x == y"
    yield text.partition("=")[0]
    *scopes, last = text.lstrip(".").split(".")
    yield "_".join((*scopes[-1:], last))
    if scopes or text.startswith("."):
        yield f"tensor.{last}"
    yield last


def _called(text: str) -> tuple[str, str] | None:
    """The function and the arguments of a call, the last one where calls stand in a row."""
    if not text.endswith(")"):
        return None
    depth = 0
    for at in range(len(text) - 1, 0, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if not depth:
            function = text[:at]
            return (function, text[at + 1 : -1]) if re.search(r"[\w\]]$", function) else None
    return None


def _of_call(name: str, arguments: str) -> Iterator[str]:
    """What a function is an example of by what it is given."""
    if name == "to":
        yield 'x.to("cpu")' if "cpu" in arguments else 'x.to("cuda")' if _DEVICE.search(arguments) else ""
        yield "x.to(dtype)"
    if name == "where":
        yield "torch.where(mask, x, number)" if "," in arguments else "torch.where(condition)"
    if name in ("tensor", "as_tensor") and _DEVICE.search(arguments):
        yield 'torch.tensor(list, device="cuda")'


def _of_statement(text: str) -> Iterator[str]:
    """The word of Python that wants to know a value."""
    first = text.partition(" ")[0]
    if first in _STATEMENTS:
        yield first
    yield from _BETWEEN.findall(text)
    if text.startswith('f"'):
        yield 'f"{t}"'


def _of_brackets(inside: str, written: str | None, value: str) -> Iterator[str]:
    """``scores[keep > 0]`` is an example of ``x[mask]``."""
    method = "tensor.__getitem__" if written is None else "tensor.__setitem__"
    kind = _kind_of_index(inside)
    ends = [""] if written is None else [" = 3", " = y"] if _NUMBER.fullmatch(value) else [" = y", " = 3"]
    yield from (f"x[{kind}]{end}" for end in ends if kind)
    yield method


def _kind_of_index(inside: str) -> str:
    if _COMPARES.search(inside):
        return "mask"
    if inside.startswith("[") or _HOSTS.search(inside):
        return "[0, 2]"
    if inside.lstrip("-").isdigit():
        return "0"
    return ":t" if ":" in inside else ""


@cache
def _indices() -> tuple[Index, ...]:
    """In the order in which they are asked."""
    return _index(KINDS), _index(known.of_spellings()), _index(known.of_functions())


def _index(explanations: Iterable[Explanation]) -> Index:
    index: Index = {}
    for one in explanations:
        for key in dict.fromkeys(key for name in one.names for key in _keys(name.casefold())):
            index.setdefault(key, []).append(one)
    return index


def _keys(name: str) -> Iterator[str]:
    """The whole name, and that of a function without the modules in front of it, unless Python has one."""
    yield name
    if re.fullmatch(r"\w+(\.\w+)+", name):
        scopes = name.split(".")
        shorter = (".".join(scopes[at:]) for at in range(1, len(scopes)))
        yield from (key for key in shorter if key not in vars(builtins))


@cache
def _operators() -> Index:
    index: Index = {}
    for one in known.of_operators():
        names = [name.removeprefix(_ATEN).casefold() for name in one.names]
        for key in dict.fromkeys((*names, *(name.partition(".")[0] for name in names))):
            index.setdefault(key, []).append(one)
    return index
