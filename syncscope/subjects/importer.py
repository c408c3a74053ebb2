"""Subjects' modules, kept apart from each other and from the rest of the process.

Each importer has its own modules, under names of its own in ``sys.modules`` (``syncscope_subject_1.scores``):
dataclasses, pickle and relative imports find them there, and two files of one name never meet. The statement
``import scores`` is answered by the ``__import__`` in the module's own ``__builtins__``, also when a function
runs it later; torch's ``torch/package/package_importer.py`` does the same. Two ways don't pass through it and
find no neighbours: ``importlib.import_module("scores")``, though its relative form does, and an import that
``torch.compile`` has to trace, at which it breaks the graph.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import itertools
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import FrozenImporter, ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from syncscope.subjects.revision import Checkout

_PREFIX = "syncscope_subject_"
_NUMBERS = itertools.count(1)
_IMPORTERS: dict[str, Importer] = {}


@dataclass(frozen=True)
class Home:
    """Where a subject's modules are looked for: ``folder`` before all others, ``fallback`` after them."""

    folder: Path
    fallback: Path
    checkout: Checkout | None = None


class Importer:
    """Imports modules for subjects as if Python had been started with ``home.folder`` first on its path.

    The subject's own are the modules of its home, of folders that it puts on ``sys.path`` itself, and, for a
    checkout, those that Python would find in the repository's working tree. Others are imported as ever.
    """

    def __init__(self, home: Home) -> None:
        """Register the importer; nothing is imported yet."""
        self.name = f"{_PREFIX}{next(_NUMBERS)}"
        self.home = home
        self.adopted: list[str] = []
        self._checkout = home.checkout
        self._first = [str(home.folder)]
        self._last = [str(home.fallback)]
        self._pythons = set(sys.path)
        self._files: dict[str, Path] = {}
        self._others: set[str] = set()
        self._builtins = {**vars(builtins), "__import__": self._import}
        package = ModuleType(self.name, "The modules of a subject.")
        package.__path__ = []
        sys.modules[self.name] = package
        _IMPORTERS[self.name] = self
        if _FINDER not in sys.meta_path:
            sys.meta_path.insert(0, _FINDER)

    def load(self, name: str, path: Path | None = None) -> ModuleType:
        """Import the module ``name``, from the file ``path`` if given; ``sys.path`` is put back afterwards.

        Raises:
            BaseException: whatever the file raises.
        """
        if path is not None:
            self._files[f"{self.name}.{name}"] = path
        importlib.invalidate_caches()
        path_before, modules_before = list(sys.path), set(sys.modules)
        try:
            return importlib.import_module(f"{self.name}.{name}")
        except BaseException:
            _remove(module for module in set(sys.modules) - modules_before if self.has(module))
            raise
        finally:
            self._adopt()
            sys.path[:] = path_before
            _remove(self._from_adopted(set(sys.modules) - modules_before))

    def has(self, name: object) -> bool:
        """Whether ``name`` is the full name of a module of this importer."""
        return isinstance(name, str) and name.partition(".")[0] == self.name

    def spec(self, fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """Where the module ``fullname`` of this importer is and how it is executed."""
        own = fullname.removeprefix(f"{self.name}.")
        if fullname in self._files:
            found = _spec_of_file(fullname, self._files[fullname])
        else:
            found = PathFinder.find_spec(fullname, path if "." in own else self._folders_with(own))
        if found is not None and isinstance(found.loader, SourceFileLoader):
            found.loader = _SubjectLoader(fullname, found.loader.path, self._builtins)
        return found

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Stand in for ``__import__`` in the subject's modules."""
        top = name.partition(".")[0]
        if level or not self._owns(top):
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        module = builtins.__import__(f"{self.name}.{name}", globals, locals, fromlist or (), 0)
        return module if fromlist else sys.modules[f"{self.name}.{top}"]

    def _owns(self, top: str) -> bool:
        """Whether ``import top`` means a module of the subject's own."""
        if f"{self.name}.{top}" in sys.modules:
            return True
        if top in self._others or _is_one_for_all(top):
            return False
        return bool(self._folders_with(top))

    def _folders_with(self, top: str) -> list[str]:
        """The folders in which ``top`` is the subject's own; none where it is somebody else's.

        As on ``sys.path`` the first that has it wins, and a folder without ``__init__.py`` is a module only
        where nobody has a regular one of that name.
        """
        self._adopt()
        if self._is_own(top, PathFinder.find_spec(top, self._first)):
            return self._first
        others = self._others_spec(top)
        if _is_regular(others):
            return self._folders_in_checkout(top, others)
        if PathFinder.find_spec(top, self._first + self._last) is not None:
            return self._first + self._last
        return self._folders_in_checkout(top, others)

    def _is_own(self, top: str, spec: ModuleSpec | None) -> bool:
        if spec is None or not _is_regular(spec):
            return False
        is_around_the_file = any(name.split(".")[1] == top for name in self._files)
        return is_around_the_file or _folder_of(spec) not in _library_folders()

    def _others_spec(self, top: str) -> ModuleSpec | None:
        """What Python itself would import as ``top``, without the folders that the subject added."""
        path = [entry for entry in sys.path if entry not in self.adopted]
        for finder in sys.meta_path:
            spec = finder.find_spec(top, path if finder is PathFinder else None)
            if spec is not None:
                return spec
        return None

    def _folders_in_checkout(self, top: str, others: ModuleSpec | None) -> list[str]:
        """The revision's own version of a module that Python finds in the working tree."""
        if others is None:
            return []
        folder = _folder_of(others)
        own = self._checkout.counterpart(folder) if self._checkout and folder else None
        if own is not None and PathFinder.find_spec(top, [own]) is not None:
            return [own]
        self._others.add(top)
        return []

    def _adopt(self) -> None:
        """Make the folders that the subject put on ``sys.path`` its own, at the place it gave them."""
        for place, entry in enumerate(sys.path):
            if entry in self._pythons or entry in self.adopted:
                continue
            self.adopted.append(entry)
            folder = os.path.abspath(entry)
            own = (self._checkout.counterpart(folder) if self._checkout else None) or folder
            # The subject believes that its own folder is sys.path[0], as in a script.
            before = sum(other in self._pythons for other in sys.path[:place])
            if before == 0:
                self._first.insert(place, own)
            else:
                (self._first if before == 1 else self._last).append(own)

    def _from_adopted(self, names: set[str]) -> list[str]:
        """Those modules that Python itself imported from folders the subject put on ``sys.path``."""
        folders = {os.path.abspath(entry) for entry in self.adopted}
        specs = {name: getattr(sys.modules.get(name.partition(".")[0]), "__spec__", None) for name in names}
        return [name for name, spec in specs.items() if spec is not None and _folder_of(spec) in folders]


class _SubjectLoader(SourceFileLoader):
    """Executes a file with an ``__import__`` of its own, from its text: no bytecode is read or written."""

    def __init__(self, fullname: str, path: str, own_builtins: dict[str, Any]) -> None:
        super().__init__(fullname, path)
        self._builtins = own_builtins

    def get_code(self, fullname: str) -> CodeType:
        """Compile the text that is there now; a file rewritten within its clock's tick is not mistaken."""
        linecache.checkcache(self.path)
        return self.source_to_code(self.get_data(self.path), self.path)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = self._builtins
        super().exec_module(module)


class _Finder(MetaPathFinder):
    """Leads Python's import system to the importer that a module's name begins with."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        importer = _IMPORTERS.get(fullname.partition(".")[0])
        return None if importer is None else importer.spec(fullname, path)


_FINDER = _Finder()


def without_importer(text: str) -> str:
    """``text`` with modules named as the user names them, without their importer's name."""
    return re.sub(rf"\b{_PREFIX}\d+\.", "", text)


def _remove(modules: Iterable[str]) -> None:
    for name in list(modules):
        del sys.modules[name]


def _spec_of_file(fullname: str, path: Path) -> ModuleSpec | None:
    package = [str(path.parent)] if path.name == "__init__.py" else None
    loader = SourceFileLoader(fullname, str(path))
    return spec_from_file_location(fullname, path, loader=loader, submodule_search_locations=package)


def _is_one_for_all(top: str) -> bool:
    """Whether no file can stand before the module: part of the interpreter, or the torch that is watched."""
    return top == "torch" or top in sys.builtin_module_names or FrozenImporter.find_spec(top) is not None


@functools.cache
def _library_folders() -> frozenset[str]:
    """Where libraries are installed: a subject there doesn't make its neighbours its own."""
    return frozenset(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def _is_regular(spec: ModuleSpec | None) -> bool:
    """Whether a module was found that is more than a folder without ``__init__.py``."""
    return spec is not None and spec.origin is not None


def _folder_of(spec: ModuleSpec) -> str | None:
    """The folder that a top-level module or package was found in."""
    if spec.submodule_search_locations:
        return os.path.dirname(os.path.abspath(next(iter(spec.submodule_search_locations))))
    return os.path.dirname(os.path.abspath(spec.origin)) if spec.has_location and spec.origin else None
