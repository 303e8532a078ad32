"""Asking for sound devices in a process of its own."""

from __future__ import annotations

import sys

import pytest

from edge_asr.errors import MachineError
from edge_asr.listening import device_list
from edge_asr.listening.device_list import list_devices


def answer(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    monkeypatch.setattr(device_list, "capture_command", lambda *_: [sys.executable, "-c", script])


def test_devices_come_as_the_process_lists_them(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"index": 0, "name": "mic", "host_api": "ALSA", "channels": 1, "sample_rate_hz": 48_000, "is_default": True}
    answer(monkeypatch, f"import json; print(json.dumps([{row!r} | dict(card_id='Device', usb_path='1-1.3')]))")
    (device,) = list_devices(meter=False)
    assert (device.name, device.card_id, device.usb_path, device.peak_dbfs) == ("mic", "Device", "1-1.3", None)


def test_a_library_that_ends_the_process_ends_only_that(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, "import os; os.abort()")
    with pytest.raises(MachineError, match=r"ended its process \(killed by signal 6 \(SIGABRT\)\).*libasound2-data"):
        list_devices(meter=False)


def test_an_error_of_the_process_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = '{"type": "refused", "code": "library_missing", "message": "PortAudio is not installed"}'
    answer(monkeypatch, f"import sys; print({refused!r}); sys.exit(3)")
    with pytest.raises(MachineError, match="PortAudio is not installed") as caught:
        list_devices(meter=True)
    assert caught.value.code == "library_missing"
