"""Who starts a thread or a process: the user's code, a library, or torch and the tool themselves."""

from __future__ import annotations

import multiprocessing
import sys
from multiprocessing.process import BaseProcess
from threading import Thread
from types import FrameType

from syncscope import sites
from syncscope.observe.ownership import in_standard_library

# They run nothing but their own bookkeeping, though the user's code has them started.
_BOOKKEEPING = frozenset(
    {
        "concurrent.futures.process",
        "multiprocessing.queues",
        "multiprocessing.resource_sharer",
        "tqdm._monitor",
    }
)
_POOLS_OWN = "Pool._handle_"

# Torch starts these for the user, whose code runs in them.
_RUNS_USERS_CODE = ("torch/multiprocessing/spawn.py",)


def is_the_machinerys(started: object = None) -> bool:
    """Whether what is ``started`` runs none of the user's code, or can't reach the device.

    That is a thread which only serves a queue, and whatever torch (the workers of a DataLoader, its pinning
    thread, compilers) or the tool starts: a forked worker can't reach the device, a spawned one can.
    """
    if isinstance(started, Thread) and _keeps_books(started):
        return True
    if isinstance(started, BaseProcess) and not _is_forked(started):
        return False
    starter = _starter(sys._getframe(1))
    return starter is not None and not (
        sites.is_users(starter.f_code) or starter.f_code.co_filename.endswith(_RUNS_USERS_CODE)
    )


def _is_forked(process: BaseProcess) -> bool:
    chosen = getattr(process, "_start_method", None)  # that of its context; of none in the default one
    return (chosen or multiprocessing.get_start_method()) == "fork"


def _keeps_books(thread: Thread) -> bool:
    target = getattr(thread, "_target", None)
    modules = {type(thread).__module__, getattr(target, "__module__", None)}
    return not _BOOKKEEPING.isdisjoint(modules) or getattr(target, "__qualname__", "").startswith(_POOLS_OWN)


def _starter(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that is neither the exchanged function's nor the standard library's."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not (file.startswith(_OUR_PART) or in_standard_library(file) or file.startswith("<frozen ")):
            return frame
        frame = frame.f_back
    return None


_OUR_PART = tuple(__file__.replace("starters.py", name) for name in ("starters.py", "starts.py"))
