"""Files of a git revision, exported to a temporary folder that lives as long as the process."""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from syncscope.subjects import UnusableSubject

# A hook runs with these set; they would answer for the hook's repository instead of the file's.
_OF_ANOTHER_REPOSITORY = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY")


@dataclass(frozen=True)
class Checkout:
    """The files of one commit.

    ``worktree`` is the repository's own folder, ``folder`` the exported copy of all of the commit's files.
    """

    commit: str
    short: str
    worktree: Path
    folder: Path

    def counterpart(self, path: str) -> str | None:
        """Where the export has what lies at ``path`` in the working tree; None where it has nothing."""
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self.worktree):
            return None
        exported = self.folder / real.relative_to(self.worktree)
        return str(exported) if exported.exists() else None


@dataclass(frozen=True)
class RevisionFile:
    """One file of a revision: ``path`` is its exported copy, ``base`` the folder its name is relative to."""

    checkout: Checkout
    path: Path
    base: Path


class _GitFailed(Exception):
    """Git ended with an error; the text is its first line."""


def find(revision: str, path: str) -> RevisionFile:
    """Export ``revision`` and find ``path`` in it: relative to the current folder, else to the repository's.

    Raises:
        UnusableSubject: git is missing, there is no repository, no such revision, or no such file in it.
    """
    worktree = _worktree(path)
    commit = _commit(worktree, revision)
    for base, relative in _readings(worktree, path):
        kind = _kind(worktree, commit, relative)
        if kind == "tree":
            folder = f"{revision}:{path.rstrip('/')}"
            raise UnusableSubject(f"{folder} is a folder: name a file in it, {folder}/file.py")
        if kind == "blob":
            checkout = _checkout(worktree, commit)
            return RevisionFile(checkout, checkout.folder / relative, checkout.folder / base)
    raise UnusableSubject(
        f"{revision} has no file {path}: give its path from here or from the repository's folder {worktree}"
    )


def _worktree(path: str) -> Path:
    """The folder of the repository that ``path`` belongs to."""
    folder = next(parent for parent in (Path.cwd() / path).parents if parent.is_dir())
    try:
        return Path(_git(folder, "rev-parse", "--show-toplevel"))
    except _GitFailed as failure:
        if "not a git repository" in str(failure):
            raise UnusableSubject(
                f"{folder} is not in a git repository: a revision is read with git"
            ) from None
        raise UnusableSubject(f"git cannot read the repository of {folder}: {failure}") from None


def _commit(worktree: Path, revision: str) -> str:
    """The full hash of ``revision``."""
    try:
        if not revision or revision.startswith("-"):
            raise _GitFailed("an option or nothing, no revision")
        return _git(worktree, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except _GitFailed:
        raise UnusableSubject(
            f"no revision `{revision}` in {worktree}: give a branch, a tag or a commit that `git log` knows"
        ) from None


def _readings(worktree: Path, path: str) -> list[tuple[Path, Path]]:
    """What ``path`` may mean: pairs of a folder and a file, both relative to the repository's folder."""
    here = Path(os.path.realpath(Path.cwd()))
    file = Path(path)
    absolute = Path(os.path.realpath(file.parent)) / file.name if file.is_absolute() else here / file
    readings = [
        (_relative(here, worktree) or Path(), _relative(Path(os.path.normpath(absolute)), worktree)),
        (Path(), None if file.is_absolute() else Path(os.path.normpath(file))),
    ]
    return [(base, relative) for base, relative in readings if relative and relative.parts[0] != ".."]


def _relative(path: Path, folder: Path) -> Path | None:
    return path.relative_to(folder) if path.is_relative_to(folder) else None


def _kind(worktree: Path, commit: str, path: Path) -> str:
    """``blob``, ``tree``, or nothing where the commit has no such path."""
    try:
        return _git(worktree, "cat-file", "-t", f"{commit}:{path.as_posix()}")
    except _GitFailed:
        return ""


@functools.cache
def _checkout(worktree: Path, commit: str) -> Checkout:
    """Write the commit's files as git would in the working tree, through an index of their own.

    Not ``git archive``: it leaves out what ``.gitattributes`` marks ``export-ignore``, often the examples.
    """
    temporary = tempfile.TemporaryDirectory(prefix="syncscope-")
    atexit.register(temporary.cleanup)
    # The folder's name counts: a repository's own folder can be a package.
    folder = Path(os.path.realpath(temporary.name)) / (worktree.name or "repository")
    index = {"GIT_INDEX_FILE": f"{temporary.name}/index", "GIT_LFS_SKIP_SMUDGE": "1"}
    try:
        _git(worktree, "read-tree", commit, **index)
        _git(worktree, "checkout-index", "--all", f"--prefix={folder}/", **index)
        return Checkout(commit, _git(worktree, "rev-parse", "--short", commit), worktree, folder)
    except _GitFailed as failure:
        raise UnusableSubject(f"git cannot export {commit} of {worktree}: {failure}") from None


def _git(folder: Path, *arguments: str, **environment: str) -> str:
    """What ``git`` prints, stripped."""
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER_REPOSITORY}
    options = ("-c", "core.sparseCheckout=false", "-c", f"core.hooksPath={os.devnull}")
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *options, *arguments],
            capture_output=True,
            text=True,
            env={**inherited, "LC_ALL": "C", **environment},
        )
    except FileNotFoundError:
        raise UnusableSubject("git is not installed or not on PATH: a revision is read with it") from None
    if done.returncode:
        raise _GitFailed((done.stderr.strip() or "no message").splitlines()[0])
    return done.stdout.strip()
