"""The plugin in a run of pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from syncscope import __version__


def run(folder: Path, test: str, *args: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(test)
    (folder / "pytest.ini").write_text("[pytest]\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "syncscope.pytest_plugin",
        "-p",
        "no:cacheprovider",
        *args,
    ]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_header_names_the_version_and_torch_is_left_alone(tmp_path: Path) -> None:
    done = run(tmp_path, "def test_idle():\n    import sys\n    assert 'torch' not in sys.modules\n")
    assert done.returncode == 0, done.stdout
    assert f"\nsyncscope: {__version__}\n" in done.stdout


def test_the_fixture_counts_what_the_test_reads(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "import torch\n"
        "def test_reads(syncscope_observe):\n"
        "    int(torch.ones(3, device='cuda').sum())\n"
        "    assert syncscope_observe.counts.scalar_reads == 1\n"
        "def test_afterwards():\n"
        "    assert torch.ones(3).item is not None and not torch.cuda.is_initialized()\n",
    )
    assert done.returncode == 0, done.stdout


def test_the_installed_package_registers_it() -> None:
    try:
        points = distribution("syncscope").entry_points
    except PackageNotFoundError:
        pytest.skip("syncscope is not installed here, only imported")
    assert [point.value for point in points if point.group == "pytest11"] == ["syncscope.pytest_plugin"]
