"""The ``openai`` package against the realtime door, the streamed answers and the whole ones."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import openai
import pytest

from edge_asr.events import Failed, Notice
from tests.support.doors import LIMITS, http_door
from tests.support.recognizer import ScriptedRecognizer

CLIP = Path(__file__).parents[2] / "edge_asr" / "clips" / "go-forward.flac"
MANUAL: dict[str, Any] = {"type": "transcription", "audio": {"input": {"turn_detection": None}}}
AUDIO = base64.b64encode(bytes(4800)).decode()
COMPLETED = "conversation.item.input_audio_transcription.completed"


@contextlib.asynccontextmanager
async def client_of(base: str) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{base}/v1", api_key="none", max_retries=0) as client:
        yield client


@contextlib.asynccontextmanager
async def realtime(base: str) -> AsyncIterator[Any]:
    async with (
        client_of(base) as client,
        client.realtime.connect(extra_query={"intent": "transcription"}) as connection,
    ):
        assert (await connection.recv()).type == "session.created"
        yield connection


async def turn(connection: Any) -> list[Any]:
    """Audio and a commit; everything up to the transcript."""
    await connection.input_audio_buffer.append(audio=AUDIO)
    await connection.input_audio_buffer.commit()
    events: list[Any] = []
    while not events or events[-1].type not in (COMPLETED, "error"):
        events.append(await connection.recv())
    return events


async def test_turn_after_turn_over_one_connection() -> None:
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer) as base, realtime(base) as connection:
        await connection.session.update(session=MANUAL)
        assert (await connection.recv()).type == "session.updated"
        transcripts = [(await turn(connection))[-1].transcript for _ in range(2)]
    assert transcripts == ["go forward"] * 2
    assert [session.options.sample_rate_hz for session in recognizer.sessions] == [24_000] * 2
    assert recognizer.status().sessions == 0


async def test_a_client_may_rest_between_turns() -> None:
    limits = replace(LIMITS, idle_timeout_s=0.1)
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer, limits=limits) as base, realtime(base) as connection:
        await connection.input_audio_buffer.append(audio=AUDIO)
        await recognizer.session_opened.wait()
        await recognizer.sessions[0].is_finished.wait()  # after 0.1 s of silence
        await connection.input_audio_buffer.append(audio=AUDIO)
        events: list[Any] = []
        while not events or events[-1].type != COMPLETED:
            events.append(await connection.recv())
        assert events[-1].transcript == "go forward"


async def test_cleared_audio_frees_its_session() -> None:
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer) as base, realtime(base) as connection:
        await connection.input_audio_buffer.append(audio=AUDIO)
        await connection.input_audio_buffer.clear()
        kinds = set()
        while "input_audio_buffer.cleared" not in kinds:
            kinds.add((await connection.recv()).type)
        assert recognizer.sessions[0].is_cancelled.is_set()
        assert (await turn(connection))[-1].transcript == "go forward"


async def test_an_error_event_is_seen_and_the_connection_stays() -> None:
    async with http_door(ScriptedRecognizer()) as base, realtime(base) as connection:
        await connection.input_audio_buffer.commit()
        assert "buffer is empty" in (await connection.recv()).error.message
        assert (await turn(connection))[-1].transcript == "go forward"


async def test_ignored_hotwords_do_not_disturb() -> None:
    async with http_door(ScriptedRecognizer()) as base, realtime(base) as connection:
        heard = {"transcription": {"keywords": ["kitchen"]}}
        await connection.session.update(session={"type": "transcription", "audio": {"input": heard}})
        await connection.recv()
        assert (await turn(connection))[-1].transcript == "go forward"


async def test_a_streamed_answer_is_its_pieces() -> None:
    recognizer = ScriptedRecognizer()
    async with http_door(recognizer) as base, client_of(base) as client:
        stream = await client.audio.transcriptions.create(model="whisper-1", file=CLIP, stream=True)
        events = [event async for event in stream]
    assert [event.type for event in events] == ["transcript.text.delta", "transcript.text.done"]
    assert events[-1].text == "go forward"  # type: ignore[union-attr]
    assert recognizer.sessions[0].options.partials
    assert recognizer.sessions[0].is_cancelled.is_set()


async def test_a_streamed_answer_that_fails_at_once_has_its_status() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.failure = Failed("s0", "audio_unsupported", "this is no audio")
    async with http_door(recognizer) as base, client_of(base) as client:
        with pytest.raises(openai.APIStatusError, match="this is no audio") as caught:
            await client.audio.transcriptions.create(model="whisper-1", file=CLIP, stream=True)
    assert caught.value.status_code == 415


async def test_a_streamed_answer_that_fails_later_says_so() -> None:
    recognizer = ScriptedRecognizer(words="")
    recognizer.failure = Failed("s0", "worker_died", "the recogniser process ended")
    recognizer.first_word = Notice("s0", "engine_restarted", "again")
    async with http_door(recognizer) as base, client_of(base) as client:
        stream = await client.audio.transcriptions.create(model="whisper-1", file=CLIP, stream=True)
        with pytest.raises(openai.APIError, match="the recogniser process ended"):
            async for _ in stream:
                pass


async def test_a_client_that_hangs_up_before_the_first_piece_frees_its_session() -> None:
    recognizer = ScriptedRecognizer()
    recognizer.may_answer.clear()
    async with http_door(recognizer) as base, client_of(base) as client:
        asking = asyncio.create_task(client.audio.transcriptions.create(model="whisper-1", file=CLIP, stream=True))
        await recognizer.session_opened.wait()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await recognizer.sessions[0].is_cancelled.wait()


async def test_models_are_listed_and_found_by_name() -> None:
    async with http_door(ScriptedRecognizer()) as base, client_of(base) as client:
        assert [model.id async for model in client.models.list()] == ["starter-en"]
        assert (await client.models.retrieve("starter-en")).id == "starter-en"
        assert (await client.models.retrieve("whisper-1")).id == "starter-en"
        with pytest.raises(openai.NotFoundError, match="nope"):
            await client.models.retrieve("nope")


async def test_logprobs_come_with_the_text() -> None:
    async with http_door(ScriptedRecognizer()) as base, client_of(base) as client:
        answer = await client.audio.transcriptions.create(model="whisper-1", file=CLIP, include=["logprobs"])
    assert (answer.text, answer.logprobs) == ("go forward", [])
