"""A subject of a git revision: its file and what it imports come from there."""

from __future__ import annotations

import traceback

import pytest

from syncscope.subjects import UnusableSubject
from syncscope.subjects.loader import load
from syncscope.subjects.pair import load_pair


def refusal(text: str) -> str:
    with pytest.raises(UnusableSubject) as caught:
        load(text)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_file_of_main_against_the_file_that_is_there(write, commit):
    write("x.py", "def f(): return 'old'\n")
    hash = commit()
    write("x.py", "def f(): return 'new'\n")
    old, new = load_pair("main:x.py", "x.py")
    assert (old.function(), new.function()) == ("old", "new")
    assert hash.startswith(old.revision) and len(old.revision) >= 7
    assert (old.label, old.file, new.revision) == ("main:x.py", "main:x.py", "")
    assert old.source == "def f(): return 'old'\n"


def test_any_name_of_a_revision(write, commit, git):
    write("lib/x.py", "def f(): return 1\ndef g(): ...\n")
    hash = commit()
    git("tag", "--annotate", "--message", "first", "v1.0")
    git("update-ref", "refs/remotes/origin/main", hash)
    write("lib/x.py", "def f(): return 2\ndef g(): ...\n")
    commit()
    for name in ("HEAD~1", "v1.0", "origin/main", hash, hash[:8], "main^", "HEAD^{/a change}~1"):
        assert load(f"{name}:lib/x.py::f").function() == 1, name


def test_neighbours_come_from_the_same_revision(write, commit):
    write("lib/scores.py", "VALUE = 1\n")
    write("lib/late.py", "VALUE = 10\n")
    write("lib/x.py", "import scores\ndef f():\n    import late\n    return scores.VALUE + late.VALUE\n")
    commit()
    write("lib/scores.py", "VALUE = 2\n")
    write("lib/late.py", "VALUE = 20\n")
    old, new = load_pair("main:lib/x.py", "lib/x.py")
    assert (new.function(), old.function()) == (22, 11)


def test_the_package_around_a_file_comes_from_the_same_revision(write, commit):
    write("src/pkg/__init__.py", "")
    write("src/pkg/base.py", "VALUE = 1\n")
    write(
        "src/pkg/x.py",
        "from .base import VALUE\nfrom pkg.base import VALUE as SAME\ndef f(): return VALUE + SAME\n",
    )
    commit()
    write("src/pkg/base.py", "VALUE = 2\n")
    assert load("main:src/pkg/x.py").function() == 2


def test_a_repository_whose_folder_is_a_package(write, commit):
    write("__init__.py", "")
    write("base.py", "VALUE = 3\n")
    write("x.py", "from .base import VALUE\ndef f(): return VALUE\n")
    commit()
    assert load("main:x.py").function() == load("x.py").function() == 3


def test_what_python_finds_in_the_working_tree_comes_from_the_revision(write, commit, tmp_path, monkeypatch):
    write("src/pkg_of_tree/__init__.py", "VALUE = 1\n")
    write("bench/x.py", "import pkg_of_tree\ndef f(): return pkg_of_tree.VALUE\n")
    commit()
    write("src/pkg_of_tree/__init__.py", "VALUE = 2\n")
    monkeypatch.syspath_prepend(tmp_path / "src")
    assert load("main:bench/x.py").function() == 1


def test_folders_that_the_file_puts_on_the_path_come_from_the_revision(write, commit, tmp_path):
    write("lib/kernels.py", "VALUE = 1\n")
    write(
        "x.py",
        f"""
        import sys
        sys.path.insert(0, {str(tmp_path / "lib")!r})
        import kernels
        def f(): return kernels.VALUE
        """,
    )
    commit()
    write("lib/kernels.py", "VALUE = 2\n")
    assert load("main:x.py").function() == 1


def test_files_left_out_of_archives_are_there(write, commit):
    write(".gitattributes", "examples export-ignore\n")
    write("examples/x.py", "def f(): return 1\n")
    commit()
    assert load("main:examples/x.py").function() == 1


def test_data_beside_the_file(write, commit):
    write(
        "x.py",
        "from pathlib import Path\ndef f(): return Path(__file__).with_name('table.txt').read_text()\n",
    )
    write("table.txt", "old")
    commit()
    write("table.txt", "new")
    assert load("main:x.py").function() == "old"


def test_a_path_from_the_current_folder_or_from_the_repositorys(write, commit, tmp_path, monkeypatch):
    write("examples/x.py", "def f(): return 'inner'\n")
    write("x.py", "def f(): return 'outer'\n")
    write("examples/deep/y.py", "def f(): return 'y'\n")
    commit()
    assert load("main:x.py").function() == "outer"
    assert load(f"main:{tmp_path}/x.py").function() == "outer"
    monkeypatch.chdir(tmp_path / "examples")
    assert load("main:x.py").function() == "inner"
    assert load("main:./x.py").function() == "inner"
    assert load("main:../x.py").function() == "outer"
    assert load("main:examples/deep/y.py").function() == "y"
    assert load("main:deep/y.py").function() == "y"


def test_a_file_that_is_no_longer_there(write, commit, tmp_path):
    path = write("gone/x.py", "def f(): return 1\n")
    commit()
    path.unlink()
    path.parent.rmdir()
    assert load("main:gone/x.py").function() == 1


def test_frames_have_source_and_files_the_users_names(write, commit, tmp_path, monkeypatch):
    write("lib/scores.py", "def score():\n    return 1 / 0\n")
    write("lib/x.py", "from scores import score\ndef f():\n    return score()\n")
    commit()
    write("lib/scores.py", "\n\n\n")
    subject = load("main:lib/x.py")
    with pytest.raises(ZeroDivisionError) as caught:
        subject.function()
    inner = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert inner.line == "return 1 / 0"
    assert subject.name_of(subject.path) == "main:lib/x.py"
    assert subject.name_of(inner.filename) == "main:lib/scores.py"
    assert subject.describe(caught.value) == "ZeroDivisionError: division by zero (main:lib/scores.py:2)"
    monkeypatch.chdir(tmp_path / "lib")
    assert load("main:x.py").name_of(inner.filename) == "main:scores.py"


def test_the_repository_is_left_as_it_was(write, commit, git):
    write("x.py", "def f(): ...\n")
    commit()
    write("x.py", "def f(): return 2\n")
    git("add", "x.py")
    write("x.py", "def f(): return 3\n")
    before = git("status", "--porcelain=v2", "--branch")
    load("HEAD:x.py")
    assert git("status", "--porcelain=v2", "--branch") == before


def test_a_hooks_environment_does_not_mislead(write, commit, tmp_path, monkeypatch):
    write("lib/x.py", "def f(): return 1\n")
    commit()
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index.lock")
    monkeypatch.chdir(tmp_path / "lib")
    assert load("main:x.py").function() == 1


def test_errors_in_a_revision(write, commit, tmp_path):
    write("x.py", "def f(:\n")
    write("lib/y.py", "1 / 0\n")
    commit()
    assert refusal("main:x.py") == "main:x.py doesn't parse: invalid syntax (line 1)"
    assert refusal("main:lib/y.py") == (
        "main:lib/y.py raises on import: ZeroDivisionError: division by zero (main:lib/y.py:1)"
    )
    assert refusal("mian:x.py") == (
        f"no revision `mian` in {tmp_path}: give a branch, a tag or a commit that `git log` knows"
    )
    assert refusal("--all:x.py").startswith("no revision `--all` in ")
    assert refusal("main:z.py") == (
        f"main has no file z.py: give its path from here or from the repository's folder {tmp_path}"
    )
    assert refusal("main:lib/") == "main:lib is a folder: name a file in it, main:lib/file.py"


def test_no_repository(write, tmp_path):
    assert refusal("main:x.py") == f"{tmp_path} is not in a git repository: a revision is read with git"


def test_a_repository_without_commits(git, tmp_path):
    assert refusal("main:x.py").startswith(f"no revision `main` in {tmp_path}")


def test_no_git(write, commit, monkeypatch):
    write("x.py", "def f(): ...\n")
    commit()
    monkeypatch.setenv("PATH", "")
    assert refusal("main:x.py") == "git is not installed or not on PATH: a revision is read with it"
