"""The client's side of Vosk's, sherpa-onnx's and OpenAI's websocket protocols, as their published clients behave."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any
from urllib.parse import urlencode

import msgspec
import numpy as np
from websockets.asyncio.client import ClientConnection

from edge_asr.cli.client_links import Pcm, Timing, Wanted, sending, websocket
from edge_asr.cli.daemon_address import DaemonAddress
from edge_asr.errors import MachineError, ProtocolViolation
from edge_asr.events import Failed, Final, Partial, SessionEnded, TranscriptEvent, Word

VOSK_PIECE_S = 0.2
"""As the published client."""

SHERPA_RATE_HZ = 16_000
"""The protocol has no field for the rate: it is the model's, and that of all models we know."""

REALTIME_RATE_HZ = 24_000

_TRANSCRIPTION = "conversation.item.input_audio_transcription"


async def converse_vosk(
    address: DaemonAddress, audio: Pcm, wanted: Wanted, timing: Timing
) -> AsyncGenerator[TranscriptEvent, None]:
    """vosk-server's protocol: send, wait for the answer, send; so it cannot be faster than the recogniser."""
    segment = revision = 0
    async with websocket(address, "/vosk") as socket:
        asked = wanted.named("language", "model", "phrase_list")
        config = {"sample_rate": audio.sample_rate_hz, "words": True, **asked, **wanted.writing}
        await socket.send(json.dumps({"config": config}))
        async for piece in _regrouped(audio, VOSK_PIECE_S):
            await socket.send(piece)
            timing.sent()
            answer = _object(await socket.recv())
            if "partial" not in answer:
                yield _vosk_final(segment, answer, "silence")
                segment, revision = segment + 1, 0
            elif answer["partial"]:
                yield Partial("", segment, revision, answer["partial"], 0, 0.0, 0.0, 0)
                revision += 1
        await socket.send('{"eof" : 1}')
        yield _vosk_final(segment, _object(await socket.recv()), "end_of_audio")
        yield SessionEnded("", 0.0)


def _vosk_final(segment: int, answer: dict[str, Any], reason: Any) -> Final:  # noqa: ANN401  a literal
    words = tuple(Word(word["word"], word["start"], word["end"], word["conf"]) for word in answer.get("result", ()))
    start_s, end_s = (words[0].start_s, words[-1].end_s) if words else (0.0, 0.0)
    return Final("", segment, answer["text"], words, start_s, end_s, reason, 0)


async def converse_sherpa(
    address: DaemonAddress, audio: Pcm, wanted: Wanted, timing: Timing
) -> AsyncGenerator[TranscriptEvent, None]:
    """sherpa-onnx's online protocol; the audio must be at 16 kHz."""
    revision = 0
    named = wanted.named("language", "model", "hotwords")
    query = urlencode({**named, "hotwords": ",".join(wanted.hotwords), **wanted.writing})
    async with (
        websocket(address, f"/sherpa?{query}") as socket,
        sending(_send_sherpa(socket, audio, timing), socket.transport.abort),
    ):
        async for message in socket:
            if message == "Done!":
                yield SessionEnded("", 0.0)
                return
            result = _object(message)
            if result["is_final"]:
                yield _sherpa_final(result)
                revision = 0
            elif result["text"]:
                yield Partial("", result["segment"], revision, result["text"], 0, result["start_time"], 0.0, 0)
                revision += 1
        raise MachineError(f"the daemon hung up before the end: {socket.close_reason or 'no reason given'}")


async def _send_sherpa(socket: ClientConnection, audio: Pcm, timing: Timing) -> None:
    async for piece in audio.pieces:
        await socket.send((np.frombuffer(piece, "<i2") / np.float32(32768)).astype("<f4").tobytes())
        timing.sent()
    await socket.send("Done")


def _sherpa_final(result: dict[str, Any]) -> Final:
    start_s = result["start_time"]
    starts = [start_s + offset for offset in result["timestamps"]]
    ends = [*starts[1:], starts[-1]] if starts else []
    tokens = (token.strip() for token in result["tokens"])
    words = tuple(Word(token, start, end) for token, start, end in zip(tokens, starts, ends, strict=False))
    reason: Any = "end_of_audio" if result["is_eof"] else "silence"
    return Final("", result["segment"], result["text"], words, start_s, ends[-1] if ends else start_s, reason, 0)


async def converse_realtime(
    address: DaemonAddress, audio: Pcm, wanted: Wanted, timing: Timing
) -> AsyncGenerator[TranscriptEvent, None]:
    """OpenAI's realtime transcription: turns by silence, the last one by a commit; the audio must be at 24 kHz."""
    async with (
        websocket(address, "/v1/realtime?intent=transcription") as socket,
        sending(_send_realtime(socket, audio, wanted, timing), socket.transport.abort),
    ):
        turns = _Turns()
        async for message in socket:
            for event in turns.take(_object(message)):
                yield event
                if isinstance(event, SessionEnded | Failed):
                    return
        raise MachineError(f"the daemon hung up before the end: {socket.close_reason or 'no reason given'}")


async def _send_realtime(socket: ClientConnection, audio: Pcm, wanted: Wanted, timing: Timing) -> None:
    transcription = {**wanted.named("language", "model", "keywords"), **wanted.writing}
    heard = {"format": {"type": "audio/pcm", "rate": audio.sample_rate_hz}, "transcription": transcription}
    session = {"type": "transcription", "audio": {"input": heard}}
    await _say(socket, "session.update", session=session)
    async for piece in audio.pieces:
        await _say(socket, "input_audio_buffer.append", audio=base64.b64encode(piece).decode())
        timing.sent()
    await _say(socket, "input_audio_buffer.commit")
    await _say(socket, "session.update", session={"type": "transcription"})  # its answer follows that to the commit


async def _say(socket: ClientConnection, kind: str, **fields: Any) -> None:  # noqa: ANN401
    await socket.send(json.dumps({"type": kind, **fields}))


class _Turns:
    """The server's events as ours: the end is there when the last commit is answered and every turn is completed."""

    def __init__(self) -> None:
        self._answers_due = 2
        self._open: dict[str, str] = {}
        self._segment = self._revision = 0

    def take(self, event: dict[str, Any]) -> list[TranscriptEvent]:
        kind, item = event["type"], event.get("item_id", "")
        said: list[TranscriptEvent] = []
        if kind == "session.updated":
            self._answers_due -= 1
        elif kind == "input_audio_buffer.committed":
            self._open.setdefault(item, "")
        elif kind == f"{_TRANSCRIPTION}.delta":
            self._open[item] = text = self._open.get(item, "") + event["delta"]
            said.append(Partial("", self._segment, self._revision, text, len(text), 0.0, 0.0, 0))
            self._revision += 1
        elif kind == f"{_TRANSCRIPTION}.completed":
            self._open.pop(item, None)
            said.append(Final("", self._segment, event["transcript"], (), 0.0, 0.0, "silence", 0))
            self._segment, self._revision = self._segment + 1, 0
        elif kind in ("error", f"{_TRANSCRIPTION}.failed"):
            error = event["error"]
            return [Failed("", str(error.get("code") or "session_failed"), str(error.get("message")))]
        if not self._answers_due and not self._open:
            said.append(SessionEnded("", 0.0))
        return said


async def _regrouped(audio: Pcm, piece_s: float) -> AsyncIterator[bytes]:
    size = 2 * round(piece_s * audio.sample_rate_hz)
    rest = b""
    async for piece in audio.pieces:
        rest += piece
        while len(rest) >= size:
            yield rest[:size]
            rest = rest[size:]
            await asyncio.sleep(0)
    if rest:
        yield rest


def _object(message: str | bytes) -> dict[str, Any]:
    try:
        fields = msgspec.json.decode(message)
    except msgspec.DecodeError as error:
        raise ProtocolViolation(f"the server sent what is not a message of this protocol: {error}") from error
    if not isinstance(fields, dict):
        raise ProtocolViolation("the server sent what is not a message of this protocol: it is no JSON object")
    return fields
