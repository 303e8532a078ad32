"""Writing sessions down on request. The sessions are scripted, the files real."""

from __future__ import annotations

import asyncio
import json
import stat
import wave
from pathlib import Path
from typing import Any

import pytest

from edge_asr.clock import MonotonicClock
from edge_asr.errors import ConfigurationError
from edge_asr.requests import SessionOptions
from edge_asr.tracing.recognizer import MAX_TRACES, NEXT, WAITS_S, TracedRecognizer
from edge_asr.workers.base import RecognizerSession
from tests.support.recognizer import ScriptedRecognizer

SECOND = bytes(range(200)) * 160
"""A second of audio that can be told from silence."""
OPTIONS = SessionOptions()


class Clock:
    """Stands until it is moved."""

    def __init__(self) -> None:
        self.ns = 0

    def now_ns(self) -> int:
        return self.ns


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    return tmp_path / "state" / "traces"


@pytest.fixture
def recognizer(traces: Path) -> TracedRecognizer:
    return TracedRecognizer(ScriptedRecognizer(), traces, MonotonicClock())


async def open_session(recognizer: TracedRecognizer, options: SessionOptions = OPTIONS) -> RecognizerSession:
    return await recognizer.open(options, protocol="native")


async def talk(session: RecognizerSession, *pieces: bytes) -> list[str]:
    for piece in pieces:
        await session.send(piece)
    await session.flush()
    await session.finish()
    return [type(event).__name__ async for event in session.events()]


def only(folder: Path) -> Path:
    """The one trace that there is."""
    (directory,) = folder.iterdir()
    return directory


def nothing_at(folder: Path) -> bool:
    return not folder.exists()


def put_file(path: Path) -> None:
    """A file where a directory should be made."""
    path.parent.mkdir()
    path.touch()


def lines(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / "events.jsonl").read_text().splitlines()]


async def test_nothing_is_written_unless_somebody_asks(recognizer: TracedRecognizer, traces: Path) -> None:
    await talk(await open_session(recognizer), SECOND)
    assert nothing_at(traces)


async def test_the_next_session_is_written_down_and_only_that_one(recognizer: TracedRecognizer, traces: Path) -> None:
    assert recognizer.trace(NEXT).directory == str(traces)
    session = await open_session(recognizer)
    said = await talk(session, SECOND, SECOND)
    await talk(await open_session(recognizer), SECOND)
    directory = only(traces)
    assert directory.name == session.session_id
    with wave.open(str(directory / "audio.wav")) as audio:
        assert (audio.getframerate(), audio.getnchannels(), audio.getsampwidth()) == (16_000, 1, 2)
        assert audio.readframes(100_000) == SECOND + SECOND
    written = lines(directory)
    assert [line["type"] for line in written if line["kind"] == "event"] == said
    assert [line["kind"] for line in written if line["kind"] in ("flush", "finish", "end")] == [
        "flush",
        "finish",
        "end",
    ]
    assert written[-1]["reason"] == "ended"
    about = json.loads((directory / "session.json").read_text())
    assert (about["protocol"], about["model"], about["options"]["sample_rate_hz"]) == ("native", "starter-en", 16_000)


async def test_events_say_how_far_behind_the_audio_they_are(recognizer: TracedRecognizer, traces: Path) -> None:
    recognizer.trace(NEXT)
    await talk(await open_session(recognizer), SECOND, SECOND)
    (final, *_) = [line for line in lines(only(traces)) if line.get("type") == "Final"]
    assert final["behind_s"] == 2.0 - final["event"]["end_s"]
    assert final["travel_s"] > 0


async def test_a_running_session_is_written_down_from_then_on(recognizer: TracedRecognizer, traces: Path) -> None:
    session = await open_session(recognizer)
    await session.send(SECOND)
    assert recognizer.trace(session.session_id).directory == str(traces / session.session_id)
    await talk(session, SECOND)
    with wave.open(str(traces / session.session_id / "audio.wav")) as audio:
        assert audio.getnframes() == 16_000


async def test_audio_beyond_the_limit_is_not_written_and_the_session_goes_on(
    recognizer: TracedRecognizer, traces: Path
) -> None:
    recognizer.trace(NEXT, max_s=1.5)
    said = await talk(await open_session(recognizer), SECOND, SECOND)
    assert said[-1] == "SessionEnded"
    directory = only(traces)
    with wave.open(str(directory / "audio.wav")) as audio:
        assert audio.getnframes() == 24_000
    assert lines(directory)[-1]["reason"] == "max_s"


async def test_only_this_user_may_read_it(recognizer: TracedRecognizer, traces: Path) -> None:
    recognizer.trace(NEXT)
    await talk(await open_session(recognizer), SECOND)
    assert stat.S_IMODE(only(traces).stat().st_mode) == 0o700


async def test_a_request_for_the_next_session_is_forgotten(traces: Path) -> None:
    clock = Clock()
    recognizer = TracedRecognizer(ScriptedRecognizer(), traces, clock)
    recognizer.trace(NEXT)
    clock.ns = round(WAITS_S * 1e9)
    await talk(await open_session(recognizer), SECOND)
    assert nothing_at(traces)


async def test_a_disk_that_cannot_be_written_costs_the_trace_and_not_the_session(
    traces: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put_file(traces)
    recognizer = TracedRecognizer(ScriptedRecognizer(), traces, MonotonicClock())
    recognizer.trace(NEXT)
    assert (await talk(await open_session(recognizer), SECOND))[-1] == "SessionEnded"
    assert "the trace of session s0 ends: " in caplog.text


async def test_what_cannot_be_traced_is_refused_with_a_reason(recognizer: TracedRecognizer, traces: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no session '\.\./etc' is open"):
        recognizer.trace("../etc")
    with pytest.raises(ConfigurationError, match="max_s = 4000 is outside 1 to 3600"):
        recognizer.trace(NEXT, max_s=4000)
    session = await open_session(recognizer)
    recognizer.trace(session.session_id)
    with pytest.raises(ConfigurationError, match="is or was traced already"):
        recognizer.trace(session.session_id)
    session.cancel()
    with pytest.raises(ConfigurationError, match="is open"):
        recognizer.trace(session.session_id)
    for number in range(MAX_TRACES):
        (traces / f"old-{number}").mkdir()
    with pytest.raises(ConfigurationError, match="delete those that nobody needs"):
        recognizer.trace(NEXT)


@pytest.mark.parametrize(("encoding", "tag"), [("mulaw", 7), ("alaw", 6), ("f32le", 3), ("s24le", 1)])
async def test_every_encoding_has_its_own_kind_of_wav(
    recognizer: TracedRecognizer, traces: Path, encoding: Any, tag: int
) -> None:
    recognizer.trace(NEXT)
    await talk(await open_session(recognizer, SessionOptions(encoding=encoding, channels=2)), bytes(48))
    header = await asyncio.to_thread((only(traces) / "audio.wav").read_bytes)
    assert int.from_bytes(header[20:22], "little") == tag
    assert int.from_bytes(header[40:44], "little") == 48 == len(header) - 44
