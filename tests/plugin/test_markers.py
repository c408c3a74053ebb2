"""Markers: what they limit, where they may stand, and what is wrong with one."""

import pytest

READS = """
    import pytest, torch

    @pytest.fixture
    def x(syncscope_device):
        made = torch.tensor([3.0, 1.0, 2.0, 4.0], device=syncscope_device)
        made.sum().item()  # a fixture's own reads are outside of the budget
        yield made
        made.sum().item()
"""


def outcomes(result, **expected):
    result.assert_outcomes(**expected)


@pytest.mark.parametrize("mark", [
    "no_host_reads", "no_syncs",
    "host_reads(exactly=0)", "host_reads(exactly=1)", "host_reads(exactly=3)", "host_reads(max=1)",
    "host_reads(exactly=2, scalar=2)", "host_reads(scalar=0)", "host_reads(vector=0)", "host_reads(size=1)",
    "host_reads(max=5, vector=0)",
    "syncs(exactly=1)", "syncs(max=1)",
    "syncs(reads=1)", "syncs(uploads=1)", "syncs(explicit=1)", "syncs(copies=1)",
])  # fmt: skip
def test_one_scalar_and_one_vector_read_are_over(run, mark):
    run(f"{READS}\n    @pytest.mark.{mark}\n    def test(x): int(x[0]), x.tolist()").assert_outcomes(failed=1)


@pytest.mark.parametrize("mark", [
    "host_reads(exactly=2)", "host_reads(max=2)", "host_reads(max=9)",
    "host_reads(exactly=2, scalar=1, vector=1)", "host_reads(scalar=1)", "host_reads(vector=1, size=0)",
    "host_reads(max=2, vector=1)",
    "syncs(exactly=2)", "syncs(max=3)", "syncs(reads=2, uploads=0, explicit=0, copies=2)", "syncs(copies=2)",
])  # fmt: skip
def test_one_scalar_and_one_vector_read_are_within(run, mark):
    run(f"{READS}\n    @pytest.mark.{mark}\n    def test(x): int(x[0]), x.tolist()").assert_outcomes(passed=1)


@pytest.mark.parametrize(("mark", "message"), [
    ("host_reads()", "no number was given: say exactly=N, max=N, or scalar=N, vector=N, size=N"),
    ("syncs()", "no number was given: say exactly=N, max=N, or reads=N, uploads=N, explicit=N, copies=N"),
    ("host_reads(1)",
     "1 can't be taken: its arguments are exactly=, max=, scalar=, vector=, size=, allow_idle="),
    ("no_syncs(reads=1)", "reads can't be taken: its arguments are allow_idle="),
    ("host_reads(exactly=1, max=2)", "exactly and max were both given: keep one of them"),
    ("host_reads(exactly=-1)", "a budget is a whole number from 0 on, not -1"),
    ("host_reads(max='2')", "a budget is a whole number from 0 on, not '2'"),
])  # fmt: skip
def test_a_mark_that_cannot_be_understood_is_an_error_of_its_test(run, mark, message):
    result = run(f"{READS}\n    @pytest.mark.{mark}\n    def test(x): pass\n\n    def test_other(): pass")
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines([f"@pytest.mark.{mark.partition('(')[0]}: {message.replace('[', '[[]')}"])


def test_two_budgets_of_a_kind_on_one_test(run):
    result = run(
        f"{READS}\n    @pytest.mark.no_host_reads\n    @pytest.mark.host_reads(max=1)\n    def test(x): pass"
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["two budgets of a kind, host_reads and no_host_reads: keep one of them"], consecutive=True
    )


def test_a_budget_of_reads_and_one_of_syncs_both_hold(run):
    result = run(f"""{READS}
    @pytest.mark.host_reads(exactly=1)
    @pytest.mark.syncs(exactly=1)
    def test(x):
        x.tolist()
        torch.cuda.synchronize()
    """)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["syncs: expected exactly 1, found 2 (1 read, 1 explicit)"])
    result.stdout.no_fnmatch_line("host reads: *")


def test_the_mark_that_stands_closest_holds(run):
    run(f"""{READS}
    pytestmark = pytest.mark.no_host_reads

    @pytest.mark.host_reads(exactly=1)
    def test_function(x): x.tolist()

    @pytest.mark.host_reads(exactly=2)
    class TestClass:
        def test_method(self, x): x.tolist(), x.tolist()

        @pytest.mark.no_host_reads
        def test_stricter(self, x): x + 1

    class TestBelow(TestClass):
        pytestmark = pytest.mark.host_reads(max=2)

    @pytest.mark.no_host_reads
    @pytest.mark.parametrize("n", [0, pytest.param(1, marks=pytest.mark.host_reads(exactly=1))])
    def test_parameter(x, n): [x.tolist() for _ in range(n)] or x + 1

    def test_module(x): x + 1
    """).assert_outcomes(passed=8)


def test_a_module_and_a_class_hold_their_tests_to_the_budget(run):
    run(f"""{READS}
    pytestmark = pytest.mark.no_host_reads

    def test_function(x): x.tolist()

    class TestClass:
        def test_method(self, x): x.tolist()
    """).assert_outcomes(failed=2)


def test_methods_of_unittest_without_their_set_up(run):
    result = run("""
    import unittest, pytest, torch

    @pytest.mark.host_reads(exactly=1)
    class TestReads(unittest.TestCase):
        def setUp(self):
            self.x = torch.ones(3, device="cuda")
            self.x.tolist()

        def tearDown(self):
            self.x.tolist()

        def test_within(self): self.x.tolist()

        def test_over(self): self.x.tolist(), self.x.tolist()

        @pytest.mark.no_host_reads
        def test_none(self): self.assertEqual((self.x + 1).shape, (3,))

        def test_subtests(self):
            for n in range(2):
                with self.subTest(n=n):
                    self.x.tolist()

        def test_error(self): self.fail("its own")

        @unittest.skip("not now")
        def test_skipped(self): pass
    """)
    result.assert_outcomes(passed=2, failed=3, skipped=1)
    result.stdout.fnmatch_lines(["*AssertionError: its own"])


def test_coroutines_of_unittest(run):
    run("""
    import unittest, pytest, torch

    @pytest.mark.no_host_reads
    class TestReads(unittest.IsolatedAsyncioTestCase):
        async def asyncSetUp(self):
            self.x = torch.ones(3, device="cuda")
            self.x.tolist()

        async def test_over(self): self.x.tolist()

        async def test_within(self): self.x + 1
    """).assert_outcomes(passed=1, failed=1)


def test_coroutines_that_a_plugin_runs(run, pytester):
    pytester.makeconftest("""
        import asyncio, pytest

        @pytest.hookimpl(tryfirst=True)
        def pytest_pyfunc_call(pyfuncitem):
            if asyncio.iscoroutinefunction(pyfuncitem.obj):
                asyncio.run(pyfuncitem.obj(x=pyfuncitem.funcargs["x"]))
                return True
    """)
    run(f"""{READS}
    @pytest.mark.no_host_reads
    async def test_over(x): x.tolist()

    @pytest.mark.no_host_reads
    async def test_within(x): x + 1
    """).assert_outcomes(passed=1, failed=1)


def test_an_item_that_is_no_function(run, pytester):
    pytester.makeconftest("""
        import pytest

        class Item(pytest.Item):
            def runtest(self):
                import torch
                torch.ones(3, device="cuda").tolist()

        class File(pytest.File):
            def collect(self):
                item = Item.from_parent(self, name="reads")
                item.add_marker(pytest.mark.no_host_reads)
                yield item

        def pytest_collect_file(file_path, parent):
            if file_path.suffix == ".reads":
                return File.from_parent(parent, path=file_path)
    """)
    pytester.makefile(".reads", one="")
    run().assert_outcomes(failed=1)


def test_a_plugin_that_never_calls_the_function_is_no_pass(run, pytester):
    pytester.makeconftest("""
        import pytest

        @pytest.hookimpl(tryfirst=True)
        def pytest_collection_modifyitems(items):
            for item in items:
                item.runtest = lambda: None
    """)
    result = run(f"{READS}\n    @pytest.mark.no_host_reads\n    def test(x): x.tolist()")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*was run by another plugin in its own way: its budget held nothing*"])


@pytest.mark.parametrize(("body", "expected"), [
    ("raise ValueError('its own')", {"failed": 1}),
    ("pytest.skip('not here')", {"skipped": 1}),
    ("pytest.xfail('known')", {"xfailed": 1}),
])  # fmt: skip
def test_how_a_test_ends_goes_before_its_budget(run, body, expected):
    result = run(
        f"{READS}\n    @pytest.mark.no_host_reads\n    def test(x):\n        x.tolist()\n        {body}"
    )
    result.assert_outcomes(**expected)
    result.stdout.no_fnmatch_line("host reads: *")


def test_a_test_that_is_expected_to_fail_may_go_over(run):
    run(f"""{READS}
    @pytest.mark.xfail(strict=True)
    @pytest.mark.no_host_reads
    def test(x): x.tolist()
    """).assert_outcomes(xfailed=1)


def test_fixtures_of_wider_scopes_have_the_device_too(run):
    run("""
    import pytest, torch

    @pytest.fixture(scope="module")
    def weights(syncscope_device):
        made = torch.ones(3, device=syncscope_device)
        yield made
        assert made.tolist() == [1, 1, 1]

    @pytest.mark.no_host_reads
    def test_one(weights): assert (weights + 1).is_cuda

    @pytest.mark.host_reads(exactly=1)
    def test_two(weights): weights.tolist()

    def test_nothing_of_it_is_left():
        assert not torch.cuda.is_available()
    """).assert_outcomes(passed=3)


def test_the_markers_are_registered(run):
    result = run("def test(): pass", "--markers")
    result.stdout.fnmatch_lines([
        "@pytest.mark.host_reads(exactly=N | max=N, scalar=N, vector=N, size=N, allow_idle=False): *",
        "@pytest.mark.no_host_reads(allow_idle=False): *",
        "@pytest.mark.syncs(exactly=N | max=N, reads=N, uploads=N, explicit=N, copies=N, allow_idle=*",
        "@pytest.mark.no_syncs(allow_idle=False): *",
    ])  # fmt: skip
