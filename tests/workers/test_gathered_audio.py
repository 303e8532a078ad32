"""Audio that waits in the front for the next step: fewer messages, and nothing is said any later for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from edge_asr.clock import ManualClock
from edge_asr.engines.base import EngineDescription
from edge_asr.engines.scripted import ScriptedEngine, ScriptedWord
from edge_asr.events import Final, TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.sessions.decode_loop import DecodeLoop
from edge_asr.settings import EndpointSettings, GateSettings, SchedulerSettings
from edge_asr.workers.gathering import QUIET_S, Gathering
from edge_asr.workers.quiet_watch import QuietWatch

ENGINE_HZ = 16_000
STEP_MS = 320
ENDPOINT = EndpointSettings(silence_ms=900, silence_without_text_ms=2000)
SCHEDULER = SchedulerSettings(accumulate_ms=20)

SPEECH = [ScriptedWord(f"w{number}", at_s) for number, at_s in enumerate((0.2, 0.5, 1.9, 2.3, 3.5, 3.6))]
"""Positions are those of the engine, which does not get long silence."""
PARTS_MS = (700, 1900, 1200, 300, 900, 2500)
"""Sound and silence in turn."""
SILENCE_MS = 1900 + 2500


class Engine(ScriptedEngine):
    """Need not get silence."""

    def describe(self) -> EngineDescription:
        return replace(super().describe(), may_skip_silence=True)


Said = list[tuple[int, TranscriptEvent]]


def conversation(rate_hz: int) -> bytes:
    parts = []
    for number, length_ms in enumerate(PARTS_MS):
        count = length_ms * rate_hz // 1000
        wave = 8000 * np.sin(np.arange(count) * 2 * np.pi * 100 / rate_hz)
        parts.append(wave.astype("<i2") if number % 2 == 0 else np.zeros(count, "<i2"))
    return np.concatenate(parts).tobytes()


def listen(piece_ms: int, rate_hz: int, *, is_gathered: bool, may_rest: bool = False) -> tuple[Said, int]:
    """What is said, each with the audio in milliseconds that the client had sent, and the messages that it took."""
    engine = Engine(SPEECH, sample_rate_hz=ENGINE_HZ, chunk_ms=STEP_MS, look_ahead_ms=130)
    loop = DecodeLoop(engine, ENDPOINT, SCHEDULER, ManualClock(5), gate=GateSettings())
    options = SessionOptions(sample_rate_hz=rate_hz, is_live=True)
    loop.open("a", options)
    gathering = Gathering(options.bytes_per_second, SCHEDULER.accumulate_ms / 1000, QuietWatch(rate_hz))
    audio, said, messages = conversation(rate_hz), [], 0
    piece_bytes = piece_ms * options.bytes_per_second // 1000
    for sent in range(piece_bytes, len(audio), piece_bytes):
        if passed := gathering.add(audio[sent - piece_bytes : sent]):
            loop.feed_bytes("a", passed)
            messages += 1
            while loop.step():
                pass
            if is_gathered:
                step_bytes = STEP_MS * options.bytes_per_second / 1000
                credit = loop.credit("a")
                gathering.heed(
                    credit.quiet_until_bytes,
                    step_bytes,
                    is_resting=may_rest and credit.is_resting,
                    quiet_dbfs=credit.quiet_dbfs,
                )
        said += [(1000 * sent // options.bytes_per_second, event) for event in loop.take_events()]
    return said, messages


@pytest.mark.parametrize("rate_hz", [ENGINE_HZ, 8_000, 44_100])
@pytest.mark.parametrize("piece_ms", [10, 20, 30, 100, 170])
def test_nothing_is_said_later_or_otherwise(piece_ms: int, rate_hz: int) -> None:
    at_once, _ = listen(piece_ms, rate_hz, is_gathered=False)
    gathered, _ = listen(piece_ms, rate_hz, is_gathered=True)
    assert [event.text for _, event in at_once if isinstance(event, Final)] == ["w0 w1", "w2 w3", "w4 w5"]
    assert [event for _, event in gathered] == [event for _, event in at_once]
    # What is gathered in any case does not end at the same places.
    late_ms = [now_ms - then_ms for (now_ms, _), (then_ms, _) in zip(gathered, at_once, strict=True)]
    assert max(late_ms) < SCHEDULER.accumulate_ms


def test_during_speech_one_message_a_step_is_enough() -> None:
    _, at_once = listen(20, ENGINE_HZ, is_gathered=False)
    _, gathered = listen(20, ENGINE_HZ, is_gathered=True)
    assert at_once == sum(PARTS_MS) // 20 - 1
    assert gathered <= SILENCE_MS // 20 + (sum(PARTS_MS) - SILENCE_MS) // STEP_MS + 1


@pytest.mark.parametrize("rate_hz", [ENGINE_HZ, 8_000, 44_100])
@pytest.mark.parametrize("piece_ms", [10, 20, 30, 100, 170])
def test_after_a_rest_the_same_is_said_no_later(piece_ms: int, rate_hz: int) -> None:
    at_once, _ = listen(piece_ms, rate_hz, is_gathered=False)
    rested, _ = listen(piece_ms, rate_hz, is_gathered=True, may_rest=True)
    assert [event for _, event in rested] == [event for _, event in at_once]
    late_ms = [now_ms - then_ms for (now_ms, _), (then_ms, _) in zip(rested, at_once, strict=True)]
    assert max(late_ms) < SCHEDULER.accumulate_ms


def test_silence_takes_few_messages() -> None:
    _, rested = listen(20, ENGINE_HZ, is_gathered=True, may_rest=True)
    _, gathered = listen(20, ENGINE_HZ, is_gathered=True)
    # Until a session rests, its segment is to be closed.
    silence_ms = SILENCE_MS - 2 * (ENDPOINT.silence_ms + STEP_MS)
    assert gathered - rested >= silence_ms / 20 - silence_ms / (1000 * QUIET_S) - 2
