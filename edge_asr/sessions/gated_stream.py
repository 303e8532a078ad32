"""An engine's stream behind the silence gate, and its positions as the client counts them. No I/O, no clock."""

from __future__ import annotations

from edge_asr.audio import Float32Array
from edge_asr.engines.audio_buffer import AudioBuffer
from edge_asr.engines.base import EngineStream
from edge_asr.pipeline.gate import Gate
from edge_asr.sessions.backlog import Piece
from edge_asr.sessions.timeline import Timeline


class GatedStream:
    """The current stream of a session; positions are samples at the engine's rate.

    Args:
        stream: A fresh one.
        gate: What decides which audio it gets.
        position: Where it begins, since the session began.
        keeps_audio: Whether the audio of the open segment is kept, to be heard again.
    """

    def __init__(self, stream: EngineStream, gate: Gate, position: int, *, keeps_audio: bool = False) -> None:
        self._audio = AudioBuffer() if keeps_audio else None
        self.stream = stream
        self.is_finished = False
        self._gate = gate
        self._timeline = Timeline()
        self._timeline.begin_stream(position)
        self._given = 0  # samples given to the stream

    @property
    def is_parked(self) -> bool:
        """Whether silence is being kept from the stream: everything before it is decoded, but for silence."""
        return self._gate.is_closed and not self.stream.is_ready()

    @property
    def is_silent(self) -> bool:
        """Whether silence is being kept from the stream."""
        return self._gate.is_closed

    @property
    def held_samples(self) -> int:
        """Of the newest audio, what the stream may still get."""
        return self._gate.held_samples

    @property
    def skipped_samples(self) -> int:
        """Silence that the streams of the session did not get."""
        return self._gate.kept_samples

    def give(self, piece: Piece) -> None:
        """The next audio of the session, which may be lost up to it."""
        if piece.gap_samples:
            self._timeline.shift(self._given, self._gate.interrupt() + piece.gap_samples)
        for passage in self._gate.take(piece.samples):
            if passage.skipped_samples:
                self._timeline.shift(self._given, passage.skipped_samples)
            self.stream.accept(passage.samples)
            if self._audio is not None:
                self._audio.append(passage.samples)
            self._given += len(passage.samples)

    def finish(self) -> None:
        """No more audio for this stream."""
        self.stream.finish()
        self.is_finished = True

    def renew(self, stream: EngineStream, position: int) -> None:
        """A finished stream takes no more audio; a fresh one goes on at the session's position."""
        self.stream.close()
        self.stream = stream
        self.is_finished = False
        self._timeline.begin_stream(position)
        self._gate.begin_stream()
        self._given = 0
        if self._audio is not None:
            self._audio = AudioBuffer()

    def reset(self, decoded_samples: int, keep_samples: int = 0) -> None:
        """The stream begins a new segment; nobody asks for positions before this one again.

        Args:
            decoded_samples: Where it begins, as the stream counts.
            keep_samples: Audio before it that belongs to it all the same.
        """
        self.stream.reset()
        self._timeline.forget_before(decoded_samples)
        if self._audio is not None:
            self._audio.forget_before(decoded_samples - keep_samples)

    def segment_audio(self, end: int) -> tuple[int, Float32Array]:
        """What was kept of the open segment up to a position of the stream: where it begins, and a copy of it."""
        if self._audio is None:
            raise RuntimeError("the audio of segments is not kept")
        begin, end = self._audio.start, max(self._audio.start, min(end, self._audio.end))
        return begin, self._audio.view(begin, end).copy()

    def in_session(self, position: int) -> int:
        """A position of the stream as samples since the session began."""
        return self._timeline.to_client(min(position, self._given))
