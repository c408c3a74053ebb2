"""What is said and written at the end of a session, and in which company the plugin works."""

import contextlib
import json
import sys
import xml.etree.ElementTree as ElementTree

import pytest

TEST = """
import pytest, torch

@pytest.fixture
def x(syncscope_device):
    return torch.ones(3, device=syncscope_device)

def read(x): return x.tolist()

@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_read(x, times):
    for _ in range(times): read(x)

@pytest.mark.no_host_reads
def test_over(x): x[0].item()

def test_plain(): torch.zeros(3)
"""


def test_the_lines_that_wait_most_and_in_which_tests(run):
    result = run(TEST, "--syncscope")
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines([
        "*= syncscope =*",
        "6 tests watched, 1 over budget; 11 waits",
        "  10 vector read by Tensor.tolist: test_it.py:7 in read: def read(x): return x.tolist()",
        "      in test_it.py::test_read[[]4[]] (4), test_it.py::test_read[[]3[]] (3), "
        "test_it.py::test_read[[]2[]] (2) and 1 test more",
        "  1 scalar read by Tensor.item: test_it.py:14 in test_over: def test_over(x): x[[]0].item()",
        "      in test_it.py::test_over (1)",
    ], consecutive=True)  # fmt: skip


def test_nothing_is_said_where_nothing_was_asked_for(run):
    run(TEST).stdout.no_fnmatch_line("*= syncscope =*")


def test_the_record(run, pytester):
    run(TEST, "--syncscope-json", "record.json")
    record = json.loads((pytester.path / "record.json").read_text())
    assert record["schema_version"] == 1 and record["record"] == "tests" and record["device"] == "sim"
    assert [(test["test"], test["counts"]["vector_reads"], test["over"]) for test in record["tests"]] == [
        ("test_it.py::test_over", 0, ["host reads: expected none, found 1 (1 scalar)"]),
        *((f"test_it.py::test_read[{n}]", n, []) for n in (1, 2, 3, 4)),
    ]
    assert [(line["line"]["text"], line["line"]["waits"]) for line in record["lines"]] == [
        ("def read(x): return x.tolist()", 10), ("def test_over(x): x[0].item()", 1)]  # fmt: skip


def test_properties_for_junit(run, pytester):
    run(TEST, "--junitxml", "junit.xml")
    cases = {
        case.get("name"): case for case in ElementTree.parse(pytester.path / "junit.xml").iter("testcase")
    }
    found = {
        name: {one.get("name"): one.get("value") for one in case.iter("property")}
        for name, case in cases.items()
    }
    assert found["test_read[3]"]["syncscope.vector_reads"] == "3"
    assert found["test_over"]["syncscope.waits"] == "1"
    assert found["test_plain"] == {}


@pytest.mark.parametrize(("ini", "option"), [
    ("syncscope = true", "--syncscope"),
    ("syncscope_json = record.json", "--syncscope-json=record.json"),
    ("syncscope = true\nsyncscope_update = true", "--syncscope-update"),
    ("syncscope = true\nsyncscope_update = true\nsyncscope_baseline = waits.json",
     "--syncscope-baseline=waits.json"),
])  # fmt: skip
def test_every_option_has_a_twin_in_the_ini_file(run, pytester, ini, option):
    pytester.makeini(f"[pytest]\n{ini}")
    result = run(TEST)
    made = {file.name for file in pytester.path.glob("*.json")}
    assert (
        made
        == {
            "--syncscope": set(),
            "--syncscope-json=record.json": {"record.json"},
            "--syncscope-update": {"syncscope-baseline.json"},
            "--syncscope-baseline=waits.json": {"waits.json"},
        }[option]
    )
    if ini.startswith("syncscope = true"):
        result.stdout.fnmatch_lines(["*= syncscope =*"])


@pytest.mark.parametrize(("args", "message"), [
    (["--syncscope-device", "gpu"], "--syncscope-device is sim or cuda, not 'gpu'"),
    (["--syncscope-device", "cuda"],
     "--syncscope-device cuda: torch sees no GPU here; leave it out for the simulated one"),
    (["--syncscope-json", "no/such/record.json"],
     "--syncscope-json no/such/record.json: there is no such folder, make it first"),
])  # fmt: skip
def test_options_that_cannot_be_followed_are_one_line(run, args, message):
    import torch

    if "cuda" in args and torch.cuda.is_available():
        pytest.skip("there is a GPU here")
    result = run(TEST, *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {message}"])


def test_several_processes_make_one_record(pytester, alone):
    pytest.importorskip("xdist")
    pytester.makepyfile(
        test_it=TEST + "\n@pytest.mark.no_syncs\ndef test_unused(x): x + 1  # syncscope: allow no\n"
    )
    args = ("-p", "xdist", "-n", "2", "--syncscope", "--syncscope-update", "--syncscope-json", "record.json")
    result = pytester.runpytest_subprocess(*alone, *args)
    result.assert_outcomes(passed=7)
    result.stdout.fnmatch_lines([
        "7 tests watched, 0 over budget; 11 waits",
        "never used in this session: the allowance at test_it.py:19 (no)",
    ])  # fmt: skip
    record = json.loads((pytester.path / "record.json").read_text())
    assert [line["line"]["events"] for line in record["lines"]] == [10, 1]
    baseline = json.loads((pytester.path / "syncscope-baseline.json").read_text())
    assert [site["count"] for site in baseline["sites"]] == [4, 1]


@pytest.mark.parametrize("args", [
    ["-p", "no:cacheprovider"], ["--import-mode=importlib"], ["-W", "error"], ["--assert=plain"], ["-s"],
    ["-x"], ["-q"], ["-vv"], ["--tb=no"], ["-p", "no:junitxml"],
])  # fmt: skip
def test_options_of_pytest_beside_it(run, args):
    result = run(TEST, "--syncscope", *args)
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_coverage_beside_it(pytester, alone):
    pytest.importorskip("pytest_cov")
    pytester.makepyfile(test_it=TEST)
    pytester.runpytest_subprocess(*alone, "-p", "pytest_cov", "--cov=.").assert_outcomes(passed=5, failed=1)


def test_a_fixture_that_patches_item_itself(run):
    run("""
import pytest, torch

@pytest.fixture
def no_item(monkeypatch):
    def refuse(self): raise AssertionError("item was called")
    monkeypatch.setattr(torch.Tensor, "item", refuse)

@pytest.fixture
def counted(monkeypatch):
    calls, own = [], torch.Tensor.item
    monkeypatch.setattr(torch.Tensor, "item", lambda self: calls.append(1) or own(self))
    return calls

@pytest.mark.no_host_reads
def test_refused(no_item):
    x = torch.ones(3, device="cuda")
    with pytest.raises(AssertionError, match="item was called"): x[0].item()

@pytest.mark.host_reads(exactly=1, scalar=1)
def test_counted(counted):
    assert torch.ones(3, device="cuda")[0].item() == 1 and counted == [1]

@pytest.mark.no_host_reads
def test_other_spellings_are_seen(no_item): float(torch.ones(3, device="cuda")[0])

def test_afterwards(): assert torch.ones(1).item() == 1
""").assert_outcomes(passed=3, failed=1)


AFTERWARDS = """
def test_afterwards():
    from torch.overrides import _get_current_function_mode_stack
    assert not torch.cuda.is_available() and torch.ones(3).device.type == "cpu"
    assert _get_current_function_mode_stack() == []
    assert torch.Tensor.item is torch._C.TensorBase.item
"""


@pytest.mark.parametrize(("body", "expected"), [
    ("x.tolist()", {"failed": 1}),
    ("raise ValueError", {"failed": 1}),
    ("pytest.skip('not here')", {"skipped": 1}),
    ("torch.set_default_device('cuda')", {"passed": 1}),
    ("torch.device('cuda').__enter__()", {"passed": 1}),
])  # fmt: skip
def test_nothing_stays_patched_however_a_test_ends(run, body, expected):
    ended = f"""
import pytest, torch

@pytest.mark.no_host_reads
def test():
    x = torch.ones(3, device="cuda")
    {body}
"""
    outcomes = {**expected, "passed": expected.get("passed", 0) + 1}
    run(ended + AFTERWARDS).assert_outcomes(**outcomes)


@pytest.mark.parametrize("end", ["raise KeyboardInterrupt", "pytest.exit('enough')", "raise SystemExit(3)"])
def test_nothing_stays_patched_when_the_session_is_ended(run, end):
    import torch
    from torch.overrides import _get_current_function_mode_stack

    with contextlib.suppress(KeyboardInterrupt):
        run(f"""
import pytest, torch

@pytest.mark.no_host_reads
def test():
    torch.ones(3, device="cuda") + 1
    {end}
""")
    assert _get_current_function_mode_stack() == []
    assert torch.ones(3).device.type == "cpu"
    assert torch.ones(1).item() == 1


@pytest.mark.parametrize("where", ["setup", "teardown"])
def test_nothing_stays_patched_when_a_fixture_fails(run, where):
    before, after = ("raise ValueError", "") if where == "setup" else ("", "raise ValueError")
    run(f"""
import pytest, torch

@pytest.fixture
def x(syncscope_device):
    {before}
    yield torch.ones(3, device=syncscope_device)
    {after}

@pytest.mark.no_host_reads
def test(x): x + 1
{AFTERWARDS}""").assert_outcomes(passed=1 + (where == "teardown"), errors=1)


def test_a_test_that_times_out_in_a_signal_handler(run):
    if not hasattr(__import__("signal"), "setitimer"):
        pytest.skip("this system has no timers that signal")
    run(f"""
import pytest, signal, torch

@pytest.mark.no_host_reads
def test():
    def stop(*_): raise TimeoutError
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    x = torch.ones(3, device="cuda")
    while True: x = x + 1
{AFTERWARDS}""").assert_outcomes(passed=1, failed=1)


def test_idle_it_imports_neither_torch_nor_what_decides(pytester, alone):
    pytester.makepyfile("""
def test():
    import sys
    assert not {"torch", "numpy", "msgspec", "syncscope.observe.scope"} & set(sys.modules)
""")
    pytester.runpytest_subprocess(*alone).assert_outcomes(passed=1)
    assert "torch" in sys.modules  # so that the test above can tell
