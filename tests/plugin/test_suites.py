"""Whole files of tests: those that read, those that wait, and those that do neither."""

import pytest


@pytest.mark.parametrize(("suite", "outcome", "at_least"), [
    ("evasions", "Failed: host reads: expected none, found ", 130),
    ("waits", "Failed: syncs: expected none, found ", 20),
    ("innocents", "passed", 50),
])  # fmt: skip
def test_every_test_of_a_suite_ends_alike(run_suite, suite, outcome, at_least):
    outcomes = run_suite(suite)
    assert {test: said for test, said in outcomes.items() if not said.startswith(outcome)} == {}
    assert len(outcomes) >= at_least
