"""Temperature of the hottest zone."""

from __future__ import annotations

from pathlib import Path

from edge_asr.resources.thermal import hottest_celsius


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
