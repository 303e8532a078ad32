"""A recording through the loop of ``transcribe``, with an engine that replays a script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from edge_asr.audio import AudioChunk
from edge_asr.clock import ManualClock
from edge_asr.engines.scripted import ScriptedEngine, ScriptedWord
from edge_asr.errors import AudioUnreadable
from edge_asr.events import Final, Partial, SessionEnded, TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.settings import EndpointSettings, SchedulerSettings
from edge_asr.transcription import RecordingFailed, Transcript, transcribe

GO_FORWARD = [ScriptedWord(" go", 0.5), ScriptedWord(" forward", 1.0)]


def recording(seconds: float, rate_hz: int = 16_000, piece: int = 1600) -> Iterator[AudioChunk]:
    total = round(seconds * rate_hz)
    for start in range(0, total, piece):
        samples = np.zeros(min(piece, total - start), np.float32)
        yield AudioChunk(samples, rate_hz, start, captured_ns=0)


def loop_over(engine: ScriptedEngine, clock: ManualClock) -> DecodeLoop:
    return DecodeLoop(engine, EndpointSettings(), SchedulerSettings(), clock)


def heard(
    chunks, script: Sequence[ScriptedWord] = GO_FORWARD, events: list[TranscriptEvent] | None = None
) -> Transcript:
    clock = ManualClock()
    on_event = (events if events is not None else []).append
    return transcribe(loop_over(ScriptedEngine(script), clock), chunks, SessionOptions(), clock, on_event)


def texts(transcript: Transcript) -> list[str]:
    return [final.text for final in transcript.finals]


def test_everything_said_is_in_the_transcript() -> None:
    transcript = heard(recording(1.5))

    assert texts(transcript) == ["go forward"]
    assert transcript.audio_s == pytest.approx(1.5)


@pytest.mark.parametrize("piece", [160, 1600, 24_000])
@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 48_000])
def test_rate_and_pieces_of_the_recording_do_not_matter(rate_hz, piece) -> None:
    assert texts(heard(recording(1.5, rate_hz, piece))) == ["go forward"]


def test_silence_closes_a_segment() -> None:
    script = [*GO_FORWARD, ScriptedWord(" stop", 4.0)]

    assert texts(heard(recording(5.0), script)) == ["go forward", "stop"]


def test_an_hour_keeps_no_audio_waiting() -> None:
    transcript = heard(recording(3600.0, piece=16_000), [ScriptedWord(" end", 3599.5)])

    assert texts(transcript) == ["end"]


def test_events_are_heard_in_the_order_in_which_they_are_said() -> None:
    events: list[TranscriptEvent] = []
    heard(recording(1.5), events=events)

    assert [type(event) for event in events] == [Partial, Partial, Final, SessionEnded]


def test_processing_time_is_that_of_decoding_and_not_of_reading() -> None:
    clock = ManualClock()
    engine = ScriptedEngine(on_decode=lambda _: clock.advance_ms(10))

    def slow_reading() -> Iterator[AudioChunk]:
        for chunk in recording(3.2):
            clock.advance_ms(500)
            yield chunk

    transcript = transcribe(loop_over(engine, clock), slow_reading(), SessionOptions(), clock)

    assert transcript.processing_s == pytest.approx(0.1)  # ten steps of 320 ms
    assert transcript.rtf == pytest.approx(0.1 / 3.2)


def failing_engine() -> ScriptedEngine:
    def fail(_streams: object) -> None:
        raise RuntimeError("bad dimensions")

    return ScriptedEngine(on_decode=fail)


def test_an_engine_that_fails_ends_the_recording_with_its_reason() -> None:
    clock = ManualClock()

    with pytest.raises(RecordingFailed, match="bad dimensions") as error:
        transcribe(loop_over(failing_engine(), clock), recording(1.0), SessionOptions(), clock)

    assert error.value.code == "engine_failed"


def test_a_recording_that_cannot_be_read_leaves_the_loop_ready_for_the_next() -> None:
    clock = ManualClock()
    loop = loop_over(ScriptedEngine(GO_FORWARD), clock)

    def unreadable() -> Iterator[AudioChunk]:
        yield from recording(0.5)
        raise AudioUnreadable("x.wav", "it is damaged")

    with pytest.raises(AudioUnreadable):
        transcribe(loop, unreadable(), SessionOptions(), clock)

    assert len(loop) == 0
    assert texts(transcribe(loop, recording(1.5), SessionOptions(), clock)) == ["go forward"]


def test_nothing_at_all_has_no_real_time_factor_to_speak_of() -> None:
    transcript = heard(iter(()))

    assert (transcript.finals, transcript.rtf) == ((), 0.0)
