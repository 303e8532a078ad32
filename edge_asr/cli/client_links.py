"""The client's side of each protocol: a recording goes out, transcript events come back."""

from __future__ import annotations

import asyncio
import http.client
import secrets
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from edge_asr.cli.daemon_address import DaemonAddress
from edge_asr.clock import Clock
from edge_asr.errors import MachineError, ProtocolViolation
from edge_asr.events import Failed, Final, Partial, SessionEnded, TranscriptEvent, Word
from edge_asr.protocols import native
from edge_asr.protocols.wyoming import WyomingDecoder, WyomingEvent, encode_event
from edge_asr.requests import SessionOptions

WEBSOCKET_SCHEMES = ("http", "https", "ws", "wss")
WYOMING_SCHEMES = ("tcp", "unix")
OPENAI_SCHEMES = ("http", "https")

DEFAULT_WYOMING_PORT = 10_300
MAX_EVENT_BYTES = 16 << 20
ANSWER_TIMEOUT_S = 600.0
"""For a whole upload; a slow board needs its time for a long recording."""

_READ_BYTES = 64 << 10


@dataclass(slots=True)
class Timing:
    """When audio left; monotonic nanoseconds, 0 for not yet."""

    clock: Clock
    first_ns: int = 0
    last_ns: int = 0

    def sent(self) -> None:
        """Some audio has left."""
        self.last_ns = self.clock.now_ns()
        self.first_ns = self.first_ns or self.last_ns


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked of a session, in whichever protocol's words."""

    language: str = ""
    model: str = ""
    """Store name; empty for the active one."""
    hotwords: tuple[str, ...] = ()
    itn: bool | None = None
    punctuation: bool | None = None

    def named(self, language: str, model: str, hotwords: str) -> dict[str, Any]:
        """What was asked for, by the names that a protocol has for it."""
        asked = {language: self.language, model: self.model, hotwords: list(self.hotwords)}
        return {name: value for name, value in asked.items() if value}

    @property
    def writing(self) -> dict[str, bool]:
        """How texts are to be written, by the names that every protocol has for it."""
        asked = {"itn": self.itn, "punctuation": self.punctuation}
        return {name: value for name, value in asked.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Pcm:
    """A recording as 16-bit mono samples."""

    sample_rate_hz: int
    pieces: AsyncIterator[bytes]


async def converse_native(
    address: DaemonAddress, audio: Pcm, wanted: Wanted, timing: Timing
) -> AsyncGenerator[TranscriptEvent, None]:
    """The native websocket protocol."""
    async with websocket(address, "/v1/stream") as socket:
        options = SessionOptions(
            sample_rate_hz=audio.sample_rate_hz,
            language=wanted.language,
            model=wanted.model,
            hotwords=wanted.hotwords,
            itn=wanted.itn,
            punctuation=wanted.punctuation,
        )
        await socket.send(native.hello(options))
        answer = native.parse_server_message(str(await socket.recv()))
        if isinstance(answer, Failed):
            yield answer
            return
        async with sending(_send_native(socket, audio, timing), socket.transport.abort):
            async for message in socket:
                event = native.parse_server_message(str(message))
                if isinstance(event, native.SessionReady | native.Description | native.Pong):
                    continue
                yield event
                if isinstance(event, SessionEnded | Failed):
                    return
        raise MachineError(f"the daemon hung up before the end: {socket.close_reason or 'no reason given'}")


async def _send_native(socket: ClientConnection, audio: Pcm, timing: Timing) -> None:
    async for piece in audio.pieces:
        await socket.send(piece)
        timing.sent()
    await socket.send(native.control("finish"))


@asynccontextmanager
async def websocket(address: DaemonAddress, path: str) -> AsyncIterator[ClientConnection]:
    """A connection to the daemon, at this path unless the address has one of its own.

    Raises:
        MachineError: Nobody answers there, or hangs up.
        ConfigurationError: The token is missing or wrong.
    """
    try:
        async with connect(
            address.websocket_url(path),
            ssl=address.tls_context,
            additional_headers=address.headers,
            compression=None,
            ping_timeout=None,  # the answer stands in line behind audio that is sent faster than it is decoded
        ) as socket:
            yield socket
    except InvalidStatus as error:
        if error.response.status_code == 401:
            raise address.forbidden() from error
        raise address.unreachable(error) from error
    except ConnectionClosed as error:
        raise MachineError(f"the daemon at {address.url} hung up: {reason_of(error)}") from error
    except (OSError, InvalidHandshake, TimeoutError) as error:
        raise address.unreachable(error) from error


def reason_of(closed: ConnectionClosed) -> str:
    """What the daemon said when it closed the connection."""
    return (closed.rcvd.reason if closed.rcvd else "") or str(closed)


async def converse_wyoming(
    address: DaemonAddress, audio: Pcm, wanted: Wanted, timing: Timing
) -> AsyncGenerator[TranscriptEvent, None]:
    """Wyoming in the order of Home Assistant."""
    reader, writer = await _open_stream(address)
    try:
        async with sending(_send_wyoming(writer, audio, wanted, timing), writer.transport.abort):
            async for event in _wyoming_events(reader):
                yield event
                if isinstance(event, SessionEnded | Failed):
                    return
        raise MachineError(f"the daemon at {address.url} hung up before the transcript")
    except OSError as error:
        raise MachineError(f"the daemon at {address.url} hung up: {error}") from error
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def _open_stream(address: DaemonAddress) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    try:
        if address.scheme == "unix":
            return await asyncio.open_unix_connection(address.path)
        return await asyncio.open_connection(address.host, address.port or DEFAULT_WYOMING_PORT)
    except OSError as error:
        raise address.unreachable(error) from error


async def _send_wyoming(writer: asyncio.StreamWriter, audio: Pcm, wanted: Wanted, timing: Timing) -> None:
    layout = {"rate": audio.sample_rate_hz, "width": 2, "channels": 1}
    asked = {**wanted.named("language", "name", "transcript_names"), "context": wanted.writing}
    writer.write(encode_event(WyomingEvent("transcribe", asked)))
    writer.write(encode_event(WyomingEvent("audio-start", layout)))
    async for piece in audio.pieces:
        writer.write(encode_event(WyomingEvent("audio-chunk", layout, piece)))
        await writer.drain()
        timing.sent()
    writer.write(encode_event(WyomingEvent("audio-stop")))
    await writer.drain()


async def _wyoming_events(reader: asyncio.StreamReader) -> AsyncIterator[TranscriptEvent]:
    """Chunks as partials of one segment, the transcript as its final."""
    decoder = WyomingDecoder(MAX_EVENT_BYTES)
    text, revision = "", 0
    while data := await reader.read(_READ_BYTES):
        for event in decoder.feed(data):
            said = str(event.data.get("text", ""))
            if event.type == "transcript-chunk":
                text += said
                yield Partial("", 0, revision, text, len(text), 0.0, 0.0, 0)
                revision += 1
            elif event.type == "transcript":
                yield Final("", 0, said, (), 0.0, 0.0, "end_of_audio", 0)
                yield SessionEnded("", 0.0)
            elif event.type == "error":
                yield Failed("", str(event.data.get("code") or "session_failed"), said)


@asynccontextmanager
async def sending(work: Coroutine[None, None, None], hang_up: Callable[[], None]) -> AsyncIterator[None]:
    """Audio goes out while events are read; the end of one is the end of the other."""
    sending = asyncio.create_task(_or_hang_up(work, hang_up))
    try:
        yield
    finally:
        sending.cancel()
        (outcome,) = await asyncio.gather(sending, return_exceptions=True)
        # The daemon's own last words say more than the broken connection that followed them.
        if isinstance(outcome, Exception) and not isinstance(outcome, OSError | ConnectionClosed):
            raise outcome


async def _or_hang_up(work: Coroutine[None, None, None], hang_up: Callable[[], None]) -> None:
    """A recording that cannot be read on: the daemon would wait for the rest of it."""
    try:
        await work
    except Exception:
        hang_up()
        raise


def transcribe_openai(
    address: DaemonAddress, name: str, pieces: Callable[[], Iterator[bytes]], wanted: Wanted, timing: Timing
) -> list[TranscriptEvent]:
    """OpenAI's transcription endpoint: the file as it is, one answer; blocks.

    Args:
        address: Of the daemon.
        name: Of the file, which tells some decoders what it is.
        pieces: The file's bytes.
        wanted: To ask for.
        timing: Told when the upload left.
    """
    boundary = secrets.token_hex(16)
    headers = {**address.headers, "Content-Type": f"multipart/form-data; boundary={boundary}"}
    connection = _http_connection(address)
    try:
        body = _form(boundary, name, pieces(), wanted, timing)
        connection.request("POST", address.with_path("/v1/audio/transcriptions"), body, headers, encode_chunked=True)
        response = connection.getresponse()
        return _openai_events(address, response.status, response.read())
    except (OSError, http.client.HTTPException) as error:
        raise address.unreachable(error) from error
    finally:
        connection.close()


def _http_connection(address: DaemonAddress) -> http.client.HTTPConnection:
    context: ssl.SSLContext | None = address.tls_context
    if context is not None:
        return http.client.HTTPSConnection(address.host, address.port, timeout=ANSWER_TIMEOUT_S, context=context)
    return http.client.HTTPConnection(address.host, address.port, timeout=ANSWER_TIMEOUT_S)


def _form(boundary: str, name: str, pieces: Iterator[bytes], wanted: Wanted, timing: Timing) -> Iterator[bytes]:
    fields = [("model", wanted.model), ("response_format", "verbose_json"), ("language", wanted.language)]
    fields += [(name, str(value).lower()) for name, value in wanted.writing.items()]
    for field, value in [*fields, *(("keywords[]", word) for word in wanted.hotwords)]:
        yield f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
    for granularity in ("word", "segment"):
        disposition = 'form-data; name="timestamp_granularities[]"'
        yield f"--{boundary}\r\nContent-Disposition: {disposition}\r\n\r\n{granularity}\r\n".encode()
    file_name = PurePath(name).name.replace('"', "_").replace("\r", "_").replace("\n", "_")
    disposition = f'form-data; name="file"; filename="{file_name}"'
    yield f"--{boundary}\r\nContent-Disposition: {disposition}\r\n\r\n".encode()
    for piece in pieces:
        yield piece
        timing.sent()
    yield f"\r\n--{boundary}--\r\n".encode()
    timing.sent()


def _openai_events(address: DaemonAddress, status: int, content: bytes) -> list[TranscriptEvent]:
    try:
        answer = msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise ProtocolViolation(f"{address.url} answered {status} with what is not JSON") from error
    if status == 401:
        raise address.forbidden()
    if status != 200:
        fault = answer.get("error", {})
        return [Failed("", str(fault.get("code") or "session_failed"), str(fault.get("message", answer)))]
    words = [Word(word["word"], word["start"], word["end"]) for word in answer.get("words", [])]
    finals = [_final(number, segment, words) for number, segment in enumerate(answer.get("segments", []))]
    return [*finals, SessionEnded("", float(answer.get("duration", 0.0)))]


def _final(number: int, segment: dict[str, Any], words: list[Word]) -> Final:
    start_s, end_s = segment["start"], segment["end"]
    within = tuple(word for word in words if start_s <= word.start_s < end_s)
    return Final("", number, segment["text"], within, start_s, end_s, "end_of_audio", 0)
