"""How a subject is named, and what the user is told where it can't be loaded."""

from __future__ import annotations

import hashlib
import linecache
import pickle
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from syncscope.subjects import Unusable, UnusableSubject
from syncscope.subjects.loader import load
from syncscope.subjects.pair import load_pair

ONE = "def f(x):\n    return x + 1\n"


def refusal(text: str) -> str:
    with pytest.raises(UnusableSubject) as caught:
        load(text)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_file_and_a_function_of_it(write):
    path = write("x.py", "def before(x): return 1\ndef after(x): return 2\n")
    subject = load("x.py::after")
    assert subject.function(0) == 2
    assert (subject.label, subject.file, subject.path) == ("x.py::after", "x.py", str(path))
    assert (subject.function_name, subject.revision) == ("after", "")
    assert subject.source == path.read_text()
    assert subject.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_an_absolute_path(write):
    path = write("deep/x.py", ONE)
    assert load(str(path)).file == str(path)


def test_without_a_functions_name_it_is_compute_retention_mask(write):
    write("x.py", "def other(): ...\ndef compute_retention_mask(): return 'mask'\n")
    assert load("x.py").function() == "mask"


def test_else_the_only_public_function_that_the_file_defines(write):
    write(
        "x.py",
        """
        from math import sqrt
        from textwrap import dedent
        from functools import cache

        class Settings: ...
        def _private(): ...
        def make_inputs(n): return n
        def compute_retained_tokens_count(tokens_per_frame, num_frames, q): return 1
        @cache
        def prune(): return "pruned"
        """,
    )
    subject = load("x.py")
    assert (subject.function_name, subject.function()) == ("prune", "pruned")
    assert subject.make_inputs(3) == 3
    assert subject.compute_retained_tokens_count(1, 1, 0.5) == 1


def test_a_file_without_make_inputs_says_so(write):
    write("x.py", ONE)
    assert load("x.py").make_inputs is None
    assert load("x.py").compute_retained_tokens_count is None


def test_of_several_functions_one_has_to_be_named(write):
    write("x.py", "def before(x): ...\ndef after(x): ...\n")
    assert refusal("x.py") == "x.py has several functions (before, after): name one, x.py::before"


def test_what_the_file_itself_declares_public_counts(write):
    write("x.py", "__all__ = ['after']\ndef step(x): ...\ndef after(x): ...\n")
    assert load("x.py").function_name == "after"


def test_a_file_without_functions(write):
    write("x.py", "from math import sqrt\n")
    assert refusal("x.py") == "x.py defines no public function: define one, or name what to run, x.py::name"


def test_no_such_function_lists_those_that_are_there(write):
    write("x.py", "def before(x): ...\ndef after(x): ...\n")
    assert refusal("x.py::befor") == "x.py has no function befor: it has before, after"
    assert refusal("x.py::") == "x.py:: names no function: write x.py::function, or x.py alone"


def test_what_cannot_be_called_as_it_is(write):
    write(
        "x.py",
        """
        LIMIT = 3
        class Pruner:
            def run(self): ...
            @staticmethod
            def once(): return "static"
            @classmethod
            def made(cls): return cls.__name__
        async def later(): ...
        """,
    )
    advice = "name a function, a static or a class method"
    assert refusal("x.py::LIMIT") == "LIMIT of x.py is no function but of type int"
    assert refusal("x.py::Pruner") == f"Pruner of x.py is a class: {advice}"
    assert refusal("x.py::Pruner.run") == f"Pruner.run of x.py needs an instance: {advice}"
    assert refusal("x.py::later") == "later of x.py is `async`: name a function that runs it to its end"
    assert load("x.py::Pruner.once").function() == "static"
    assert load("x.py::Pruner.made").function() == "Pruner"


def test_an_object_that_can_be_called_is_a_subject_by_name(write):
    write("x.py", "from functools import partial\nhalf = partial(lambda q: q / 2)\n")
    assert load("x.py::half").function(4) == 2


def test_no_file_no_folder(write, tmp_path):
    (tmp_path / "folder").mkdir()
    assert refusal("nowhere/x.py") == "no file nowhere/x.py: give the path of a Python file"
    assert refusal("folder") == "folder is a folder: name a file in it, folder/file.py"
    assert refusal("") == (
        "`` is neither a file nor a module: "
        "write file.py, file.py::function, package.module:function or main:file.py::function"
    )


def test_what_was_meant_by_a_single_colon(write):
    write("x.py", ONE)
    assert refusal("x.py:f") == "x.py:f is no subject: a function of a file follows `::`, write x.py::f"
    assert refusal(":x.py") == ":x.py names no revision before `:`: write HEAD:x.py or x.py"


def test_a_file_that_does_not_parse(write, tmp_path):
    write("x.py", "a = 1\ndef f(:\n")
    assert refusal("x.py") == "x.py doesn't parse: invalid syntax (line 2)"
    (tmp_path / "bytes.py").write_bytes(b"a = 1\n\xff\n")
    assert refusal("bytes.py").startswith("bytes.py doesn't parse: ")
    (tmp_path / "null.py").write_bytes(b"a = 1\n\0")
    assert refusal("null.py").startswith("null.py doesn't parse: ")


def test_a_file_that_raises_on_import(write):
    write("x.py", "a = 1\n\ndef boom():\n    raise ValueError('two\\nlines')\n\nboom()\n")
    assert refusal("x.py") == "x.py raises on import: ValueError: two lines (x.py:4)"


def test_the_line_is_the_users_not_the_librarys(write):
    write("x.py", "import json\n\nvalue = json.loads('{')\n")
    assert refusal("x.py").endswith("(x.py:3)")


def test_a_neighbour_that_raises_on_import(write):
    write("lib/scores.py", "1 / 0\n")
    write("lib/x.py", "import scores\n")
    assert (
        refusal("lib/x.py")
        == "lib/x.py raises on import: ZeroDivisionError: division by zero (lib/scores.py:1)"
    )


def test_names_in_messages_are_the_users(write):
    write("scores.py", "")
    write("x.py", "from scores import missing\n")
    assert "cannot import name 'missing' from 'scores'" in refusal("x.py")
    write("y.py", "import no_such_module\n")
    assert (
        refusal("y.py")
        == "y.py raises on import: ModuleNotFoundError: No module named 'no_such_module' (y.py:1)"
    )


def test_a_file_that_exits_on_import(write):
    write("x.py", "import sys\nsys.exit(2)\n")
    advice = 'guard what exits with `if __name__ == "__main__":`'
    assert refusal("x.py") == f"x.py exits on import: SystemExit: 2 (x.py:2): {advice}"


def test_an_interrupt_on_import_passes(write):
    write("scores.py", "")
    write("x.py", "import scores\nraise KeyboardInterrupt\n")
    before = set(sys.modules)
    with pytest.raises(KeyboardInterrupt):
        load("x.py")
    assert not [name for name in set(sys.modules) - before if "." in name]


def test_what_is_behind_main_does_not_run(write):
    write("x.py", ONE + "if __name__ == '__main__':\n    raise RuntimeError\n")
    assert load("x.py").function(1) == 2


def test_one_class_for_all_that_is_unusable():
    assert issubclass(UnusableSubject, Unusable)


def test_frames_show_the_files_name_line_and_text(write):
    path = write("x.py", "def f():\n    return 1 / 0  # here\n")
    subject = load("x.py")
    with pytest.raises(ZeroDivisionError) as caught:
        subject.function()
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.line) == (str(path), 2, "return 1 / 0  # here")
    assert subject.describe(caught.value) == "ZeroDivisionError: division by zero (x.py:2)"


def test_a_rewritten_file_is_read_anew(write):
    path = write("x.py", "def f(): return 1\n")
    assert load("x.py").function() == 1
    linecache.getline(str(path), 1)
    write("x.py", "def f(): return 2\n")
    assert load("x.py").function() == 2
    assert "return 2" in linecache.getline(str(path), 1)
    assert not (path.parent / "__pycache__").exists()


def test_files_are_called_as_the_user_calls_them(write, tmp_path):
    write("lib/x.py", ONE)
    subject = load("./lib/x.py")
    assert subject.name_of(subject.path) == "./lib/x.py"
    assert subject.name_of(str(tmp_path / "lib" / "scores.py")) == "lib/scores.py"
    assert subject.name_of("/elsewhere/y.py") == "/elsewhere/y.py"


@pytest.mark.parametrize("name", ["k-1.py", "1.py", "my.file.py", "torch.compile.py", "class.py"])
def test_any_file_name_will_do(write, name):
    write(name, "from dataclasses import dataclass\n@dataclass\nclass A:\n    b: int\ndef f(): return A(1)\n")
    assert load(name).function().b == 1


def test_a_module_of_the_current_folder(write):
    write("pruning_pkg/__init__.py", "")
    write("pruning_pkg/scores.py", "def score(): return 7\n")
    write("pruning_pkg/vidcom.py", "from .scores import score\ndef prune(): return score()\n")
    subject = load("pruning_pkg.vidcom:prune")
    assert (subject.function(), subject.file) == (7, "pruning_pkg/vidcom.py")
    assert load("pruning_pkg.vidcom").function_name == "prune"
    assert not [name for name in sys.modules if name.startswith("pruning_pkg")]


def test_an_installed_module_is_imported_as_ever(write):
    subject = load("textwrap:dedent")
    assert subject.function is sys.modules["textwrap"].dedent
    assert Path(subject.path).name == "textwrap.py"


def test_modules_that_cannot_be_used(write):
    write("pkg/__init__.py", "")
    write("pkg/bad.py", "raise ValueError('no')\n")
    assert (
        refusal("no_such_module:f")
        == "no file and no module `no_such_module`: No module named 'no_such_module'"
    )
    assert refusal("pkg.nothing:f") == "no file and no module `pkg.nothing`: No module named 'pkg.nothing'"
    assert refusal("pkg.bad:f") == "pkg.bad raises on import: ValueError: no (pkg/bad.py:1)"
    assert refusal("textwrap:dedant").startswith("textwrap has no function dedant: it has wrap, fill")
    assert refusal("math:sqrt") == "math has no Python source: name a module that is a file.py"
    assert refusal("pkg") == "pkg defines no public function: define one, or name what to run, pkg::name"


def test_a_pair_takes_the_same_parameters(write):
    write("old.py", "def f(scores: int, budgets, *, k=1) -> int: ...\n")
    write("new.py", "def f(scores, sizes, out=None): ...\n")
    with pytest.raises(UnusableSubject) as caught:
        load_pair("old.py", "new.py")
    assert str(caught.value) == (
        "old.py takes (scores, budgets, *, k=1) but new.py takes (scores, sizes, out=None): "
        "give both the same parameters, or those that only one has a default"
    )


@pytest.mark.parametrize(
    "new", ["(scores, budgets)", "(scores, budgets, out=None)", "(scores, budgets, *, out=None, **further)"]
)
def test_one_of_a_pair_may_take_more_that_is_optional(write, new):
    write("old.py", "def f(scores, budgets): ...\n")
    write("new.py", f"def f{new}: ...\n")
    assert [subject.label for subject in load_pair("old.py", "new.py")] == ["old.py", "new.py"]
    assert [subject.label for subject in load_pair("new.py", "old.py")] == ["new.py", "old.py"]


@pytest.mark.parametrize("new", ["(scores)", "(budgets, scores)", "(scores, budgets, more)"])
def test_a_pair_with_other_parameters_is_refused(write, new):
    write("old.py", "def f(scores, budgets): ...\n")
    write("new.py", f"def f{new}: ...\n")
    with pytest.raises(UnusableSubject, match="give both the same parameters"):
        load_pair("old.py", "new.py")


def test_pickle_finds_the_classes_of_a_subject(write):
    write(
        "x.py",
        """
        class Mask:
            def __eq__(self, other): return type(self) is type(other)
        def f(): return Mask()
        """,
    )
    mask = load("x.py").function()
    assert pickle.loads(pickle.dumps(mask)) == mask


def test_the_loader_does_not_import_torch():
    code = "import sys, syncscope.subjects.inputs, syncscope.subjects.loader; print('torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"
