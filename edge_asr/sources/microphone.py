"""Sound devices that record, through PortAudio; the only door to ``sounddevice``.

PortAudio looks at every device when it is initialised, and its ALSA part says on standard error what it thinks of
each; that is passed over, since a device that cannot be used is reported when it is asked for.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.errors import DeviceUnavailable, LibraryMissing
from edge_asr.sources.capture_ring import CaptureRing
from edge_asr.sources.channels import select_channel
from edge_asr.sources.loudness import Level, level_of

_STDERR = 2
_FULL_SCALE = 32_768
"""Of 16-bit samples, which is what sound hardware delivers."""

MODEL_RATE_HZ = 16_000
"""Asked for first: what the models take, so that nothing need be resampled."""

_LATENCY_S = 0.2
"""Audio that the sound library may hold: enough for a board whose cores are all busy decoding for a moment."""

_RING_S = 5.0
"""Audio that may wait for us; more is lost, and counted."""

_FIRST_BLOCK_S = 5.0
"""A device that was opened and delivers nothing for so long does not work; sound servers take a second."""

_UNUSABLE = (-9985, -9996)
"""PortAudio's codes for a device that is held or gone: another rate or channel count would not help."""


@dataclass(frozen=True, slots=True)
class InputDevice:
    """One device that records."""

    index: int
    """PortAudio's number; it changes when devices are plugged in."""
    name: str
    host_api: str
    """``ALSA``, ``JACK Audio Connection Kit``, …"""
    channels: int
    sample_rate_hz: int
    """The one it likes best."""
    is_default: bool


class Capture:
    """An open device; made by :func:`open_capture`. Blocks wait in ``ring``."""

    def __init__(self, device: InputDevice, rate_hz: int, channels: int) -> None:
        """Open the device and begin to record.

        Raises:
            sounddevice.PortAudioError: Not with this rate and these channels.
        """
        self.device = device
        self.rate_hz = rate_hz
        """Frames per second that it delivers."""
        self.channels = channels
        self.ring = CaptureRing(round(_RING_S * rate_hz))
        with _quietly():
            self._stream = _sound().RawInputStream(
                device=device.index,
                samplerate=rate_hz,
                channels=channels,
                dtype="int16",
                latency=_LATENCY_S,
                callback=self._take,
            )
            self._stream.start()

    @property
    def is_alive(self) -> bool:
        """``False`` once the sound library knows that the device is gone; a device may be gone without that."""
        return bool(self._stream.active)

    def close(self) -> None:
        """Stop recording. May hang for a device that is gone: end the process then instead."""
        with _quietly():
            self._stream.close()

    def _take(self, data: Any, frames: int, _time: Any, status: Any) -> None:  # noqa: ANN401  an untyped package
        # On the sound card's thread: copy and leave.
        self.ring.write(bytes(data), frames, time.monotonic_ns(), has_overrun=bool(status.input_overflow))


def input_devices() -> tuple[InputDevice, ...]:
    """Every device that records, in PortAudio's order.

    Raises:
        LibraryMissing: PortAudio is not installed or does not start.
    """
    sound = _sound()
    apis = [api["name"] for api in sound.query_hostapis()]
    default = sound.default.device[0]
    return tuple(
        InputDevice(
            index=device["index"],
            name=device["name"],
            host_api=apis[device["hostapi"]],
            channels=device["max_input_channels"],
            sample_rate_hz=round(device["default_samplerate"]),
            is_default=device["index"] == default,
        )
        for device in sound.query_devices()
        if device["max_input_channels"] > 0
    )


def forget_devices() -> None:
    """Let PortAudio look for devices again: it does so only once, and what is plugged in later stays invisible.

    No device may be open.
    """
    sound = _sound()
    with _quietly():
        sound._terminate()  # noqa: SLF001  what the package's authors advise, for want of a public call
        sound._initialize()  # noqa: SLF001


def open_capture(device: InputDevice) -> Capture:
    """Open a device at the models' rate if it has that, else at its own, with as few channels as it lets.

    Raises:
        DeviceUnavailable: It cannot be opened.
    """
    sound = _sound()
    first: Exception | None = None
    for rate_hz in dict.fromkeys((MODEL_RATE_HZ, device.sample_rate_hz)):
        for channels in sorted({1, min(2, device.channels), device.channels}):
            try:
                return Capture(device, rate_hz, channels)
            except sound.PortAudioError as error:
                first = first or error
                if error.args[1:] and error.args[1] in _UNUSABLE:
                    raise DeviceUnavailable(device.name, _reason(error)) from error
    raise DeviceUnavailable(device.name, _reason(first or ValueError("it has no channels"))) from first


def decode_frames(data: bytes, channels: int) -> Float32Array:
    """Interleaved 16-bit samples as float, shape (frames, channels)."""
    return (np.frombuffer(data, np.int16).astype(np.float32) / np.float32(_FULL_SCALE)).reshape(-1, channels)


def measure_level(device: InputDevice, duration_s: float = 1.0) -> Level:
    """Record for a moment and say how loud it was.

    Raises:
        DeviceUnavailable: It cannot be opened, or does not deliver.
    """
    capture = open_capture(device)
    pieces: list[Float32Array] = []
    frames = 0
    try:
        while frames < duration_s * capture.rate_hz:
            block = capture.ring.read(_FIRST_BLOCK_S)
            if block is None:
                raise DeviceUnavailable(device.name, "it was opened and delivers nothing")
            frames += block.frames
            pieces.append(select_channel(decode_frames(block.data, capture.channels), "mix"))
    finally:
        capture.close()
    return level_of(np.concatenate(pieces))


def _reason(error: Exception) -> str:
    """PortAudio's sentence without its number and without the name of the call that failed."""
    sentence = str(error.args[0]) if error.args else str(error)
    return sentence.rpartition(": ")[2].partition(" [PaErrorCode")[0] or "it does not say why"


def _sound() -> Any:  # noqa: ANN401  an untyped package
    try:
        with _quietly():
            import sounddevice
    except OSError as error:
        raise LibraryMissing("PortAudio", f"{error}; run `sudo apt install libportaudio2`") from error
    return sounddevice


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Standard error leads nowhere in this block, natively too."""
    original = os.dup(_STDERR)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _STDERR)
    try:
        yield
    finally:
        os.dup2(original, _STDERR)
        os.close(original)
        os.close(nowhere)
