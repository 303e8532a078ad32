"""An engine's stream behind the silence gate, and its positions as the client counts them. No I/O, no clock."""

from __future__ import annotations

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.audio_buffer import AudioBuffer
from edge_asr.engines.base import EngineStream
from edge_asr.pipeline.gate import EngineSteps, Gate
from edge_asr.sessions.backlog import Piece
from edge_asr.sessions.lead_in import Mark, Marks, Start
from edge_asr.sessions.timeline import Timeline


class GatedStream:
    """The current stream of a session; positions are samples at the engine's rate.

    Args:
        stream: A fresh one.
        gate: What decides which audio it gets.
        start: Where it begins.
        remembered_samples: How far back a place is remembered at which another stream could begin; 0 for not at all.
        steps: When each stream takes its steps; ``None`` where nobody knows.
        keeps_audio: Whether the audio of the open segment is kept, to be heard again.
    """

    def __init__(
        self,
        stream: EngineStream,
        gate: Gate,
        start: Start,
        remembered_samples: int = 0,
        *,
        steps: EngineSteps | None = None,
        keeps_audio: bool = False,
    ) -> None:
        self._audio = AudioBuffer() if keeps_audio else None
        self.stream = stream
        self.is_finished = False
        self._gate = gate
        self._position = self._heard_from = start.position
        """The end of the audio, and where the newest without a hole begins that the stream has got."""
        self._timeline = Timeline()
        self._timeline.begin_stream(start.position - start.padding)
        self._given = 0  # samples given to the stream
        self._steps = steps
        self._steps_taken = 0
        self._marks = Marks(remembered_samples) if remembered_samples else None
        self._start = start
        self._ungated = start.ungated
        """Samples that come before the gate has to judge any."""
        if start.padding:
            self._accept(np.zeros(start.padding, np.float32))

    @property
    def is_parked(self) -> bool:
        """Whether silence is being kept from the stream: everything before it is decoded, but for silence."""
        return self.is_silent and not self.stream.is_ready()

    @property
    def is_silent(self) -> bool:
        """Whether silence is being kept from the stream."""
        return self._gate.is_closed and not self._ungated

    @property
    def quiet_dbfs(self) -> float | None:
        """The loudest frame that the gate takes for silence; ``None`` where it does not go by loudness."""
        return self._gate.quiet_dbfs

    @property
    def held_samples(self) -> int:
        """Of the newest audio, what the stream may still get."""
        return self._gate.held_samples

    @property
    def skipped_samples(self) -> int:
        """Silence that the streams of the session did not get."""
        return self._gate.kept_samples

    def mark_before(self, position: int) -> Mark | None:
        """The newest place at or before a position of the session at which another stream could begin."""
        return self._marks.last_before(position) if self._marks is not None else None

    def quiet_samples(self, waiting: int = 0) -> int:
        """Further audio with which nothing can come to pass before all of it is there: no step, and no silence.

        Args:
            waiting: Samples that are on their way to the stream; they are not counted.

        Returns:
            Samples; 0 where something may come to pass at any time, or nobody knows.
        """
        closes_in = self._gate.closes_in
        if self._steps is None or self.is_finished or self._ungated or self._gate.is_closed or closes_in == 0:
            return 0
        due = self._steps.audio_for(self._steps_taken) - self._given
        if due <= 0 and not waiting and not self.stream.is_ready():
            return 0  # the steps are not where they were measured
        if due <= waiting:
            due = self._steps.next_after(self._given + waiting) - self._given
        if closes_in is not None and waiting < closes_in < due:
            due = closes_in
        return due - waiting

    def count_step(self) -> None:
        """The stream was decoded."""
        self._steps_taken += 1

    def give(self, piece: Piece) -> None:
        """The next audio of the session, which may be lost up to it."""
        self._position += piece.gap_samples + len(piece.samples)
        if piece.gap_samples:
            self._timeline.shift(self._given, self._gate.interrupt() + piece.gap_samples)
            self._heard_from = self.in_session(self._given)
        samples = self._give_ungated(piece.samples) if self._ungated else piece.samples
        for passage in self._gate.take(samples):
            if passage.skipped_samples:
                self._timeline.shift(self._given, passage.skipped_samples)
                self._heard_from = self.in_session(self._given)
            self._accept(passage.samples)
        if self._marks is not None and not self._ungated:
            self._marks.add(self._mark())

    def settle(self) -> None:
        """A final was said after silence."""
        self._gate.settle()

    def take_phrase(self) -> str:
        """The wake word that was heard since the last call; empty for none."""
        return self._gate.take_phrase()

    def finish(self) -> None:
        """No more audio for this stream."""
        self.stream.finish()
        self.is_finished = True

    def renew(self, stream: EngineStream, position: int) -> None:
        """A finished stream takes no more audio; a fresh one goes on at the session's position."""
        self.stream.close()
        self.stream = stream
        self.is_finished = False
        self._heard_from = position
        self._timeline.begin_stream(position)
        self._gate.begin_stream()
        self._given = self._steps_taken = 0
        if self._audio is not None:
            self._audio = AudioBuffer()
        if self._marks is not None:
            self._marks.clear()

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

    def _mark(self) -> Mark:
        gate, unjudged = self._gate, self._gate.unjudged_samples
        position = self._position - unjudged
        if gate.is_closed:
            return Mark(position, self._heard_from, self.in_session(self._given), self._given, gate.hearing)
        return Mark(position, self._heard_from, position, self._given - unjudged, gate.hearing)

    def _accept(self, samples: Float32Array) -> None:
        self.stream.accept(samples)
        if self._audio is not None:
            self._audio.append(samples)
        self._given += len(samples)

    def _give_ungated(self, samples: Float32Array) -> Float32Array:
        """What of the samples is for the gate, which is told how it was when it comes to that."""
        self._accept(samples[: self._ungated])
        rest = samples[self._ungated :]
        self._ungated = max(0, self._ungated - len(samples))
        if not self._ungated:
            self._gate.go_on(self._start.hearing, self._start.step_offset)
        return rest
