"""Loading a subject: from its name to a function that can be called, with its source."""

from __future__ import annotations

import hashlib
import importlib
import os
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import decode_source, find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from syncscope.subjects import UnusableSubject, revision
from syncscope.subjects.functions import named_function, only_function
from syncscope.subjects.importer import Home, Importer, without_importer
from syncscope.subjects.naming import FileNames, SubjectName, parse
from syncscope.subjects.origin import Origin
from syncscope.subjects.raised import told_as


@dataclass(frozen=True)
class Subject:
    """One implementation under analysis.

    ``label`` is as the user wrote it and ``file`` as the user would call the file; ``path`` is the file that
    is executed (frames and tracebacks name it), ``revision`` the commit's short hash or empty. ``sha256`` is
    that of the file's bytes.
    """

    label: str
    file: str
    path: str
    function_name: str
    revision: str
    sha256: str
    source: str = field(repr=False)
    function: Callable[..., Any] = field(repr=False)
    module: ModuleType = field(repr=False)
    origin: Origin = field(repr=False)
    importer: Importer | None = field(repr=False, default=None)

    @property
    def make_inputs(self) -> Callable[..., Any] | None:
        """The file's ``make_inputs``, if it has one."""
        return _function_or_none(self.module, "make_inputs")

    @property
    def compute_retained_tokens_count(self) -> Callable[..., int] | None:
        """The file's ``compute_retained_tokens_count``, if it has one."""
        return _function_or_none(self.module, "compute_retained_tokens_count")

    def name_of(self, path: str) -> str:
        """What the user calls an executed file, the subject's own or a neighbour's: ``main:scores.py``."""
        return self.file if path == self.path else self.origin.names.of(path)

    def describe(self, error: BaseException) -> str:
        """The error's type, text and place in the subject's code: ``ValueError: no frames (file.py:12)``."""
        return self.origin.describe(error)


def load(text: str, *, beside: Sequence[Subject] = (), preferred: str = "compute_retention_mask") -> Subject:
    """Load the subject that the user wrote as ``text``; this executes its file.

    Without a function's name it is ``preferred``, else the only public function that the file defines.
    Modules are shared with a subject in ``beside`` that lies in the same folder (and revision), as in one
    Python process, so that a class both use is one; else nothing is shared with other subjects.

    Raises:
        UnusableSubject: with one line that says what is wrong and how to mend it.
    """
    name = parse(text)
    loaded = _load_module(name, beside) if name.module else _load_file(_file(name), beside)
    file, place = loaded.file, name.module or loaded.file.called
    function_name = name.function or only_function(loaded.module, place, preferred)
    return Subject(
        label=text,
        file=file.called,
        path=str(file.path),
        function_name=function_name,
        revision=file.checkout.short if file.checkout else "",
        sha256=hashlib.sha256(loaded.content).hexdigest(),
        source=decode_source(loaded.content),
        function=named_function(loaded.module, place, function_name),
        module=loaded.module,
        origin=loaded.origin,
        importer=loaded.importer,
    )


@dataclass(frozen=True)
class _File:
    """The file to execute, and what the user calls it and its neighbours."""

    called: str
    path: Path
    names: FileNames
    checkout: revision.Checkout | None = None


@dataclass(frozen=True)
class _Loaded:
    """A file's bytes and the module that its execution made."""

    file: _File
    content: bytes
    module: ModuleType
    origin: Origin
    importer: Importer | None


def _file(name: SubjectName) -> _File:
    if not name.revision:
        return _File(name.file, Path(os.path.abspath(name.file)), _names_from_here())
    found = revision.find(name.revision, name.file)
    names = FileNames(str(found.base), str(found.checkout.folder), prefix=f"{name.revision}:")
    return _File(f"{name.revision}:{name.file}", found.path, names, found.checkout)


def _names_from_here() -> FileNames:
    return FileNames(os.getcwd(), os.getcwd())


def _load_file(file: _File, beside: Sequence[Subject]) -> _Loaded:
    content = _read(file)
    _check_syntax(content, file)
    folder, module_name = _place_in_package(file.path)
    importer = _importer(Home(folder, file.path.parent, file.checkout), beside, decode_source(content))
    origin = Origin(importer.name, file.names)
    with _importing(file.called, origin):
        module = importer.load(module_name, file.path)
    return _Loaded(file, content, module, origin, importer)


def _load_module(name: SubjectName, beside: Sequence[Subject]) -> _Loaded:
    """Import a module as Python would; one that only the current folder has is kept apart, like a file."""
    top, here = name.module.partition(".")[0], Path.cwd()
    importer = _importer(Home(here, here), beside) if _is_only_here(top, here) else None
    origin = Origin(importer.name if importer else top, _names_from_here())
    with _importing(name.module, origin):
        module = importer.load(name.module) if importer else importlib.import_module(name.module)
    path = getattr(module, "__file__", None) or ""
    if not path.endswith(".py"):
        raise UnusableSubject(f"{name.module} has no Python source: name a module that is a file.py")
    file = _File(origin.names.of(path), Path(path), origin.names)
    return _Loaded(file, _read(file), module, origin, importer)


def _read(file: _File) -> bytes:
    if not file.path.exists():
        raise UnusableSubject(f"no file {file.called}: give the path of a Python file")
    if not file.path.is_file():
        raise UnusableSubject(f"{file.called} is not a file: give the path of a Python file")
    try:
        return file.path.read_bytes()
    except OSError as error:
        raise UnusableSubject(f"{file.called} can't be read: {error.strerror}") from error


def _check_syntax(content: bytes, file: _File) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(content, str(file.path), "exec", dont_inherit=True)
    except SyntaxError as error:
        line = f" (line {error.lineno})" if error.lineno else ""
        raise UnusableSubject(f"{file.called} doesn't parse: {error.msg}{line}") from error
    except ValueError as error:  # a null byte, before Python 3.12
        raise UnusableSubject(f"{file.called} doesn't parse: {error}") from error


def _place_in_package(path: Path) -> tuple[Path, str]:
    """The folder that has the outermost package around ``path``, and the file's module name from there."""
    parts = [] if path.name == "__init__.py" else [path.stem.replace(".", "_")]
    folder = path.parent
    while (folder / "__init__.py").is_file() and folder.name.isidentifier():
        parts.insert(0, folder.name)
        folder = folder.parent
    return folder, ".".join(parts) or path.stem


def _importer(home: Home, beside: Sequence[Subject], source: str = "") -> Importer:
    """The importer of a subject in ``beside`` with the same home, or a new one.

    Who puts folders on ``sys.path`` may mean other modules by the same names: such files don't share.
    """
    importers = [subject.importer for subject in beside if subject.importer and "sys.path" not in source]
    shared = (importer for importer in importers if importer.home == home and not importer.adopted)
    return next(shared, None) or Importer(home)


def _importing(called: str, origin: Origin) -> AbstractContextManager[None]:
    """Turn what an import raises into one line; only a KeyboardInterrupt passes."""
    return told_as(lambda error: UnusableSubject(_import_failure(called, origin, error)))


def _import_failure(called: str, origin: Origin, error: BaseException) -> str:
    if isinstance(error, SystemExit):
        advice = 'guard what exits with `if __name__ == "__main__":`'
        return f"{called} exits on import: {origin.describe(error)}: {advice}"
    # The module that wasn't found is the subject itself, or a package around it.
    if isinstance(error, ModuleNotFoundError) and f"{called}.".startswith(
        f"{without_importer(error.name or '')}."
    ):
        return f"no file and no module `{called}`: {without_importer(str(error))}"
    return f"{called} raises on import: {origin.describe(error)}"


def _is_only_here(top: str, here: Path) -> bool:
    """Whether ``top`` is a module of the current folder and not the one that Python finds anyway."""
    local, found = PathFinder.find_spec(top, [str(here)]), _found_by_python(top)
    if local is None or (local.origin is None and found is not None):
        return False
    return found is None or local.origin != found.origin


def _found_by_python(top: str) -> ModuleSpec | None:
    try:
        return find_spec(top)
    except ValueError:  # a module made by hand, without a spec
        return None


def _function_or_none(module: ModuleType, name: str) -> Callable[..., Any] | None:
    value = getattr(module, name, None)
    return value if callable(value) else None
