"""The regression test of the published change; SUBJECT=FILE holds another version to it."""

import os
import runpy

from syncscope.subjects.workloads import VideoWorkload

HERE = os.path.dirname(__file__)
SUBJECT = runpy.run_path(os.environ.get("SUBJECT", f"{HERE}/vidcom2/read_once.py"))


def test_the_frames_budgets_are_read_at_once(syncscope_device, assert_host_reads):
    arguments, _ = VideoWorkload("noise", frames=4).inputs({}, device=syncscope_device)
    with assert_host_reads(1) as captured:
        SUBJECT["compute_retention_mask"](*arguments)
    assert captured.scalar_reads == []
    assert captured.vector_transfers == [(4,)]
