"""The table itself: entries that say what one ATen call costs, and the words to write them in."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from torch import Tensor

from syncscope.events import Kind
from syncscope.simcuda.charges import Charge
from syncscope.simcuda.operators import Operator, without_out
from syncscope.simcuda.placement import PLACEMENT


@dataclass(frozen=True)
class Call:
    """One ATen call as its operator's entry sees it; ``result`` is None until it has run.

    ``numbers``: positions of the arguments that are numbers, and tensors for the schema's sake only.
    """

    operator: Operator
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any = None
    numbers: tuple[int, ...] = ()

    def __getitem__(self, name: str) -> Any:
        """The argument ``name``, or its default."""
        if name in self.kwargs:
            return self.kwargs[name]
        position = self.operator.arguments.index(name)
        return self.args[position] if position < len(self.args) else self.operator.defaults[position]

    def on_device(self, name: str) -> bool:
        """Whether the argument ``name`` is a tensor on the device."""
        return is_on(self[name])

    def on_host(self, name: str) -> bool:
        """Whether the argument ``name`` is a tensor on the host."""
        return isinstance(self[name], Tensor) and not is_on(self[name])


Rule = Callable[[Call], Charge | Iterable[Charge] | None]
StandIn = Callable[[Call, Callable[..., Any]], Any]


@dataclass(frozen=True)
class Entry:
    """What is known of some overloads.

    ``why`` is one sentence on what the host does; ``instead`` what is written in its place where the wait
    has to go; ``source`` the file and function in PyTorch that does it. ``figures`` say how much, and under
    which condition: clauses between semicolons, each with an amount first (``1 DtoH, 1 wait; nothing with
    output_size``); ``versions`` where PyTorch did otherwise. ``mixes``: host and device tensors
    may stand side by side. ``enters``: the operator is made of others that are charged for themselves.
    ``stand_in`` obtains the values where the CPU has no kernel for what CUDA can do. ``host_results``:
    positions of results that live on the host all the same. ``sparse``: for calls with a sparse tensor.
    ``fails_late``: CUDA finds out that a call is an error when it has done this already.
    """

    operators: tuple[str, ...]
    rule: Rule
    why: str
    source: str
    figures: str
    instead: str = ""
    versions: str = ""
    mixes: bool = False
    enters: bool = False
    after: bool = False
    stand_in: StandIn | None = None
    host_results: tuple[int, ...] = ()
    sparse: bool = False
    fails_late: bool = False

    def charges(self, call: Call) -> tuple[Charge, ...]:
        """What ``call`` costs; the name of the operator need not be looked at again."""
        found = self.rule(call)
        if found is None:
            return ()
        return (found,) if isinstance(found, Charge) else tuple(found)


_ENTRIES: dict[str, Entry] = {}
_SPARSE_ENTRIES: dict[str, Entry] = {}


def cost(
    *operators: str,
    why: str,
    source: str,
    figures: str,
    instead: str = "",
    versions: str = "",
    mixes: bool = False,
    enters: bool = False,
    after: bool = False,
    stand_in: StandIn | None = None,
    host_results: tuple[int, ...] = (),
    sparse: bool = False,
    fails_late: bool = False,
) -> Callable[[Rule], Rule]:
    """Enter the decorated rule for ``operators``: ``topk`` means every overload, ``where.self`` one.

    A rule runs before its operator, or ``after`` it where it needs the result. A ``sparse`` rule is for calls
    with a sparse tensor among their arguments.
    """

    def enter(rule: Rule) -> Rule:
        made = Entry(
            operators=operators,
            rule=rule,
            why=why,
            source=source,
            figures=figures,
            instead=instead,
            versions=versions,
            mixes=mixes,
            enters=enters,
            after=after,
            stand_in=stand_in,
            host_results=host_results,
            sparse=sparse,
            fails_late=fails_late,
        )
        entries = _SPARSE_ENTRIES if sparse else _ENTRIES
        for name in operators:
            if name in entries:
                raise ValueError(f"{name} has two entries in the cost table")
            entries[name] = made
        return rule

    return enter


def free(call: Call) -> None:
    """The rule of an operator that neither copies nor waits."""


@cache
def entry(operator: Operator) -> Entry | None:
    """The entry of ``operator``: that of its overload, else that of its name, else that without ``out=``."""
    _load()
    return _entry(operator) or next(filter(None, map(_entry, without_out(operator))), None)


def _entry(operator: Operator) -> Entry | None:
    return _ENTRIES.get(_with_overload(operator)) or _ENTRIES.get(operator.name)


@cache
def sparse_entry(operator: Operator) -> Entry | None:
    """The entry of ``operator`` for a call with a sparse tensor."""
    _load()
    return _SPARSE_ENTRIES.get(_with_overload(operator)) or _SPARSE_ENTRIES.get(operator.name)


def _with_overload(operator: Operator) -> str:
    return f"{operator.name}.{operator.overload or 'default'}"


def entries() -> Iterator[Entry]:
    """Every entry once, in the order of the table's files."""
    _load()
    yield from dict.fromkeys((*_ENTRIES.values(), *_SPARSE_ENTRIES.values()))


@cache
def _load() -> None:
    package = importlib.import_module(__package__)
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{__package__}.{module.name}")


def is_on(value: object) -> bool:
    """Whether ``value`` is a tensor on the device."""
    return isinstance(value, Tensor) and PLACEMENT.is_on(value)


def dtype_name(value: Tensor) -> str:
    """``float32``, not ``torch.float32``."""
    return str(value.dtype).removeprefix("torch.")


def read(value: Tensor, why: str = "") -> Charge:
    """The host obtains one element of ``value``: a copy from the device and a wait for it."""
    return Charge("scalar_read", dtoh=1, waits=1, dtype=dtype_name(value), why=why)


def size_read(value: Tensor, waits: int = 1, copies: int = 1, why: str = "", silent: bool = False) -> Charge:
    """The host learns how many elements a result has, which the values of ``value`` decide."""
    shape = tuple(value.shape)
    dtype = dtype_name(value)
    return Charge("size_read", dtoh=copies, waits=waits, shape=shape, dtype=dtype, why=why, silent=silent)


def fetch(value: Tensor, waits: bool = True, pinned: bool = False, why: str = "") -> Charge | None:
    """The host obtains all of ``value``; nothing is copied where it is empty.

    ``pinned``: into page-locked memory; see ``may_wait``.
    """
    return replace(_crossing("vector_read", value, waits, pinned, why), dtoh=1) if value.numel() else None


def upload(value: Tensor, waits: bool = True, pinned: bool = False, why: str = "") -> Charge | None:
    """``value`` goes to the device; nothing is copied where it is empty.

    ``pinned``: from page-locked memory; see ``may_wait``.
    """
    return replace(_crossing("upload", value, waits, pinned, why), htod=1) if value.numel() else None


def _crossing(kind: Kind, value: Tensor, waits: bool, pinned: bool, why: str) -> Charge:
    shape, dtype, doubt = tuple(value.shape), dtype_name(value), may_wait(waits, pinned)
    return Charge(kind, waits=int(waits), shape=shape, dtype=dtype, why=why, may_wait=doubt)


def may_wait(waits: bool, pinned: bool) -> str:
    """Why the driver may wait in a copy between the host and the device.

    CUDA copies from and to pageable memory through a buffer of its own. (CUDA Runtime API, API
    synchronization behavior.)
    """
    return "" if waits or pinned else "the driver may wait: the memory is pageable"


def device_copy(value: Tensor, times: int = 1, why: str = "") -> Charge | None:
    """``times`` memcpys of ``value`` on the device; nothing where it is empty."""
    if not (value.numel() and times):
        return None
    return Charge("copy", dtod=times, shape=tuple(value.shape), dtype=dtype_name(value), why=why)
