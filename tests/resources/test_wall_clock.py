from __future__ import annotations

import time

from edge_asr.resources.wall_clock import read_wall_clock


def test_the_date_is_that_of_the_system():
    before = time.time()
    clock = read_wall_clock()
    assert before <= clock.unix_s <= time.time()


def test_the_kernel_says_whether_the_clock_is_kept():
    assert read_wall_clock().is_synchronised in (True, False)
