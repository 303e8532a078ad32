"""Engines that replay a script: for tests, and for measuring what everything around an engine costs.

They obey the engine contract and are deterministic. A hook may make a decoding step fail, take long or end the process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from edge_asr.audio import Float32Array
from edge_asr.engines.base import (
    EngineDescription,
    EngineStream,
    Hypothesis,
    StreamOptions,
    Token,
    TokenConstraint,
)
from edge_asr.engines.decodable import decodable
from edge_asr.engines.samples import usable
from edge_asr.errors import EngineFailed

FAMILY = "scripted"


@dataclass(frozen=True, slots=True)
class ScriptedWord:
    """A word that is recognised when the audio up to ``at_s`` is decoded."""

    text: str
    at_s: float
    """Seconds since the stream's first sample; also the token's time."""
    log_prob: float | None = None


DecodeHook = Callable[[Sequence["ScriptedStream"]], None]
"""Called before each decoding step with its streams; a ``RuntimeError`` it raises is the native engine's."""


class ScriptedEngine:
    """A streaming model whose words depend on how much audio came, not on what it holds.

    Args:
        script: Words in order of time.
        sample_rate_hz: Rate of the audio.
        chunk_ms: Audio per decoding step.
        look_ahead_ms: Further audio that a step needs, as with a model's right context.
        period_s: The script begins again after so much audio; ``None`` plays it once.
        on_decode: Hook.
    """

    def __init__(
        self,
        script: Sequence[ScriptedWord] = (),
        *,
        sample_rate_hz: int = 16_000,
        chunk_ms: int = 320,
        look_ahead_ms: int = 0,
        period_s: float | None = None,
        on_decode: DecodeHook | None = None,
    ) -> None:
        self.script = tuple(script)
        self.period_s = period_s
        self.chunk_samples = sample_rate_hz * chunk_ms // 1000
        self.look_ahead_samples = sample_rate_hz * look_ahead_ms // 1000
        self._sample_rate_hz = sample_rate_hz
        self._on_decode = on_decode

    @property
    def sample_rate_hz(self) -> int:
        """Rate of the audio."""
        return self._sample_rate_hz

    def describe(self) -> EngineDescription:
        """A streaming model on the CPU."""
        return EngineDescription(
            model=FAMILY,
            family=FAMILY,
            provider="cpu",
            threads=1,
            sample_rate_hz=self._sample_rate_hz,
            chunk_ms=1000 * self.chunk_samples / self._sample_rate_hz,
            tail_padding_ms=1000 * (self.chunk_samples + self.look_ahead_samples) / self._sample_rate_hz,
            is_streaming=True,
            is_append_only=True,
            first_step_ms=1000 * (self.chunk_samples + self.look_ahead_samples) / self._sample_rate_hz,
        )

    def open_stream(self, options: StreamOptions) -> ScriptedStream:  # noqa: ARG002  the contract's
        """A stream at the beginning of the script."""
        return ScriptedStream(self)

    def decode(self, streams: Sequence[EngineStream]) -> None:
        """One step of each stream."""
        ours = decodable(streams, ScriptedStream, self)
        if self._on_decode is not None:
            try:
                self._on_decode(ours)
            except RuntimeError as error:
                raise EngineFailed(str(error)) from error
        for stream in ours:
            stream.step()

    def words(self, from_s: float, to_s: float) -> list[ScriptedWord]:
        """The words whose time lies after ``from_s`` and not after ``to_s``."""
        if self.period_s is None:
            return [word for word in self.script if from_s < word.at_s <= to_s]
        rounds = range(int(from_s // self.period_s), int(to_s // self.period_s) + 1)
        repeated = (
            ScriptedWord(word.text, word.at_s + turn * self.period_s, word.log_prob)
            for turn in rounds
            for word in self.script
        )
        return [word for word in repeated if from_s < word.at_s <= to_s]

    def close(self) -> None:
        """Nothing to free."""


class ScriptedStream:
    """How far one stream is."""

    def __init__(self, engine: ScriptedEngine) -> None:
        self.engine = engine
        self._accepted = 0
        self._padding = 0
        self._decoded = 0  # padding included
        self._is_finished = False
        self._is_closed = False
        self._tokens: list[Token] = []

    def accept(self, samples: Float32Array) -> None:
        """Count the samples."""
        if self._is_finished or self._is_closed:
            raise RuntimeError("the stream has been finished and takes no more audio")
        self._accepted += len(usable(samples))

    def finish(self) -> None:
        """Pad so that the last sample is decoded."""
        if not self._is_finished:
            self._is_finished = True
            chunks = -(-self._accepted // self.engine.chunk_samples)
            self._padding = chunks * self.engine.chunk_samples + self.engine.look_ahead_samples - self._accepted

    def is_ready(self) -> bool:
        """Whether a chunk and its right context are there."""
        needed = self._decoded + self.engine.chunk_samples + self.engine.look_ahead_samples
        return not self._is_closed and self._accepted + self._padding >= needed

    def step(self) -> None:
        """Decode one chunk."""
        before = self._decoded_samples()
        self._decoded += self.engine.chunk_samples
        rate = self.engine.sample_rate_hz
        words = self.engine.words((before or -1) / rate, self._decoded_samples() / rate)
        self._tokens += [Token(f" {word.text}", word.at_s, word.log_prob) for word in words]

    def hypothesis(self) -> Hypothesis:
        """The words since the last reset."""
        text = "".join(token.text for token in self._tokens).strip()
        return Hypothesis(text, tuple(self._tokens), self._decoded_samples())

    def reset(self) -> None:
        """Begin a new segment."""
        self._tokens.clear()

    def close(self) -> None:
        """No more steps."""
        self._is_closed = True

    def _decoded_samples(self) -> int:
        return min(self._decoded, self._accepted)


class ScriptedSegmentDecoder:
    """A non-streaming model that is a function of the audio.

    Args:
        recognize: From a stretch of audio to its text.
        sample_rate_hz: Rate of the audio.
        max_segment_s: Longest stretch; a longer one is a ``ValueError``, as with real models.
    """

    def __init__(
        self,
        recognize: Callable[[Float32Array], str],
        *,
        sample_rate_hz: int = 16_000,
        max_segment_s: float = 30.0,
    ) -> None:
        self._recognize = recognize
        self._sample_rate_hz = sample_rate_hz
        self._max_segment_s = max_segment_s
        self.decoded_samples: list[int] = []
        """Length of each stretch that was decoded, in order."""

    @property
    def sample_rate_hz(self) -> int:
        """Rate of the audio."""
        return self._sample_rate_hz

    @property
    def max_segment_s(self) -> float:
        """Longest stretch, seconds."""
        return self._max_segment_s

    def decode(self, samples: Float32Array, constraint: TokenConstraint | None = None) -> Hypothesis:  # noqa: ARG002
        """Call the function; its words are spread evenly over the stretch."""
        if len(samples) > self._max_segment_s * self._sample_rate_hz:
            raise ValueError(f"{len(samples)} samples; at most {self._max_segment_s} s are taken")
        self.decoded_samples.append(len(samples))
        words = self._recognize(samples).split()
        step_s = len(samples) / self._sample_rate_hz / max(1, len(words))
        tokens = tuple(Token(f" {word}", index * step_s) for index, word in enumerate(words))
        return Hypothesis(" ".join(words), tokens, len(samples))
