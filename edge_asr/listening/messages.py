"""What the recording process says, and what listeners of a microphone hear. No I/O and no numpy here.

On the pipe each message is 4 bytes of length, then msgpack, as between the daemon and its workers.
"""

from __future__ import annotations

import struct
from typing import Literal

import msgspec

from edge_asr.events import TranscriptEvent

SAMPLE_RATE_HZ = 16_000
"""Of the audio that the recording process delivers: 16-bit little-endian, one channel."""

SAMPLE_BYTES = 2


class Waiting(msgspec.Struct, frozen=True, tag="waiting"):
    """The device cannot be opened yet; said again at every attempt."""

    reason: str
    code: str


class Opened(msgspec.Struct, frozen=True, tag="opened"):
    """Audio follows."""

    device: str
    host_api: str
    sample_rate_hz: int
    """Rate of the device; the audio that follows has :data:`SAMPLE_RATE_HZ`."""
    channels: int


class Captured(msgspec.Struct, frozen=True, tag="captured"):
    """A piece of audio."""

    pcm: bytes
    gap_samples: int
    """Samples lost just before, at :data:`SAMPLE_RATE_HZ`."""
    captured_ns: int
    """Monotonic time of the last sample, nanoseconds."""
    overruns: int
    """How often the device said that it lost audio."""
    peak_dbfs: float | None
    rms_dbfs: float | None
    is_silent: bool
    """Nothing but zeros for some time: muted, or nothing plugged in."""


class Lost(msgspec.Struct, frozen=True, tag="lost"):
    """The device is gone; the process ends."""

    reason: str


class Refused(msgspec.Struct, frozen=True, tag="refused"):
    """Waiting would not help; the process ends."""

    code: str
    message: str


FromCapture = Waiting | Opened | Captured | Lost | Refused

_LENGTH = struct.Struct("<I")


def encode(message: FromCapture) -> bytes:
    """One framed message, for :class:`~edge_asr.workers.messages.MessageDecoder`."""
    body = msgspec.msgpack.encode(message)
    return _LENGTH.pack(len(body)) + body


State = Literal["starting", "listening", "waiting", "lost", "back", "silent", "sound", "stopped"]


class MicrophoneState(msgspec.Struct, frozen=True, tag="microphone", tag_field="type"):
    """Something happened to the microphone."""

    state: State
    """``waiting``: it is not there yet. ``listening``: it was opened for the first time. ``lost``: it is gone; what was
    said before becomes a final. ``back``: it is there again. ``silent``: it delivers nothing but zeros. ``sound``: it
    does so no longer. ``starting`` and ``stopped``: before and after all that."""
    device: str
    message: str
    """One sentence for people."""


class MicrophoneLevel(msgspec.Struct, frozen=True, tag="level", tag_field="type"):
    """How loud it is; ten times a second."""

    peak_dbfs: float | None
    rms_dbfs: float | None
    position_s: float
    """End of the piece measured, in seconds since the microphone was opened first."""
    captured_ns: int
    """Monotonic time of that moment, nanoseconds."""


MicrophoneEvent = TranscriptEvent | MicrophoneState | MicrophoneLevel
"""Everything that can be heard of a microphone. Times of transcript events are seconds since it was opened first, and
segments are numbered through, although each loss ends one session and begins another."""
