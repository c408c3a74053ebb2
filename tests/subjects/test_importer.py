"""Which module an import in a subject's file means."""

from __future__ import annotations

import importlib
import sys

import pytest

from syncscope.subjects.loader import load
from syncscope.subjects.pair import load_pair


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    path, finders, modules = list(sys.path), list(sys.meta_path), set(sys.modules)
    yield
    assert sys.path == path
    assert len(set(map(id, sys.meta_path)) - set(map(id, finders))) <= 1
    assert not {
        name for name in set(sys.modules) - modules if name.startswith(("scores", "kernels", "shared_"))
    }


def test_each_subject_sees_its_own_neighbour(write):
    for folder, value in (("old", 1), ("new", 2)):
        write(f"{folder}/scores.py", f"VALUE = {value}\n")
        write(f"{folder}/x.py", "import scores\ndef f(): return scores.VALUE\n")
    old, new = load_pair("old/x.py", "new/x.py")
    assert (old.function(), new.function()) == (1, 2)


def test_an_import_inside_a_function_finds_the_right_neighbour(write):
    for folder, value in (("old", 1), ("new", 2)):
        write(f"{folder}/scores.py", f"VALUE = {value}\n")
        write(
            f"{folder}/x.py",
            "def f():\n    from scores import VALUE\n    import scores as s\n    return VALUE, s.VALUE\n",
        )
    old, new = load_pair("old/x.py", "new/x.py")
    assert (new.function(), old.function()) == ((2, 2), (1, 1))


def test_a_module_of_the_same_name_elsewhere_is_not_taken(write, monkeypatch):
    other = type(sys)("scores")
    monkeypatch.setitem(sys.modules, "scores", other)
    write("scores.py", "VALUE = 1\n")
    write("x.py", "import scores\ndef f(): return scores.VALUE\n")
    assert load("x.py").function() == 1
    assert sys.modules["scores"] is other


def test_the_two_files_of_one_folder_share_their_neighbours(write):
    write("shared_batch.py", "class Batch: ...\n")
    write("old.py", "from shared_batch import Batch\ndef make_inputs(): return Batch()\ndef f(x): return x\n")
    write("new.py", "from shared_batch import Batch\ndef f(x): return isinstance(x, Batch)\n")
    old, new = load_pair("old.py", "new.py")
    assert new.function(old.make_inputs())


def test_two_functions_of_one_file_share_its_module(write):
    write("x.py", "def before(x): ...\ndef after(x): ...\n")
    old, new = load_pair("x.py::before", "x.py::after")
    assert old.module is new.module


def test_subjects_loaded_apart_share_nothing(write):
    write("x.py", "def f(x): ...\n")
    assert load("x.py").module is not load("x.py").module


def test_relative_imports_inside_a_package(write):
    write("lib/pkg/__init__.py", "LEVEL = 1\n")
    write("lib/pkg/base.py", "VALUE = 10\n")
    write("lib/pkg/sub/__init__.py", "")
    write("lib/pkg/sub/near.py", "VALUE = 100\n")
    write(
        "lib/pkg/sub/x.py",
        """
        from .. import LEVEL, base
        from . import near
        import pkg.sub.near
        import pkg.base as absolute
        def f():
            from ..base import VALUE
            return LEVEL + VALUE + near.VALUE, pkg.sub.near is near, absolute is base
        """,
    )
    assert load("lib/pkg/sub/x.py").function() == (111, True, True)


def test_a_packages_own_file(write):
    write("pkg/__init__.py", "from .base import VALUE\ndef f(): return VALUE\n")
    write("pkg/base.py", "VALUE = 3\n")
    assert load("pkg/__init__.py").function() == 3


def test_relative_imports_in_a_folder_without_init(write):
    write("loose/scores.py", "VALUE = 4\n")
    write("loose/x.py", "from .scores import VALUE\ndef f(): return VALUE\n")
    assert load("loose/x.py").function() == 4


def test_a_neighbour_beside_a_file_of_a_package(write):
    write("pkg/__init__.py", "")
    write("pkg/scores.py", "VALUE = 5\n")
    write("pkg/logging.py", "raise RuntimeError('not the library')\n")
    write("pkg/x.py", "import logging, scores\ndef f(): return scores.VALUE, logging.INFO\n")
    assert load("pkg/x.py").function() == (5, 20)


def test_a_lazy_relative_import_by_name(write):
    write("pkg/__init__.py", "")
    write("pkg/scores.py", "VALUE = 6\n")
    write(
        "pkg/x.py",
        "import importlib\ndef f(): return importlib.import_module('.scores', __package__).VALUE\n",
    )
    assert load("pkg/x.py").function() == 6


def test_folders_that_are_no_packages_can_be_imported_too(write):
    write("scores_of/first.py", "VALUE = 7\n")
    write("textwrap/readme.txt", "a folder, no module")
    write(
        "x.py",
        "import scores_of.first, textwrap\ndef f(): return scores_of.first.VALUE, textwrap.dedent(' a')\n",
    )
    assert load("x.py").function() == (7, "a")


def test_neighbours_that_import_each_other(write):
    write("scores.py", "import x\ndef score(): return x.LEVEL\n")
    write("x.py", "LEVEL = 8\nimport scores\ndef f(): return scores.score()\n")
    assert load("x.py").function() == 8


def test_a_folder_that_the_file_puts_on_the_path_is_its_own(write):
    for side, value in (("old", 1), ("new", 2)):
        write(f"lib_{side}/kernels.py", f"import importlib, helper_of_kernels\nVALUE = {value}\n")
        write(f"lib_{side}/helper_of_kernels.py", "")
        write(
            f"{side}.py",
            f"""
            import os, sys
            sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib_{side}"))
            import kernels
            def f():
                import kernels as late
                return kernels.VALUE, late is kernels
            """,
        )
    old, new = load_pair("old.py", "new.py")
    assert (old.function(), new.function()) == ((1, True), (2, True))


@pytest.mark.parametrize(("put", "value"), [("insert(0, ", 1), ("append(", 2)])
def test_the_path_is_searched_in_the_order_the_file_gives_it(write, put, value):
    write("lib/scores.py", "VALUE = 1\n")
    write("scores.py", "VALUE = 2\n")
    write("x.py", f"import sys\nsys.path.{put}'lib')\nimport scores\ndef f(): return scores.VALUE\n")
    assert load("x.py").function() == value


def test_a_module_imported_by_name_from_such_a_folder_does_not_stay(write):
    for side, value in (("old", 1), ("new", 2)):
        write(f"lib_{side}/kernels.py", f"VALUE = {value}\n")
        write(
            f"{side}.py",
            f"""
            import importlib, sys
            sys.path.insert(0, "lib_{side}")
            VALUE = importlib.import_module("kernels").VALUE
            def f(): return VALUE
            """,
        )
    old, new = load_pair("old.py", "new.py")
    assert (old.function(), new.function()) == (1, 2)


def test_libraries_are_imported_as_ever(write):
    sys.modules.pop("colorsys", None)
    write("x.py", "import colorsys\ndef f(): return colorsys\n")
    assert load("x.py").function() is importlib.import_module("colorsys")


def test_dataclasses_and_annotations(write):
    write(
        "x.py",
        """
        from __future__ import annotations
        from dataclasses import dataclass, field, fields
        from typing import ClassVar, NamedTuple, get_type_hints

        class Size(NamedTuple):
            frames: int

        @dataclass(frozen=True, kw_only=True)
        class Budget:
            limit: ClassVar[int] = 3
            size: Size = field(default_factory=lambda: Size(2))

        def f(): return [one.name for one in fields(Budget)], get_type_hints(Budget)["size"] is Size
        """,
    )
    assert load("x.py").function() == (["size"], True)


def test_torch_is_the_one_that_is_watched(write):
    import torch

    write("torch.py", "raise RuntimeError('not torch')\n")
    write("x.py", "import torch\ndef f(): return torch\n")
    assert load("x.py").function() is torch


def test_an_installed_file_makes_its_package_its_own_but_not_all_libraries(write):
    import jinja2
    import markupsafe

    subject = load(f"{jinja2.__path__[0]}/utils.py::htmlsafe_json_dumps")
    assert subject.module is not jinja2.utils
    assert subject.module.markupsafe is markupsafe


def test_a_compiled_function(write):
    write("scores.py", "def score(x): return x + 1\n")
    write(
        "x.py",
        """
        import torch
        from scores import score

        @torch.compile(backend="eager")
        def compiled(x):
            from scores import score as late
            return late(len(x.shape) + score(x))
        """,
    )
    import torch

    assert load("x.py").function(torch.ones(2)).tolist() == [4, 4]
