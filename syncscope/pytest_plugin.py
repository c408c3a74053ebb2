"""What syncscope adds to pytest: budgets for what the host reads and waits for.

Idle it costs nothing: torch, and whatever decides anything, is imported when the first test is watched.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from syncscope import __version__

if TYPE_CHECKING:
    import torch

    from syncscope.budgets.regions import Region
    from syncscope.budgets.session import Session
    from syncscope.budgets.watching import Watching
    from syncscope.observe.scope import Scope

_MARKERS = {
    "host_reads": "host_reads(exactly=N | max=N, scalar=N, vector=N, size=N, allow_idle=False): "
    "how often the host may obtain a value or a size from the device",
    "no_host_reads": "no_host_reads(allow_idle=False): the host obtains nothing from the device",
    "syncs": "syncs(exactly=N | max=N, reads=N, uploads=N, explicit=N, copies=N, allow_idle=False): "
    "how often the host may wait for the device, for whatever cause",
    "no_syncs": "no_syncs(allow_idle=False): the host never waits for the device",
}
_FLAGS = {
    "syncscope": "watch every test, and print at the end which lines wait most, and in which tests",
    "syncscope-update": "write the waits of this session to the baseline instead of failing for them",
}
_VALUES = {
    "syncscope-device": ("DEVICE", "where tests run that ask for a device: sim (the simulated one), or cuda"),
    "syncscope-json": ("FILE", "write what every watched test did to FILE, as JSON"),
    "syncscope-baseline": ("FILE", "the committed list of known waits (syncscope-baseline.json)"),
}
_FIXTURES = frozenset(
    {
        "syncscope_device",
        "syncscope_observe",
        "assert_host_reads",
        "assert_max_host_reads",
        "assert_no_host_reads",
        "assert_no_syncs",
    }
)

_COMMENTS = "syncscope_comments"

_WATCHING: pytest.StashKey[Watching] = pytest.StashKey()
_WRONG: pytest.StashKey[str] = pytest.StashKey()
_SESSION: pytest.StashKey[Session] = pytest.StashKey()


def pytest_report_header() -> str:
    """Name the version beside pytest's own, so that a log says what looked at the tests."""
    return f"syncscope: {__version__}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Each option has a twin in the ini file: ``--syncscope-json`` is ``syncscope_json`` there."""
    group = parser.getgroup("syncscope", "syncscope: reads and waits for the device")
    for name, text in _FLAGS.items():
        group.addoption(f"--{name}", action="store_true", default=None, help=text)
        parser.addini(_ini(name), text, type="bool", default=False)
    for name, (metavar, text) in _VALUES.items():
        group.addoption(f"--{name}", metavar=metavar, default=None, help=text)
        parser.addini(_ini(name), text, type="string", default="")


def _ini(option: str) -> str:
    return option.replace("-", "_")


def _given(config: pytest.Config, option: str) -> Any:
    """What the command line says, else the ini file."""
    given = config.getoption(_ini(option))
    return config.getini(_ini(option)) if given is None else given


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers; refuse options that can't be followed before any test runs."""
    for description in _MARKERS.values():
        config.addinivalue_line("markers", description)
    device = _given(config, "syncscope-device") or "sim"
    if device not in ("sim", "cuda"):
        raise pytest.UsageError(f"--syncscope-device is sim or cuda, not {device!r}")
    if device == "cuda":
        _require_gpu()
    json = _given(config, "syncscope-json")
    if json and not (config.invocation_params.dir / json).parent.is_dir():
        raise pytest.UsageError(f"--syncscope-json {json}: there is no such folder, make it first")
    config.pluginmanager.register(_Ending(config), "syncscope-ending")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse a baseline that can't be read, where a test will be held against it."""
    if _baseline(session.config).is_file() and any(map(_is_watched, session.items)):
        _require_readable(session.config)


def _require_gpu() -> None:
    import torch

    if not torch.cuda.is_available():
        raise pytest.UsageError(
            "--syncscope-device cuda: torch sees no GPU here; leave it out for the simulated one"
        )


def _require_readable(config: pytest.Config) -> None:
    from syncscope.budgets import baseline
    from syncscope.comparison.results import UnusableResult

    try:
        baseline.read(_baseline(config))
    except UnusableResult as error:
        raise pytest.UsageError(str(error)) from None


def _baseline(config: pytest.Config) -> Path:
    return config.rootpath / (_given(config, "syncscope-baseline") or "syncscope-baseline.json")


def _session(config: pytest.Config) -> Session:
    """What becomes of this session's watched tests; made when it is first needed."""
    if _SESSION not in config.stash:
        from syncscope.budgets.session import Session, Settings

        json = _given(config, "syncscope-json")
        settings = Settings(
            config.rootpath,
            device=_given(config, "syncscope-device") or "sim",
            everything=_given(config, "syncscope"),
            baseline=_baseline(config),
            updating=_given(config, "syncscope-update"),
            json=config.invocation_params.dir / json if json else None,
            stacks=config.get_verbosity() > 0,
        )
        config.stash[_SESSION] = Session(settings)
    return config.stash[_SESSION]


def _is_watched(item: pytest.Item) -> bool:
    return (
        any(mark.name in _MARKERS for mark in item.iter_markers())
        or not _FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))
        or _given(item.config, "syncscope")
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let a watched test and its fixtures have the device, from the set-up to the tear-down."""
    if not _is_watched(item):
        return (yield)
    from syncscope.budgets import markers
    from syncscope.budgets.budget import WrongBudget

    try:
        watching = _session(item.config).watching(item.nodeid, markers.budgets(item))
    except WrongBudget as error:
        item.stash[_WRONG] = str(error)
        return (yield)
    item.stash[_WATCHING] = watching
    with watching.scope:
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A budget that can't be understood is an error of its test."""
    if _WRONG in item.stash:
        pytest.fail(item.stash[_WRONG], pytrace=False)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Hold a test to its budgets that isn't a function: a method of unittest's, or another plugin's item."""
    watching = item.stash.get(_WATCHING, None)
    if watching is None:
        return (yield)
    instance = getattr(item, "instance", None)
    if hasattr(instance, "_callTestMethod"):
        with watching.unittest_method(instance):  # setUp and tearDown are within this call as well
            result = yield
    elif isinstance(item, pytest.Function):
        result = yield
    else:
        return (yield from watching.held())
    if not watching.began:
        pytest.fail(f"{item.nodeid} was run by another plugin in its own way: its budget held nothing", False)
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Hold a test function to its budgets; coroutines too, which a plugin runs in here."""
    watching = pyfuncitem.stash.get(_WATCHING, None)
    return (yield) if watching is None else (yield from watching.held())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Send what a test did along with its report, from whichever process it ran in."""
    watching = item.stash.get(_WATCHING, None) if call.when == "call" else None
    if watching is None:
        return (yield)
    others = [given for given in item.user_properties if not given[0].startswith("syncscope.")]
    item.user_properties[:] = [*others, *watching.properties()]
    report = yield
    report.syncscope = watching.sent()  # type: ignore[attr-defined]
    return report


class _Ending:
    """Gathers the reports of a session's tests, and has the last word."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._narrowed = False
        self._seen: set[str] = set()
        self._there: set[str] | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take what a test did."""
        self._seen.add(report.nodeid)
        sent = getattr(report, "syncscope", None)
        if sent is not None:
            _session(self._config).add(sent)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Not all tests run: what none of them met may still be there."""
        self._narrowed = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take what a process of pytest-xdist saw beside its tests."""
        sent = getattr(node, "workeroutput", {}).get(_COMMENTS)
        if sent:
            _session(self._config).add_comments(sent)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write what was asked for; a process of pytest-xdist sends it instead."""
        output = getattr(self._config, "workeroutput", None)
        if _SESSION not in self._config.stash:
            return
        seen = _session(self._config)
        if output is not None:
            output[_COMMENTS] = seen.comments()
            return
        seen.add_comments(seen.comments())
        self._there = self._seen if self._ran_whole(session) else None
        seen.write(self._there)

    def _ran_whole(self, session: pytest.Session) -> bool:
        option = self._config.option
        given = self._config.args_source is pytest.Config.ArgsSource.ARGS
        narrowed = given or self._narrowed or option.ignore or option.ignore_glob
        return not (narrowed or session.shouldstop or session.shouldfail or session.testsfailed)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what waits most, and what should be mended."""
        if _SESSION not in self._config.stash:
            return
        lines = _session(self._config).lines(self._there)
        if lines:
            terminalreporter.section("syncscope")
            for line in lines:
                terminalreporter.line(line)


def _watching(request: pytest.FixtureRequest) -> Watching:
    watching = request.node.stash.get(_WATCHING, None)
    if watching is None:
        pytest.fail(
            f"{request.fixturename} has to be an argument of the test or of its fixtures", pytrace=False
        )
    return watching  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def syncscope_device(pytestconfig: pytest.Config) -> torch.device:
    """The device for a test's tensors: the simulated GPU, or a real one with ``--syncscope-device cuda``."""
    import torch

    return torch.device("cuda")


@pytest.fixture
def syncscope_observe(request: pytest.FixtureRequest) -> Scope:
    """What the test's own code does, recorded and held against nothing.

    ``assert syncscope_observe.counts.host_reads == 0`` at the test's end says that its code made the host
    wait for no value.
    """
    return _watching(request).scope


@pytest.fixture
def assert_host_reads(request: pytest.FixtureRequest) -> Callable[..., Region]:
    """A budget for a part of a test: inside, the host obtains exactly so many values or sizes.

        with assert_host_reads(1) as captured: ...

    ``kind`` (scalar, vector or size) limits those alone; ``info`` is shown where it fails; ``allow_idle``
    lets code pass of which nothing runs on the device.
    """
    return _session(request.config).regions.exactly


@pytest.fixture
def assert_max_host_reads(request: pytest.FixtureRequest) -> Callable[..., Region]:
    """A budget for a part of a test: inside, the host obtains at most so many values or sizes."""
    return _session(request.config).regions.at_most


@pytest.fixture
def assert_no_host_reads(request: pytest.FixtureRequest) -> Callable[..., Region]:
    """A budget for a part of a test: inside, the host obtains nothing from the device."""
    return _session(request.config).regions.no_host_reads


@pytest.fixture
def assert_no_syncs(request: pytest.FixtureRequest) -> Callable[..., Region]:
    """A budget for a part of a test: inside, the host never waits for the device."""
    return _session(request.config).regions.no_syncs
