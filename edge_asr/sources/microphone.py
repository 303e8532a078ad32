"""Sound devices that record, through PortAudio; the only door to ``sounddevice``.

PortAudio looks at every device when it is initialised, and its ALSA part says on standard error what it thinks of
each; that is passed over, since a device that cannot be used is reported when it is asked for.
"""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from edge_asr.errors import DeviceUnavailable, LibraryMissing

_STDERR = 2
_FULL_SCALE = 32_768
"""Of 16-bit samples, which is what sound hardware delivers."""


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


@dataclass(frozen=True, slots=True)
class Level:
    """How loud a stretch of recording was, in decibels below full scale."""

    peak_dbfs: float | None
    """Of the loudest sample; ``None`` for digital silence, which no open microphone delivers."""
    rms_dbfs: float | None


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


def measure_level(device: InputDevice, duration_s: float = 1.0) -> Level:
    """Record the first channel for a moment and say how loud it was.

    Raises:
        DeviceUnavailable: It cannot be opened, or stopped delivering.
    """
    sound = _sound()
    frames = round(duration_s * device.sample_rate_hz)
    try:
        with (
            _quietly(),
            sound.InputStream(
                device=device.index, samplerate=device.sample_rate_hz, channels=1, dtype="int16"
            ) as stream,
        ):
            samples, _ = stream.read(frames)
    except sound.PortAudioError as error:
        raise DeviceUnavailable(device.name, _reason(error)) from error
    scaled = samples[:, 0].astype(np.float64) / _FULL_SCALE
    return Level(_decibels(float(np.abs(scaled).max(initial=0))), _decibels(float(np.sqrt(np.mean(scaled**2)))))


def _decibels(amplitude: float) -> float | None:
    return 20 * math.log10(amplitude) if amplitude > 0 else None


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
