"""A script or a module, run as Python itself would run it: as ``__main__``, with its own arguments."""

from __future__ import annotations

import builtins
import importlib.util
import os
import pkgutil
import sys
import traceback
import zipfile
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any

from syncscope.subjects import Unusable


class UnusableProgram(Unusable):
    """The program isn't there or does not parse; the message says why.

    ``exit_code`` is what Python itself would exit with: 2 where there is no such file.
    """

    exit_code = 1


class MissingScript(UnusableProgram):
    """There is no such file."""

    exit_code = 2


class Raised(SystemExit):
    """The program raised an exception that it did not catch, and that was shown; ``error`` is its class."""

    def __init__(self, error: str) -> None:
        """Exit with 1, as Python does."""
        super().__init__(1)
        self.error = error


@dataclass(frozen=True)
class Program:
    """Code, the globals it begins with, and what it finds in ``sys.argv[0]``."""

    code: CodeType
    namespace: dict[str, Any]
    name: str


def script(path: str) -> Program:
    """What ``python path`` runs: a file, or a folder or zip file that has a ``__main__.py``.

    Raises:
        UnusableProgram: it isn't there, can't be read or does not parse.
    """
    if os.path.isdir(path) or zipfile.is_zipfile(path):
        return _inside(path)
    if not os.path.exists(path):
        raise MissingScript(f"{path}: no such script; name a file, or -m and a module")
    # Python gives the main script an absolute path, in __file__ and in tracebacks.
    file = os.path.join(os.getcwd(), path)  # and leaves ".." in it: a link may stand before that
    loader = SourceFileLoader("__main__", file)
    _go_first(os.path.dirname(os.path.realpath(path)))
    namespace = {
        "__file__": file, "__loader__": loader, "__spec__": None, "__package__": None, "__cached__": None,
    }  # fmt: skip
    return Program(_parsed(path, lambda: loader.source_to_code(loader.get_data(file), file)), namespace, path)


def module(name: str) -> Program:
    """What ``python -m name`` runs: a module, or the ``__main__`` of a package, which is imported.

    Raises:
        UnusableProgram: there is no such module, or it does not parse.
    """
    _go_first(os.getcwd())
    sys.argv[0] = "-m"
    spec = _found(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _found(f"{name}.__main__")
    if spec is None or spec.origin is None:
        raise UnusableProgram(
            f"{name}: no such module, or a package without a __main__; see python -m {name}"
        )
    return _of_spec(spec, spec.origin, spec.parent)


def start(program: Program, args: tuple[str, ...]) -> None:
    """Run ``program`` to its end, in the ``__main__`` of this process, which stays its own.

    An exception that it doesn't catch is shown as Python shows it.

    Raises:
        SystemExit: always, with what Python would exit with; Raised where an exception was shown.
        KeyboardInterrupt: it was interrupted; this was shown already.
    """
    main = ModuleType("__main__")
    main.__dict__.update(program.namespace, __builtins__=builtins)
    if sys.version_info < (3, 14):
        main.__dict__["__annotations__"] = {}
    # The frames of the module before, which is the tool's, still need its names.
    _replaced.append(sys.modules["__main__"])
    sys.modules["__main__"] = main
    sys.argv = [program.name, *args]
    try:
        exec(program.code, main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        _show(error)
        if isinstance(error, KeyboardInterrupt):
            raise
        raise Raised(type(error).__name__) from None
    raise SystemExit


_replaced: list[ModuleType] = []


def _inside(path: str) -> Program:
    place = os.path.join(os.getcwd(), path)
    _go_first(place)
    importer = pkgutil.get_importer(place)
    spec = importer.find_spec("__main__", None) if importer is not None else None
    if spec is None or spec.origin is None:
        raise UnusableProgram(f"{path}: has no __main__.py; name a file")
    return _of_spec(spec, path, "")


def _found(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnusableProgram(f"{name}: no such module ({error}); see python -m {name}") from None


def _of_spec(spec: ModuleSpec, name: str, package: str | None) -> Program:
    loader: Any = spec.loader
    code = _parsed(spec.name, lambda: loader.get_code(spec.name))
    namespace = {
        "__file__": spec.origin, "__loader__": loader, "__spec__": spec, "__package__": package,
        "__cached__": spec.cached,
    }  # fmt: skip
    return Program(code, namespace, name)


def _parsed(name: str, compiled: Any) -> CodeType:
    try:
        code: CodeType = compiled()
    except SyntaxError as error:
        place = f"{name}:{error.lineno}" if error.lineno else name
        raise UnusableProgram(f"{place}: does not parse ({error.msg}); mend it") from None
    except (OSError, ValueError) as error:
        raise UnusableProgram(f"{name}: cannot be read ({error}); name a script") from None
    return code


def _go_first(folder: str) -> None:
    """Let imports look into ``folder`` first, where Python put the tool's own; in its safe mode nothing."""
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        sys.path[0] = folder


def _show(error: BaseException) -> None:
    """Let the hook for uncaught exceptions have ``error``, without this module's frame."""
    trace: TracebackType | None = error.__traceback__
    error.__traceback__ = trace.tb_next if trace is not None else None
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException:
        print("Error in sys.excepthook:", file=sys.stderr)
        traceback.print_exc()
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, error.__traceback__)
