from __future__ import annotations

import pytest

from edge_asr.resources.throttling import Throttle, Throttling, read_throttling, read_under_voltage_alarm
from tests.boards import raspberry_pi_3, raspberry_pi_4, raspberry_pi_5, rk3588, write_tree, x86_server

PI_4_FIRMWARE = "sys/devices/platform/soc/soc:firmware/get_throttled"


@pytest.mark.parametrize("board", [raspberry_pi_3, raspberry_pi_4, raspberry_pi_5])
def test_a_raspberry_pi_that_was_always_well_has_no_bit_set(board, tmp_path):
    assert read_throttling(board(tmp_path)) == Throttling(frozenset(), frozenset())


@pytest.mark.parametrize("board", [rk3588, x86_server])
def test_a_board_without_the_firmware_says_nothing_rather_than_that_all_is_well(board, tmp_path):
    assert read_throttling(board(tmp_path)) is None


def test_the_word_is_hexadecimal_and_its_upper_half_is_the_past(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), {PI_4_FIRMWARE: "50005"})
    bits = frozenset[Throttle]({"under_voltage", "throttled"})
    assert read_throttling(tmp_path) == Throttling(now=bits, since_boot=bits)


def test_a_soft_limit_that_has_passed_is_of_the_past_only(tmp_path):
    write_tree(raspberry_pi_3(tmp_path), {PI_4_FIRMWARE: "80000"})
    assert read_throttling(tmp_path) == Throttling(frozenset(), frozenset({"soft_temperature_limit"}))


def test_a_capped_clock_is_the_second_bit(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), {PI_4_FIRMWARE: "20002"})
    assert read_throttling(tmp_path) == Throttling(frozenset({"frequency_capped"}), frozenset({"frequency_capped"}))


def test_a_word_that_is_none_says_nothing(tmp_path):
    write_tree(raspberry_pi_4(tmp_path), {PI_4_FIRMWARE: ""})
    assert read_throttling(tmp_path) is None


@pytest.mark.parametrize(("text", "alarm"), [("0", False), ("1", True)])
def test_the_voltage_sensor_tells_where_the_firmware_file_is_gone(text, alarm, tmp_path):
    sensor = "sys/class/hwmon/hwmon1"
    write_tree(tmp_path, {f"{sensor}/name": "rpi_volt", f"{sensor}/in0_lcrit_alarm": text})
    assert read_under_voltage_alarm(tmp_path) is alarm


def test_other_sensors_are_no_voltage_alarm(tmp_path):
    write_tree(tmp_path, {"sys/class/hwmon/hwmon0/name": "cpu_thermal", "sys/class/hwmon/hwmon0/in0_lcrit_alarm": "1"})
    assert read_under_voltage_alarm(tmp_path) is None
