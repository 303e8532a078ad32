from __future__ import annotations

from edge_asr.workers.heat_sensor import HeatSensor
from tests.boards import raspberry_pi_4, rk3588, virtual_machine, write_tree

POLICY = "sys/devices/system/cpu/cpufreq"


def test_a_cool_board_holds_nothing_back(tmp_path):
    heat = HeatSensor((0, 1, 2, 3), root=raspberry_pi_4(tmp_path)).read()
    assert (heat.temperature_c, heat.limit_c, heat.share) == (48.312, 80.0, 1.0)


def test_a_machine_without_sensors_is_taken_to_be_cool(tmp_path):
    heat = HeatSensor((0, 1), root=virtual_machine(tmp_path)).read()
    assert (heat.temperature_c, heat.share) == (None, 1.0)


def test_the_firmwares_bits_are_read(tmp_path):
    raspberry_pi_4(tmp_path)
    write_tree(tmp_path, {"sys/devices/platform/soc/soc:firmware/get_throttled": "40004"})
    assert HeatSensor((0,), root=tmp_path).read().throttling == {"throttled"}


def test_a_clock_that_falls_is_seen_on_the_workers_cores_only(tmp_path):
    rk3588(tmp_path)
    big, small = HeatSensor((6, 7), root=tmp_path), HeatSensor((0, 1), root=tmp_path)
    assert (big.read().frequency_share, small.read().frequency_share) == (1.0, 1.0)
    write_tree(tmp_path, {f"{POLICY}/policy6/scaling_max_freq": "1176000"})
    assert (big.read().frequency_share, small.read().frequency_share) == (0.5, 1.0)


def test_a_clock_that_was_always_low_is_the_owners_choice(tmp_path):
    rk3588(tmp_path)
    write_tree(tmp_path, {f"{POLICY}/policy6/scaling_max_freq": "1176000"})
    assert HeatSensor((6, 7), root=tmp_path).read().frequency_share == 1.0


def test_the_settings_limit_beats_the_sensors(tmp_path):
    assert HeatSensor((6,), 70.0, root=rk3588(tmp_path)).read().limit_c == 70.0


def test_the_kernels_own_limit_is_used_where_it_has_one(tmp_path):
    rk3588(tmp_path)
    zone = "sys/class/thermal/thermal_zone0"
    write_tree(tmp_path, {f"{zone}/trip_point_0_type": "passive", f"{zone}/trip_point_0_temp": "75000"})
    assert HeatSensor((6,), root=tmp_path).read().limit_c == 75.0
