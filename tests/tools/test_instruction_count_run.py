from __future__ import annotations

import pytest

from tools.instruction_count_run import Cost, compare, plugin_interface


def cost(per_audio_second: int) -> Cost:
    return Cost("cortex-a72", 2.0, short=1_000_000, long=1_000_000 + 2 * per_audio_second)


def test_what_both_recordings_cost_is_not_counted():
    assert cost(5_000).per_audio_second == 5_000


@pytest.mark.parametrize("counted", [98_100, 100_000, 101_900])
def test_a_count_within_the_tolerance_is_that_of_the_reference(counted):
    assert compare(cost(counted), {"cortex-a72": 100_000}) == ""


@pytest.mark.parametrize(("counted", "change"), [(104_000, "+4.0%"), (95_000, "-5.0%")])
def test_a_count_beyond_the_tolerance_is_complained_about_in_both_directions(counted, change):
    assert compare(cost(counted), {"cortex-a72": 100_000}) == (
        f"a second of audio takes {change} instructions on cortex-a72 against the reference, more than the 2% that are "
        "tolerated; if that is meant, run `tools/instruction_count --cpu cortex-a72 --renew` and commit "
        "instruction_count.json"
    )


def test_a_core_without_a_reference_is_complained_about():
    assert compare(cost(1), {}).startswith(
        "instruction_count.json says nothing about cortex-a72; if that is meant, run"
    )


@pytest.mark.parametrize(
    ("said", "interface"),
    [
        ("qemu-aarch64 version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)", 1),
        ("qemu-aarch64 version 8.2.2", 1),
        ("qemu-aarch64 version 10.0.2 (Debian 1:10.0.2+ds-2)", 2),
    ],
)
def test_the_plugin_interface_is_that_of_the_emulators_version(said, interface):
    assert plugin_interface(said) == interface
