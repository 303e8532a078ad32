from __future__ import annotations

import pytest

from edge_asr.errors import ConfigurationError
from edge_asr.resources.topology import read_topology
from edge_asr.workers.placement import Placement, assign_cores
from tests.boards import raspberry_pi_4, rk3588, virtual_machine, x86_laptop, x86_server


def test_each_big_cluster_gets_a_worker_and_the_front_the_small_cores(tmp_path):
    placed = assign_cores(read_topology(rk3588(tmp_path)), "auto", threads=2)
    assert placed == Placement(workers=((6, 7), (4, 5)), front=(0, 1, 2, 3))


def test_a_cluster_too_small_for_the_threads_gets_no_worker(tmp_path):
    assert assign_cores(read_topology(rk3588(tmp_path)), "auto", threads=4).workers == ((4, 5, 6, 7),)


def test_one_worker_on_a_board_of_equal_cores_leaves_the_first_one_to_the_front(tmp_path):
    placed = assign_cores(read_topology(raspberry_pi_4(tmp_path)), "auto", threads=2)
    assert placed == Placement(workers=((1, 2, 3),), front=(0,))


def test_a_worker_that_needs_all_cores_shares_them_with_the_front(tmp_path):
    placed = assign_cores(read_topology(raspberry_pi_4(tmp_path)), "auto", threads=4)
    assert placed == Placement(workers=((0, 1, 2, 3),), front=(0, 1, 2, 3))


def test_several_workers_share_a_cluster_core_by_core(tmp_path):
    topology = read_topology(raspberry_pi_4(tmp_path))
    assert assign_cores(topology, 3, threads=1) == Placement(workers=((0,), (1,), (2, 3)), front=(0, 1, 2, 3))
    assert assign_cores(topology, 2, threads=2).workers == ((0, 1), (2, 3))


def test_two_workers_on_two_cores_have_one_each(tmp_path):
    placed = assign_cores(read_topology(virtual_machine(tmp_path)), 2, threads=1)
    assert placed == Placement(workers=((0,), (1,)), front=(0, 1))


def test_workers_spread_over_clusters_before_they_share_one(tmp_path):
    assert assign_cores(read_topology(rk3588(tmp_path)), 2, threads=1).workers == ((6, 7), (4, 5))


def test_small_cores_are_taken_only_when_the_big_ones_do_not_suffice(tmp_path):
    topology = read_topology(rk3588(tmp_path))
    assert assign_cores(topology, 4, threads=1).workers == ((6,), (7,), (4,), (5,))
    assert assign_cores(topology, 5, threads=1).workers == ((6,), (7,), (4,), (5,), (0, 1, 2, 3))


def test_a_worker_stays_within_one_memory_node_and_off_the_second_threads(tmp_path):
    placed = assign_cores(read_topology(x86_server(tmp_path)), "auto", threads=2)
    assert placed == Placement(workers=((0, 1), (2, 3)), front=(4, 5, 6, 7))


def test_one_worker_on_a_server_stays_within_one_memory_node(tmp_path):
    placed = assign_cores(read_topology(x86_server(tmp_path)), 1, threads=1)
    assert placed == Placement(workers=((0, 1),), front=(2, 3, 6, 7))


def test_the_front_shares_second_threads_when_nothing_else_is_left(tmp_path):
    assert assign_cores(read_topology(x86_laptop(tmp_path)), 2, threads=1).front == (1, 3)


def test_chosen_cores_are_one_workers_unless_a_number_is_given(tmp_path):
    topology = read_topology(rk3588(tmp_path))
    assert assign_cores(topology, "auto", threads=1, chosen=(0, 6)) == Placement(((0, 6),), (1, 2, 3, 4, 5, 7))
    assert assign_cores(topology, 2, threads=1, chosen=(2, 3)).workers == ((2,), (3,))


def test_more_workers_than_cores_are_refused_with_the_number_that_fits(tmp_path):
    with pytest.raises(ConfigurationError, match=r"worker\.count = 3: with engine\.threads = 2 .* enough for 2"):
        assign_cores(read_topology(raspberry_pi_4(tmp_path)), 3, threads=2)


def test_chosen_cores_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(ConfigurationError, match=r"cannot use \[9\] here"):
        assign_cores(read_topology(raspberry_pi_4(tmp_path)), 2, threads=1, chosen=(1, 9))
