"""A stream that says what it is told to, so that a session's own decisions can be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import pytest

from edge_asr.audio import AudioChunk, Float32Array
from edge_asr.clock import ManualClock
from edge_asr.engines.base import EngineDescription, EngineStream, Hypothesis, StreamOptions, Token
from edge_asr.errors import EngineFailed
from edge_asr.events import TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.sessions.session import Session
from edge_asr.sessions.session_settings import SessionSettings
from edge_asr.sessions.understanding import Understanding
from edge_asr.settings import EndpointSettings

RATE_HZ = 1000
"""Low, so that positions in tests are milliseconds."""
CHUNK = 100
TAIL = 150


class SayingStream:
    """Decodes chunks of 100 samples; token ``(position, text)`` of the script appears when its position is decoded."""

    def __init__(self, script: Sequence[tuple[int, str]]) -> None:
        self.accepted: list[float] = []
        self.is_closed = False
        self.is_broken = False
        self._script = script
        self._padding = 0
        self._decoded = 0
        self._since = 0
        self._is_finished = False

    def accept(self, samples: Float32Array) -> None:
        if self._is_finished:
            raise RuntimeError("accept after finish")
        self.accepted += samples.tolist()

    def finish(self) -> None:
        self._is_finished = True
        self._padding = TAIL

    def is_ready(self) -> bool:
        return self._decoded + CHUNK <= len(self.accepted) + self._padding

    def step(self) -> None:
        if self.is_broken:
            raise EngineFailed("scripted to break")
        self._decoded += CHUNK

    def hypothesis(self) -> Hypothesis:
        said = [(at, text) for at, text in self._script if self._since < at <= self._decoded]
        tokens = tuple(Token(f" {text}", at / RATE_HZ) for at, text in said)
        return Hypothesis("".join(token.text for token in tokens), tokens, min(self._decoded, len(self.accepted)))

    def reset(self) -> None:
        self._since = self._decoded

    def close(self) -> None:
        self.is_closed = True


@dataclass
class SayingEngine:
    """Hands out one :class:`SayingStream` per script, then silent ones."""

    scripts: list[Sequence[tuple[int, str]]] = field(default_factory=list)
    streams: list[SayingStream] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    is_append_only: bool = True
    may_skip_silence: bool = False
    sample_rate_hz: int = RATE_HZ

    def describe(self) -> EngineDescription:
        return EngineDescription(
            model="saying",
            family="scripted",
            provider="cpu",
            threads=1,
            sample_rate_hz=RATE_HZ,
            chunk_ms=float(CHUNK),
            tail_padding_ms=float(TAIL),
            is_streaming=True,
            is_append_only=self.is_append_only,
            may_skip_silence=self.may_skip_silence,
            first_step_ms=float(CHUNK),
        )

    def open_stream(self, options: StreamOptions) -> SayingStream:
        self.streams.append(SayingStream(self.scripts.pop(0) if self.scripts else []))
        return self.streams[-1]

    def decode(self, streams: Sequence[EngineStream]) -> None:
        self.batches.append(len(streams))
        for stream in streams:
            assert isinstance(stream, SayingStream)
            stream.step()

    def close(self) -> None:
        pass


def samples(count: int, value: float = 0.1) -> Float32Array:
    return np.full(count, value, np.float32)


def chunk(count: int, value: float = 0.1, *, gap: int = 0) -> AudioChunk:
    return AudioChunk(samples(count, value), RATE_HZ, 0, 1, gap)


def decode_all(session: Session) -> list[TranscriptEvent]:
    """Decode until nothing is ready, then take what was said."""
    while session.prepare():
        stream = session.stream
        assert isinstance(stream, SayingStream)
        stream.step()
        session.after_decode()
    return session.take_events()


T = TypeVar("T")


def of_kind(events: Iterable[TranscriptEvent], kind: type[T]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


RULES = EndpointSettings(silence_ms=500, silence_without_text_ms=1000, no_new_token_ms=3000, max_segment_ms=5000)


@pytest.fixture
def engine() -> SayingEngine:
    return SayingEngine()


@pytest.fixture
def open_session(engine: SayingEngine) -> Callable[..., Session]:
    def open_session(
        *scripts: Sequence[tuple[int, str]],
        options: SessionOptions | None = None,
        backlog_s: float = 30.0,
        text_case: str = "as_is",
        endpoint: EndpointSettings = RULES,
        may_imagine: bool = False,
    ) -> Session:
        engine.scripts = list(scripts)
        settings = SessionSettings(
            RATE_HZ,
            endpoint,
            backlog_s,
            Understanding(text_case),  # type: ignore[arg-type]
            is_append_only=True,
            may_imagine=may_imagine,
        )
        return Session(
            "s", options or SessionOptions(), settings, lambda: engine.open_stream(StreamOptions()), ManualClock(5)
        )

    return open_session
