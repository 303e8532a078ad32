from __future__ import annotations

import os
import select
import subprocess
import sys

import pytest


@pytest.mark.parametrize("loader", ["load", "load_for_ever"])
def test_a_worker_does_not_outlive_its_front(tmp_path, loader):
    command = [sys.executable, "-m", "tests.workers.front", str(tmp_path), loader]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as front:
        assert front.stdout is not None
        worker = os.pidfd_open(int(front.stdout.readline()))
        front.kill()
        readable, _, _ = select.select([worker], [], [], 30)
        os.close(worker)
    assert readable, "the worker still runs"
