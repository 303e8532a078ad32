"""A client's bytes become chunks at the engine's rate: sample format, channel, robust front, rate."""

from __future__ import annotations

import numpy as np

from edge_asr.audio import AudioChunk, Float32Array
from edge_asr.pipeline.front import Finding, Front
from edge_asr.requests import FrontMark, Resume, SessionOptions
from edge_asr.sources.pcm import PcmDecoder
from edge_asr.sources.resample import StreamResampler


class Intake:
    """The front end of one session; holds the odd bytes and the resampler's memory between pieces.

    Args:
        options: How its audio is written.
        engine_rate_hz: What it becomes.
        resume: Where it begins, when another worker heard it up to there.
    """

    def __init__(self, options: SessionOptions, engine_rate_hz: int, resume: Resume | None = None) -> None:
        self._resume = resume
        self._engine_rate_hz = engine_rate_hz
        self._client_rate_hz = options.sample_rate_hz
        self._decoder = PcmDecoder(options.encoding, options.channels, options.channel)
        self._resampler: StreamResampler | None = None
        self._rate_hz = 0
        self._position = 0
        self._frame_bytes = options.frame_bytes
        self._front: Front | None = None
        self._channels = options.channels

    def take_bytes(self, data: bytes, arrived_ns: int) -> AudioChunk:
        """A piece of audio as the client wrote it; need not end on a sample."""
        resampler = self._resampler_from(self._client_rate_hz)
        return self._chunk(resampler.process(self._clean(self._decoder.decode(data))), arrived_ns, 0)

    def take_chunk(self, chunk: AudioChunk) -> AudioChunk:
        """A chunk of a source, which says its own rate; the rate may not change within a session."""
        resampler = self._resampler_from(chunk.sample_rate_hz)
        gap = round(chunk.gap_samples * self._engine_rate_hz / chunk.sample_rate_hz)
        return self._chunk(resampler.process(self._clean(chunk.samples)), chunk.captured_ns, gap)

    def bytes_until(self, samples: int) -> int:
        """Bytes that must have come, in all, before so many more samples, at the engine's rate, have gone on.

        Exact at equal rates. A resampler gives its output in blocks, now sooner and now later: then this is the
        soonest, and where so many have come already the next byte may be enough.
        """
        end = self._position + samples
        return -(-end * self._client_rate_hz // self._engine_rate_hz) * self._frame_bytes

    def end(self) -> AudioChunk:
        """What the front and the resampler still hold."""
        if self._resampler is None or self._front is None:
            return self._chunk(np.zeros(0, np.float32), 0, 0)
        rest = self._resampler.process(self._front.end())
        return self._chunk(np.concatenate((rest, self._resampler.flush())), 0, 0)

    def take_findings(self) -> list[Finding]:
        """What the sender should know about its audio, since the last call."""
        return self._front.take_findings() if self._front is not None else []

    def mark_at(self, position_s: float) -> FrontMark | None:
        """What the front of another worker is to go by that hears the audio from a place on, seconds of the session."""
        return self._front.mark_at(position_s) if self._front is not None else None

    def _clean(self, samples: Float32Array) -> Float32Array:
        # Before the resampler, whose filter would spread one NaN over a tenth of a second, and round cut-off peaks.
        if self._front is None:
            resume = self._resume
            start_s, mark = (resume.start_s, resume.front) if resume is not None else (0.0, None)
            self._front = Front(self._rate_hz, self._channels, start_s, mark)
        return self._front.clean(samples)

    def _resampler_from(self, rate_hz: int) -> StreamResampler:
        if self._resampler is None:
            self._resampler = StreamResampler(rate_hz, self._engine_rate_hz)
            self._rate_hz = rate_hz
        if rate_hz != self._rate_hz:
            raise ValueError(f"audio at {rate_hz} Hz in a session at {self._rate_hz} Hz; open a new session")
        return self._resampler

    def _chunk(self, samples: Float32Array, captured_ns: int, gap_samples: int) -> AudioChunk:
        start = self._position + gap_samples
        self._position = start + len(samples)
        return AudioChunk(samples, self._engine_rate_hz, start, captured_ns, gap_samples)
