from __future__ import annotations

import os

from edge_asr.resources.board import read_board
from tests.boards import raspberry_pi_4, raspberry_pi_5, rk3588, virtual_machine, x86_server
from tests.boards.raspberry_pi import raspberry_pi_4_with_32_bit_system


def test_a_raspberry_pi_5_is_known_by_its_device_tree(tmp_path):
    board = read_board(raspberry_pi_5(tmp_path))
    assert board.model == "Raspberry Pi 5 Model B Rev 1.0"
    assert (board.architecture, board.userland_bits, board.kernel) == ("aarch64", 64, "6.6.31+rpt-rpi-2712")
    assert board.governors == ("ondemand",)
    assert board.memory_bytes == 8_256_000 << 10


def test_pages_of_a_raspberry_pi_5_are_four_times_those_of_a_4(tmp_path):
    assert read_board(raspberry_pi_5(tmp_path / "5")).page_size_bytes == 16_384
    assert read_board(raspberry_pi_4(tmp_path / "4")).page_size_bytes == 4096


def test_a_32_bit_system_is_seen_although_its_kernel_says_nothing(tmp_path):
    board = read_board(raspberry_pi_4_with_32_bit_system(tmp_path))
    assert (board.architecture, board.userland_bits, board.page_size_bytes) == (None, 32, 4096)


def test_clusters_have_the_names_of_their_cores(tmp_path):
    clusters = read_board(rk3588(tmp_path)).clusters
    assert [(cluster.cpus, cluster.name, cluster.max_frequency_khz) for cluster in clusters] == [
        ((6, 7), "Cortex-A76", 2_352_000),
        ((4, 5), "Cortex-A76", 2_304_000),
        ((0, 1, 2, 3), "Cortex-A55", 1_800_000),
    ]


def test_a_server_has_two_memory_nodes_and_half_as_many_cores_as_threads(tmp_path):
    board = read_board(x86_server(tmp_path))
    assert board.model == "Example Computer R2 Server"
    assert board.numa_nodes == ((0, 1, 4, 5), (2, 3, 6, 7))
    assert [(len(cluster.cpus), cluster.physical_cores) for cluster in board.clusters] == [(8, 4)]


def test_what_a_machine_does_not_say_stays_unknown(tmp_path):
    board = read_board(virtual_machine(tmp_path))
    assert (board.model, board.architecture, board.kernel, board.memory_bytes) == (None, None, None, None)
    assert (board.features, board.numa_nodes, board.governors, board.swap) == (None, (), (), ())


def test_an_empty_root_is_a_machine_that_says_nothing(tmp_path):
    board = read_board(tmp_path)
    assert (board.clusters, board.userland_bits, board.page_size_bytes) == ((), None, None)


def test_this_machine_is_read_from_the_real_kernel():
    board = read_board()
    assert board.page_size_bytes == os.sysconf("SC_PAGE_SIZE")
    assert board.kernel == os.uname().release
    assert board.architecture == os.uname().machine
