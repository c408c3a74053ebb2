"""What a scope on the simulated device costs beside PyTorch's own modes, as ratios in one run.

    python benchmarks/overhead.py [ROUNDS]

The calls are those of examples/vidcom2/per_frame_reads.py on 32 frames of 196 tokens: bare, in an empty
TorchFunctionMode with an empty TorchDispatchMode, in torch's DebugMode, and in a scope, in turn; the smallest
time of each counts, as the thread's processor time. Then what must not grow: the time of an operator with the
tensors alive, and that of an event, and its memory, with the events before it.
"""

import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._debug_mode import DebugMode
from torch.utils._python_dispatch import TorchDispatchMode

from syncscope import observe
from syncscope.subjects.loader import load
from syncscope.subjects.workloads import VideoWorkload

SUBJECT = load(str(Path(__file__).parents[1] / "examples/vidcom2/per_frame_reads.py"))
ALIVE = 10**5
EVENTS = 10**6


class EmptyFunctionMode(TorchFunctionMode):
    """Passes every call from Python on."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Pass it on."""
        return func(*args, **(kwargs or {}))


class EmptyDispatchMode(TorchDispatchMode):
    """Passes every ATen call on."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Pass it on."""
        return func(*args, **(kwargs or {}))


@contextmanager
def empty_modes() -> Iterator[None]:
    """Both modes: the least that hearing every call takes in Python."""
    with EmptyFunctionMode(), EmptyDispatchMode():
        yield


WAYS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "bare": nullcontext,
    "empty modes": empty_modes,
    "DebugMode": DebugMode,
    "scope": observe,
}


def subject_seconds(way: str, hidden: int) -> float:
    """One call with new inputs, on the device in a scope, else on the CPU."""
    (embeds, *others), kwargs = VideoWorkload(hidden=hidden).inputs({"frames": 32}, seed=0, device="cpu")
    with WAYS[way]():
        embeds = embeds.to("cuda" if way == "scope" else "cpu")
        start = time.thread_time()
        SUBJECT.function(embeds, *others, **kwargs)
        return time.thread_time() - start


def print_ratios(hidden: int, rounds: int) -> None:
    """Time the subject in every way, with so many channels a token: few of them leave the overhead bare."""
    taken = [{way: subject_seconds(way, hidden) for way in WAYS} for _ in range(rounds)]
    best = {way: min(seconds[way] for seconds in taken) for way in WAYS}
    print(f"{hidden} channels: " + ", ".join(f"{way} {1e3 * best[way]:.1f} ms" for way in WAYS))
    for way in ("empty modes", "DebugMode"):
        print(f"  scope / {way}: {best['scope'] / best[way]:.2f}")


def microseconds(call: Callable[[], object], calls: int = 500, rounds: int = 20) -> float:
    """The time of one call."""

    def once() -> float:
        start = time.thread_time()
        for _ in range(calls):
            call()
        return time.thread_time() - start

    return 1e6 * min(once() for _ in range(rounds)) / calls


def read_often(x: Tensor, times: int) -> None:
    """``times`` equal events of one line."""
    parts = [x] * 1000
    for _ in range(times // len(parts)):
        torch.tensor(parts)


def read_differently(times: int) -> None:
    """``times`` events of one line, no two of them equal."""
    for length in range(1, times + 1):
        torch.empty(length, device="cuda").tolist()


def print_growth() -> None:
    """Time an operator beside tensors that are alive, and an event after others."""
    with observe() as scope:
        x = torch.zeros((), device="cuda")
        operator, event = microseconds(x.neg), microseconds(x.item)
        alive = [torch.empty(1, device="cuda") for _ in range(ALIVE)]
        print(f"an operator with {ALIVE:,} tensors alive: {microseconds(x.neg) / operator:.2f} times")
        del alive
        read_often(x, EVENTS)
        print(f"an event after {sum(scope.folded.values()):,}: {microseconds(x.item) / event:.2f} times")


def bytes_kept(events: Callable[[], None]) -> int:
    """What Python has more after ``events`` than before."""
    tracemalloc.start()
    events()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept


def print_memory(different: int = 10**4) -> None:
    """Weigh equal events and different ones."""
    with observe():
        x = torch.zeros((), device="cuda")
        read_often(x, 10**3)
        equal = bytes_kept(lambda: read_often(x, 10 * different))
        print(f"memory of {10 * different:,} equal events: {equal:,} bytes")
        each = bytes_kept(lambda: read_differently(different)) / different
        print(f"memory of an event unlike all before: {each:,.0f} bytes")


def main(rounds: int = 20) -> None:
    """Print the ratios."""
    torch.set_num_threads(1)
    for hidden in (VideoWorkload.hidden, 16):
        print_ratios(hidden, rounds)
    print_growth()
    print_memory()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
