from __future__ import annotations

from edge_asr.resources.paging import Paging, read_paging
from tests.boards import raspberry_pi_4, write_tree
from tests.boards.tree import paging


def test_swap_ins_and_major_faults_are_counted(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), paging(swapped_in=17, major_faults=2500))
    assert read_paging(tmp_path) == Paging(swapped_in_pages=17, swapped_out_pages=0, major_faults=2500)


def test_a_kernel_without_swap_has_swapped_nothing(tmp_path):
    write_tree(tmp_path, {"proc/vmstat": "pgfault 100\npgmajfault 3"})
    assert read_paging(tmp_path) == Paging(0, 0, 3)


def test_a_kernel_that_counts_nothing_says_nothing(tmp_path):
    assert read_paging(tmp_path) is None
