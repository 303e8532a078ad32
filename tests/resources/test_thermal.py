"""Temperature of the hottest zone, and where the machine slows down."""

from __future__ import annotations

from pathlib import Path

from edge_asr.resources.thermal import hottest_celsius, slowing_celsius
from tests.boards import raspberry_pi_4, rk3588, write_tree


def zone(root: Path, number: int, text: str) -> None:
    folder = root / f"sys/class/thermal/thermal_zone{number}"
    folder.mkdir(parents=True)
    (folder / "temp").write_text(text)


def test_the_hottest_zone_counts(tmp_path: Path) -> None:
    zone(tmp_path, 0, "48312\n")
    zone(tmp_path, 1, "61500\n")
    assert hottest_celsius(tmp_path) == 61.5


def test_a_zone_that_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    zone(tmp_path, 0, "48312\n")
    zone(tmp_path, 1, "")
    assert hottest_celsius(tmp_path) == 48.312


def test_a_machine_without_sensors_has_no_temperature(tmp_path: Path) -> None:
    assert hottest_celsius(tmp_path) is None


def test_the_lowest_passive_trip_point_is_where_the_machine_slows_down(tmp_path: Path) -> None:
    rk3588(tmp_path)
    zone = "sys/class/thermal/thermal_zone0"
    points = {0: ("passive", 75_000), 1: ("passive", 85_000), 2: ("critical", 115_000), 3: ("passive", 45_000)}
    for number, (kind, millidegrees) in points.items():
        write_tree(tmp_path, {f"{zone}/trip_point_{number}_type": kind})
        write_tree(tmp_path, {f"{zone}/trip_point_{number}_temp": str(millidegrees)})
    assert slowing_celsius(tmp_path) == 75.0


def test_a_machine_without_trip_points_does_not_say_where_it_slows_down(tmp_path: Path) -> None:
    assert slowing_celsius(raspberry_pi_4(tmp_path)) is None
