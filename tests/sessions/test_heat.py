from __future__ import annotations

import pytest

from edge_asr.sessions.heat import COOL, Heat


def test_a_cool_machine_keeps_its_capacity() -> None:
    assert (COOL.share, COOL.reason) == (1.0, "")
    assert Heat(temperature_c=60.0, limit_c=80.0).share == 1.0


@pytest.mark.parametrize(("temperature_c", "share"), [(72.0, 1.0), (76.0, 0.75), (80.0, 0.5), (90.0, 0.5)])
def test_capacity_falls_on_the_way_to_the_limit(temperature_c: float, share: float) -> None:
    assert Heat(temperature_c=temperature_c, limit_c=80.0).share == pytest.approx(share)


def test_a_lower_clock_lowers_the_capacity_by_as_much() -> None:
    heat = Heat(frequency_share=0.75)
    assert (heat.share, heat.reason) == (0.75, "its clock is held at 75%")


def test_what_the_firmware_holds_back_counts_whatever_the_kernel_says() -> None:
    heat = Heat(throttling=("under_voltage", "throttled"))
    assert (heat.share, heat.reason) == (0.5, "the firmware reports throttled, under voltage")


def test_the_temperature_is_named_when_nothing_else_is_wrong() -> None:
    assert Heat(temperature_c=78.4, limit_c=80.0).reason == "it is at 78 °C of 80 °C"
