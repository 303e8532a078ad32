"""``edge-asr devices``: names, levels and advice; the devices themselves: ``tests/sources/test_microphone.py``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from edge_asr.listening import device_list
from edge_asr.listening.device_list import ListedDevice
from tests.cli.conftest import Run

Plug = Callable[..., None]

USB: dict[str, Any] = {
    "index": 1,
    "name": "USB PnP Sound Device: Audio (hw:1,0)",
    "host_api": "ALSA",
    "channels": 1,
    "sample_rate_hz": 48_000,
    "is_default": True,
    "card_id": "Device",
    "usb_path": "1-1.3",
}
GOOD = {"peak_dbfs": -12.0, "rms_dbfs": -30.0, "offset": 0.001, "clipped": 0.0}


@pytest.fixture
def plug(monkeypatch: pytest.MonkeyPatch) -> Plug:
    """Plug in one device, which was metered with these figures."""

    def plug_in(**fields: Any) -> None:
        def listed(*, meter: bool) -> Sequence[ListedDevice]:
            return (ListedDevice(**(USB | (fields if meter else {}))),)

        monkeypatch.setattr(device_list, "list_devices", listed)

    return plug_in


def test_a_device_is_listed_with_every_name_it_goes_by(run: Run, plug: Plug) -> None:
    plug()
    assert run("devices").out == (
        "* USB PnP Sound Device: Audio (hw:1,0)  (ALSA, 1 channel, 48000 Hz)\n    also called Device or usb:1-1.3\n"
    )


def test_json_has_figures_only_when_they_were_measured(run: Run, plug: Plug) -> None:
    plug(**GOOD)
    assert json.loads(run("devices", "--json").out) == [USB]
    assert json.loads(run("devices", "--meter", "--json").out) == [USB | GOOD | {"problem": None}]


@pytest.mark.parametrize(
    ("figures", "advice"),
    [
        ({"clipped": 0.02, "peak_dbfs": 0.0}, "2.0% of the samples are cut off: turn the gain down (alsamixer)"),
        ({"peak_dbfs": -55.0}, "very quiet: if somebody spoke, turn the gain up (alsamixer), or come closer"),
        ({"offset": -0.3}, "direct current of 30% of full scale: a cheap or badly fed card; it is removed"),
        ({"peak_dbfs": None}, "digital silence: it is muted, or nothing is plugged in"),
    ],
)
def test_what_is_wrong_with_the_sound_is_said_with_what_to_do(
    run: Run, plug: Plug, figures: dict[str, Any], advice: str
) -> None:
    plug(**(GOOD | figures))
    assert run("devices", "--meter").out.splitlines()[-1].strip() == advice


def test_a_good_microphone_gets_no_advice(run: Run, plug: Plug) -> None:
    plug(**GOOD)
    last = run("devices", "--meter").out.splitlines()[-1].strip()
    assert last == "[########################      ] peak -12.0 dB, average -30.0 dB"


def test_a_device_that_cannot_be_recorded_from_is_said_with_the_reason(run: Run, plug: Plug) -> None:
    plug(problem="Device unavailable")
    ran = run("devices", "--meter")
    assert "cannot be recorded from: Device unavailable" in ran.out
    assert "Device unavailable; `edge-asr doctor` says who holds it" in ran.err
    assert ran.status == 0
