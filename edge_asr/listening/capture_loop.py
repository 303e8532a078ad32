"""From an open device to pieces of audio as the recogniser takes them, until the device is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.listening.messages import SAMPLE_RATE_HZ, Captured, FromCapture, Lost
from edge_asr.requests import Channel
from edge_asr.sources.capture_ring import Block, CaptureRing
from edge_asr.sources.channels import select_channel
from edge_asr.sources.lost_audio import LostAudio
from edge_asr.sources.loudness import DirectCurrent, SignalWatch, level_of
from edge_asr.sources.resample import StreamResampler

PIECE_S = 0.1
"""Audio in one message."""

DEAD_AFTER_S = 2.0
"""A device that was heard and delivers nothing for so long is gone: an unplugged one says nothing at all."""

FIRST_BLOCK_S = 5.0
"""Sound servers take a second for the first."""

_POLL_S = 0.1

GONE = "the device is gone"
SILENT_DEVICE = f"it has delivered nothing for {DEAD_AFTER_S:g} s"
MUTE_DEVICE = f"it was opened and delivered nothing for {FIRST_BLOCK_S:g} s"
STUCK = "it delivers the same value over and over"


class OpenDevice(Protocol):
    """A device that records."""

    @property
    def ring(self) -> CaptureRing:
        """Where its blocks wait."""
        ...

    @property
    def rate_hz(self) -> int:
        """Frames per second."""
        ...

    @property
    def channels(self) -> int:
        """Samples per frame."""
        ...

    @property
    def is_alive(self) -> bool:
        """``False`` when it is known to be gone."""
        ...


class CaptureLoop:
    """Reads one device to its end.

    Args:
        device: Open and recording.
        channel: Which of its channels is wanted.
        decode: From its bytes to float samples of shape (frames, channels).
        say: Takes the messages.
    """

    def __init__(
        self,
        device: OpenDevice,
        channel: Channel,
        decode: Callable[[bytes, int], Float32Array],
        say: Callable[[FromCapture], None],
    ) -> None:
        self._device = device
        self._channel = channel
        self._decode = decode
        self._say = say
        self._lost_audio = LostAudio(device.rate_hz)
        self._watch = SignalWatch(device.rate_hz)
        self._offset = DirectCurrent(SAMPLE_RATE_HZ)
        self._resampler = StreamResampler(device.rate_hz, SAMPLE_RATE_HZ)
        self._pending: list[Float32Array] = []
        self._pending_frames = 0
        self._overruns = 0
        self._heard_until_ns = 0
        self._is_silent = False

    def run(self) -> None:
        """Deliver pieces until the device is lost; says so last."""
        reason = self._read()
        self._deliver(self._heard_until_ns)
        self._say(Lost(reason))

    def _read(self) -> str:
        """Take blocks; why there will be no more."""
        patience_s, complaint = FIRST_BLOCK_S, MUTE_DEVICE
        waited_s = 0.0
        while True:
            block = self._device.ring.read(_POLL_S)
            if block is not None:
                waited_s, patience_s, complaint = 0.0, DEAD_AFTER_S, SILENT_DEVICE
                if not self._take(block):
                    return STUCK
                continue
            # Counted, not read from a clock: a process that slept has not given its device the time to deliver.
            waited_s += _POLL_S
            if not self._device.is_alive:
                return GONE
            if waited_s >= patience_s:
                return complaint

    def _take(self, block: Block) -> bool:
        """One block; ``False`` when it can come from no working device."""
        lost = self._lost_audio.before(
            block.captured_ns, block.frames, has_overrun=block.has_overrun, dropped_frames=block.dropped_frames
        )
        self._overruns += block.has_overrun
        self._heard_until_ns = block.captured_ns
        if lost:
            self._deliver(block.captured_ns - round(block.frames / self._device.rate_hz * 1e9))
        samples = select_channel(self._decode(block.data, self._device.channels), self._channel)
        signal = self._watch.observe(samples)
        self._is_silent = signal == "silent"
        self._pending.append(samples)
        self._pending_frames += len(samples)
        if lost or self._pending_frames >= PIECE_S * self._device.rate_hz:
            self._deliver(block.captured_ns, round(lost * SAMPLE_RATE_HZ / self._device.rate_hz))
        return signal != "stuck"

    def _deliver(self, captured_ns: int, gap_samples: int = 0) -> None:
        if not self._pending:
            return
        pending = np.concatenate(self._pending)
        self._pending.clear()
        self._pending_frames = 0
        # Levels and clipping are those of the device; what follows would hide them.
        level = level_of(pending)
        cleaned = self._offset.remove(self._resampler.process(pending))
        self._say(
            Captured(
                pcm=_pcm(cleaned),
                gap_samples=gap_samples,
                captured_ns=captured_ns,
                overruns=self._overruns,
                peak_dbfs=level.peak_dbfs,
                rms_dbfs=level.rms_dbfs,
                is_silent=self._is_silent,
            )
        )
        self._overruns = 0


def _pcm(samples: Float32Array) -> bytes:
    return np.clip(np.round(samples * 32_768), -32_768, 32_767).astype("<i2").tobytes()
