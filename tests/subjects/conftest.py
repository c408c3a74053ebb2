from __future__ import annotations

import os
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

Write = Callable[[str, str], Path]
Git = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a file below the folder of the test, which is the current one."""
    monkeypatch.chdir(tmp_path)

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        return path

    return write


@pytest.fixture
def git(write: Write, tmp_path: Path) -> Git:
    """Run git in the folder of the test, a new repository."""
    parts = [f"{role}_{what}" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
    who = {f"GIT_{part}": "tester@example.org" for part in parts}
    environment = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    git("init", "--quiet", "--initial-branch=main")
    return git


@pytest.fixture
def commit(git: Git) -> Callable[[], str]:
    """Commit all that is there and say the commit's hash."""

    def commit() -> str:
        git("add", "--all")
        git("commit", "--quiet", "--message", "a change")
        return git("rev-parse", "HEAD")

    return commit
