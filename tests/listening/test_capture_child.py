"""How the recording process waits for its device."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import pytest

from edge_asr.errors import DeviceUnavailable, LibraryMissing
from edge_asr.listening import capture_child
from edge_asr.listening.capture_child import LONG_PAUSE_S, pause_s
from edge_asr.listening.messages import FromCapture, Refused, Waiting
from edge_asr.sources import microphone
from edge_asr.sources.microphone import InputDevice

USB = InputDevice(1, "USB microphone", "ALSA", 1, 48_000, is_default=False)


class Plug:
    """Devices that are there at each look; what was asked of the sound library."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *looks: Sequence[InputDevice] | Exception) -> None:
        self._looks = list(looks)
        self.asked: list[str] = []
        self.said: list[FromCapture] = []
        monkeypatch.setattr(microphone, "input_devices", self._look)
        monkeypatch.setattr(microphone, "open_capture", self._open)
        monkeypatch.setattr(microphone, "forget_devices", lambda: self.asked.append("forget"))
        monkeypatch.setattr(capture_child, "_pause", lambda seconds: self.asked.append("pause"))
        monkeypatch.setattr(capture_child, "read_sound_cards", lambda: ())

    def _look(self) -> Sequence[InputDevice]:
        self.asked.append("look")
        found = self._looks.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    def _open(self, device: InputDevice) -> InputDevice:
        self.asked.append("open")
        if device.channels == 0:
            raise DeviceUnavailable(device.name, "Device unavailable")
        return device

    def wait(self, wanted: str = "usb", *, must_exist: bool = False) -> object:
        return capture_child._wait_for_device(wanted, must_exist=must_exist, say=self.said.append)


def test_a_device_that_is_there_is_opened_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plug = Plug(monkeypatch, [USB])
    assert plug.wait() == USB
    assert (plug.asked, plug.said) == (["look", "open"], [])


def test_devices_are_looked_for_anew_at_every_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    plug = Plug(monkeypatch, [], [], [USB])
    assert plug.wait() == USB
    assert plug.asked == ["look", "pause", "forget", "look", "pause", "forget", "look", "open"]
    assert [type(message) for message in plug.said] == [Waiting, Waiting]


def test_a_device_that_is_held_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    held = InputDevice(1, "USB microphone", "ALSA", 0, 48_000, is_default=False)
    plug = Plug(monkeypatch, [held], [USB])
    assert plug.wait() == USB
    assert isinstance(plug.said[0], Waiting)
    assert plug.said[0].code == "device_unavailable"


def test_a_second_device_of_the_same_name_is_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    plug = Plug(monkeypatch, [USB, USB], [USB])
    assert plug.wait("microphone") == USB
    assert isinstance(plug.said[0], Waiting)


def test_whoever_cannot_wait_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plug = Plug(monkeypatch, [])
    assert plug.wait(must_exist=True) is None
    assert [message.code for message in plug.said if isinstance(message, Refused)] == ["device_not_found"]


def test_a_missing_library_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    plug = Plug(monkeypatch, LibraryMissing("PortAudio", "install it"))
    assert plug.wait() is None
    assert plug.said == [Refused("library_missing", "PortAudio is not installed; install it")]


def test_a_device_that_was_away_for_long_is_looked_for_less_often() -> None:
    assert (pause_s(0), pause_s(60), pause_s(3600)) == (0.5, 1.0, LONG_PAUSE_S)


def test_the_options_of_the_process() -> None:
    parsed = capture_child._parse(["--device", "usb", "--channel", "left", "--must-exist"])
    expected = argparse.Namespace(device="usb", channel="left", must_exist=True, list=False, meter=False)
    assert parsed == expected
