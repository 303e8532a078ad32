"""Opening devices that no test machine has: a PortAudio that refuses rates and channels."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from edge_asr.errors import DeviceUnavailable
from edge_asr.sources.microphone import InputDevice, decode_frames, forget_devices, open_capture

ARRAY = InputDevice(3, "Mic Array: USB Audio (hw:2,0)", "ALSA", 6, 48_000, is_default=False)


class PortAudioError(Exception):
    pass


@dataclass
class ScriptedPortAudio:
    """Opens only what it is told to."""

    takes: tuple[tuple[int, int], ...] = ()
    """Rate and channels."""
    refusal: tuple[str, int] = ("Error opening RawInputStream: Invalid sample rate [PaErrorCode -9997]", -9997)
    asked: list[tuple[int, int]] = field(default_factory=list)
    started: list[Any] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    PortAudioError = PortAudioError

    def RawInputStream(self, **options: Any) -> Any:  # noqa: N802  sounddevice's name
        self.asked.append((options["samplerate"], options["channels"]))
        if self.asked[-1] not in self.takes:
            raise PortAudioError(*self.refusal)
        return SimpleNamespace(start=lambda: self.started.append(options), active=True, close=lambda: None)

    def _terminate(self) -> None:
        self.calls.append("terminate")

    def _initialize(self) -> None:
        self.calls.append("initialize")


@pytest.fixture
def portaudio(monkeypatch: pytest.MonkeyPatch) -> ScriptedPortAudio:
    scripted = ScriptedPortAudio()
    monkeypatch.setitem(sys.modules, "sounddevice", scripted)
    return scripted


def test_the_models_rate_in_one_channel_is_asked_for_first(portaudio: ScriptedPortAudio) -> None:
    portaudio.takes = ((16_000, 1),)
    capture = open_capture(ARRAY)
    assert (capture.rate_hz, capture.channels, portaudio.asked) == (16_000, 1, [(16_000, 1)])


def test_a_device_that_has_neither_is_opened_at_its_own_rate_with_all_its_channels(
    portaudio: ScriptedPortAudio,
) -> None:
    portaudio.takes = ((48_000, 6),)
    capture = open_capture(ARRAY)
    assert (capture.rate_hz, capture.channels) == (48_000, 6)
    assert portaudio.asked == [(16_000, 1), (16_000, 2), (16_000, 6), (48_000, 1), (48_000, 2), (48_000, 6)]


def test_a_device_that_takes_nothing_is_refused_with_the_first_reason(portaudio: ScriptedPortAudio) -> None:
    with pytest.raises(DeviceUnavailable, match="Invalid sample rate"):
        open_capture(ARRAY)


def test_a_device_that_is_held_is_not_asked_again(portaudio: ScriptedPortAudio) -> None:
    portaudio.refusal = ("Error opening RawInputStream: Device unavailable [PaErrorCode -9985]", -9985)
    with pytest.raises(DeviceUnavailable, match="Device unavailable"):
        open_capture(ARRAY)
    assert len(portaudio.asked) == 1


def test_what_the_card_delivers_is_copied_with_what_it_says_of_losses(portaudio: ScriptedPortAudio) -> None:
    portaudio.takes = ((16_000, 1),)
    capture = open_capture(ARRAY)
    buffer = bytearray(b"\x01\x00\x02\x00")
    portaudio.started[0]["callback"](buffer, 2, None, SimpleNamespace(input_overflow=True))
    buffer[:] = bytes(4)  # the sound library uses its buffer again
    block = capture.ring.read(0)
    assert block is not None
    assert (block.data, block.frames, block.has_overrun) == (b"\x01\x00\x02\x00", 2, True)


def test_devices_are_looked_for_again_by_starting_portaudio_anew(portaudio: ScriptedPortAudio) -> None:
    forget_devices()
    assert portaudio.calls == ["terminate", "initialize"]


def test_interleaved_samples_become_one_column_per_channel() -> None:
    frames = decode_frames(b"\x00\x40\x00\xc0\x00\x00\xff\x7f", 2)
    assert frames.tolist() == [[0.5, -0.5], [0.0, pytest.approx(1.0, abs=1e-4)]]
