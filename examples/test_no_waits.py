"""Pruning never makes the host wait; SUBJECT=FILE holds another version to it."""

import os
import runpy

import pytest

from syncscope.subjects.workloads import VideoWorkload

HERE = os.path.dirname(__file__)
SUBJECT = runpy.run_path(os.environ.get("SUBJECT", f"{HERE}/vidcom2/no_host_reads.py"))


@pytest.fixture
def arguments(syncscope_device):
    return VideoWorkload("scenes", frames=8).inputs({}, device=syncscope_device)[0]


@pytest.mark.no_syncs
def test_nothing_waits(arguments):
    SUBJECT["compute_retention_mask"](*arguments)
