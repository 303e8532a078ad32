from __future__ import annotations

from edge_asr.resources.swap import read_swap_areas
from tests.boards import raspberry_pi_3, raspberry_pi_5, rk3588, write_tree, x86_server
from tests.boards.tree import swap


def test_a_file_on_the_card_is_swap_on_the_card(tmp_path):
    (area,) = read_swap_areas(raspberry_pi_3(tmp_path))
    assert (area.path, area.medium, area.size_bytes) == ("/var/swap", "sd_card", 102_396 << 10)


def test_compressed_memory_is_no_card(tmp_path):
    assert [area.medium for area in read_swap_areas(raspberry_pi_5(tmp_path))] == ["zram"]


def test_the_same_driver_serves_cards_and_soldered_memory(tmp_path):
    write_tree(rk3588(tmp_path), swap(("/swapfile", "file", 1024, 512)))
    (area,) = read_swap_areas(tmp_path)
    assert (area.medium, area.used_bytes) == ("emmc", 512 << 10)


def test_a_partition_of_the_card_is_swap_on_the_card(tmp_path):
    write_tree(raspberry_pi_3(tmp_path), swap(("/dev/mmcblk0p3", "partition", 1024, 0)))
    assert [area.medium for area in read_swap_areas(tmp_path)] == ["sd_card"]


def test_a_file_on_another_disk_is_swap_on_a_disk(tmp_path):
    write_tree(raspberry_pi_3(tmp_path), swap(("/mnt/usb/swap", "file", 1024, 0)))
    mounts = (tmp_path / "proc/self/mountinfo").read_text() + "40 21 8:1 / /mnt/usb rw - ext4 /dev/sda1 rw"
    write_tree(tmp_path, {"proc/self/mountinfo": mounts, "sys/block/sda/sda1/dev": "8:1"})
    assert [area.medium for area in read_swap_areas(tmp_path)] == ["disk"]


def test_a_partition_of_a_server_is_swap_on_a_disk(tmp_path):
    assert [area.medium for area in read_swap_areas(x86_server(tmp_path))] == ["disk"]


def test_no_swap_is_no_area(tmp_path):
    assert read_swap_areas(rk3588(tmp_path)) == ()
    assert read_swap_areas(tmp_path / "nothing") == ()
