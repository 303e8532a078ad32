"""Whose voice a segment is: asked for when it is over, waited for until a deadline. No I/O."""

from __future__ import annotations

from dataclasses import dataclass

from edge_asr.audio import Float32Array
from edge_asr.clock import Clock
from edge_asr.engines.embedding_pass import Embedder
from edge_asr.engines.passes import Pass
from edge_asr.events import Speaker
from edge_asr.pipeline.voices import Voices
from edge_asr.settings import SpeakerSettings


@dataclass(frozen=True, slots=True)
class AwaitedSpeaker:
    """An answer on its way."""

    deadline_ns: int | None
    """When it is no longer waited for; ``None`` for never."""
    _underway: Pass[Float32Array]
    _voices: Voices

    def is_over(self, now_ns: int) -> bool:
        """Whether it has come, or is too late."""
        return self._underway.is_done or (self.deadline_ns is not None and now_ns >= self.deadline_ns)

    def take(self) -> Speaker | None:
        """The answer, once it :meth:`is_over`; ``None`` where it is too late or there was too little speech."""
        if not self._underway.is_done:
            self.give_up()
            return None
        embedding = self._underway.result
        return None if embedding is None else self._voices.who(embedding)

    def give_up(self) -> None:
        """Nobody waits any more."""
        self._underway.give_up()


@dataclass(frozen=True, slots=True)
class SpeakerHearing:
    """Where speakers are asked for; shared by all sessions."""

    embedder: Embedder
    voices: Voices
    settings: SpeakerSettings
    clock: Clock

    def ask(self, samples: Float32Array, sample_rate_hz: int, *, is_batch: bool) -> AwaitedSpeaker:
        """Ask whose voice it is.

        Args:
            samples: The segment's audio, shape (n,); not copied.
            sample_rate_hz: Of the audio.
            is_batch: Nobody waits: there is no deadline.
        """
        deadline_ns = None if is_batch else self.clock.now_ns() + self.settings.deadline_ms * 1_000_000
        return AwaitedSpeaker(deadline_ns, self.embedder.begin(samples, sample_rate_hz), self.voices)
