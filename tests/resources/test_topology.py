from __future__ import annotations

import os

from edge_asr.resources.topology import Topology, read_topology, worker_cores
from tests.boards import raspberry_pi_4, rk3588, virtual_machine, x86_laptop, x86_server


def clusters(topology: Topology) -> list[list[int]]:
    return [[core.cpu for core in cluster] for cluster in topology.clusters()]


def test_a_raspberry_pi_4_is_one_cluster_of_four(tmp_path):
    topology = read_topology(raspberry_pi_4(tmp_path))
    assert clusters(topology) == [[0, 1, 2, 3]]
    assert topology.cores[0].max_frequency_khz == 1_800_000


def test_an_rk3588_has_its_fastest_cluster_first(tmp_path):
    assert clusters(read_topology(rk3588(tmp_path))) == [[6, 7], [4, 5], [0, 1, 2, 3]]


def test_the_threads_of_a_core_on_a_server_are_far_apart(tmp_path):
    topology = read_topology(x86_server(tmp_path))
    assert topology.cores[1].siblings == {1, 5}
    assert worker_cores(topology, threads=2) == (0, 1, 2, 3)


def test_only_cores_of_the_affinity_mask_count(tmp_path):
    assert read_topology(raspberry_pi_4(tmp_path, allowed="1,3")).cpus == (1, 3)


def test_cores_that_are_offline_do_not_count(tmp_path):
    assert read_topology(rk3588(tmp_path, online="0-5")).cpus == (0, 1, 2, 3, 4, 5)


def test_a_virtual_machine_that_tells_nothing_is_one_cluster(tmp_path):
    topology = read_topology(virtual_machine(tmp_path))
    assert clusters(topology) == [[0, 1]]
    assert topology.cores[1].siblings == {1}


def test_this_machine_reads_as_the_kernel_allows():
    assert set(read_topology().cpus) == os.sched_getaffinity(0)


def test_the_worker_gets_every_core_of_a_raspberry_pi(tmp_path):
    assert worker_cores(read_topology(raspberry_pi_4(tmp_path)), threads=1) == (0, 1, 2, 3)


def test_the_worker_gets_the_fastest_pair_of_an_rk3588(tmp_path):
    assert worker_cores(read_topology(rk3588(tmp_path)), threads=2) == (6, 7)


def test_more_engine_threads_than_fast_cores_take_the_next_cluster_too(tmp_path):
    assert worker_cores(read_topology(rk3588(tmp_path)), threads=4) == (4, 5, 6, 7)


def test_more_threads_than_cores_get_all_that_are_allowed(tmp_path):
    assert worker_cores(read_topology(raspberry_pi_4(tmp_path, allowed="2")), threads=4) == (2,)


def test_the_second_thread_of_a_physical_core_is_left_out(tmp_path):
    assert worker_cores(read_topology(x86_laptop(tmp_path)), threads=1) == (0, 2)


def test_the_second_thread_stays_when_there_is_no_other_core_for_the_socket(tmp_path):
    assert worker_cores(read_topology(x86_laptop(tmp_path, physical=1)), threads=1) == (0, 1)
