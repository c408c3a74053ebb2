"""Runs of pytest within pytest, with the plugin in them."""

import linecache
import sys
from pathlib import Path

import pytest
from _pytest.pytester import SysModulesSnapshot

from syncscope.budgets import comments

SUITES = Path(__file__).parent / "suites"


@pytest.fixture(autouse=True)
def what_is_imported_stays(monkeypatch, tmp_path_factory):
    """Pytester forgets what a run imports, but torch and the simulated device can't be imported twice."""

    def restore(self):
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(tmp_path_factory.getbasetemp())):
                del sys.modules[name]

    monkeypatch.setattr(SysModulesSnapshot, "restore", restore)


@pytest.fixture
def alone(pytester, monkeypatch):
    """The arguments of a run in which no plugin but this one is loaded."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("COLUMNS", "200")
    return ("-p", "syncscope.pytest_plugin", "-p", "no:cacheprovider")


@pytest.fixture
def run(pytester, alone):
    """Run pytest on ``test``, in this process."""

    def run(test="", *args, **files):
        linecache.clearcache()  # runs in one process write the same files anew
        comments._by_line.cache_clear()
        sources = {**({"test_it": test} if test else {}), **files}
        if sources:
            pytester.makepyfile(**sources)
        return pytester.runpytest_inprocess(*alone, *args)

    return run


@pytest.fixture
def run_suite(pytester, alone):
    """Run one of the suites that stand beside this file, in a process; each of its tests with its outcome."""

    def run_suite(name):
        sources = {"test_it": name, "reading_elsewhere": "reading_elsewhere"}
        pytester.makepyfile(**{file: (SUITES / f"{of}.py").read_text() for file, of in sources.items()})
        result = pytester.runpytest_subprocess(*alone, "-rA")
        said = [line for line in result.outlines if line.startswith(("PASSED ", "FAILED ", "ERROR "))]
        return {
            line.partition("::")[2].partition(" ")[0]: line.partition(" - ")[2] or "passed" for line in said
        }

    return run_suite
