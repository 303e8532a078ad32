"""Streaming over a websocket: the client side of two protocols, and one session at live pace."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

from tools.peers_bench.peer import PeerFailed
from tools.peers_bench.recordings import RATE_HZ, Recording, pieces
from tools.peers_bench.steps import Arrival

PATIENCE_S = 60.0
"""For the end of a session, after the last audio."""


@dataclass(frozen=True, slots=True)
class Update:
    """What a message of a server says."""

    step: float = 0
    """Number of the model's step whose result this is, from 1; 0 when it does not tell. A recogniser that leaves
    silence out takes its steps elsewhere: then it is that of the step that would end there, which is no integer."""
    text: str | None = None
    """Of the segment."""
    segment: int = 0
    is_final: bool = False
    is_end: bool = False


class Codec(Protocol):
    """One protocol, for one session."""

    path: str
    padding_samples: int
    """Silence that the server puts before the recording."""

    def hello(self) -> str | None:
        """What is sent before the audio, and answered once; ``None``: nothing."""
        ...

    def audio(self, piece: npt.NDArray[np.int16]) -> bytes:
        """A piece as it goes out."""
        ...

    def finish(self) -> str:
        """No more audio."""
        ...

    def read(self, message: str) -> Update:
        """A message of the server.

        Raises:
            PeerFailed: It says that the session failed.
        """
        ...


class NativeCodec:
    """edge-asr's ``/v1/stream``. Partials come when the text changes; their end tells how far the model was."""

    path = "/v1/stream"

    def __init__(self, chunk_s: float, padding_samples: int) -> None:
        self.padding_samples = padding_samples
        self._chunk_s = chunk_s

    def hello(self) -> str:
        return json.dumps({"type": "hello", "sample_rate_hz": RATE_HZ, "is_live": True})

    def audio(self, piece: npt.NDArray[np.int16]) -> bytes:
        return piece.astype("<i2").tobytes()

    def finish(self) -> str:
        return json.dumps({"type": "finish"})

    def read(self, message: str) -> Update:
        event: dict[str, Any] = json.loads(message)
        match event["type"]:
            case "failed":
                raise PeerFailed(event["message"])
            case "partial":
                return Update(self._step(event["end_s"]), event["text"], event["segment"])
            case "final":
                return Update(0, event["text"], event["segment"], is_final=True)
            case "ended" if event["dropped_samples"]:
                raise PeerFailed(f"{event['dropped_samples']} samples were dropped")
            case kind:
                return Update(is_end=kind == "ended")

    def _step(self, end_s: float) -> float:
        return round((end_s + self.padding_samples / RATE_HZ) / self._chunk_s, 4) if self._chunk_s else 0


class SherpaCodec:
    """sherpa-onnx's online websocket server: a message for each step, ``Done!`` at the end."""

    path = "/"
    padding_samples = 0

    def __init__(self) -> None:
        self._steps = 0

    def hello(self) -> None:
        return None

    def audio(self, piece: npt.NDArray[np.int16]) -> bytes:
        return (piece.astype("<f4") / 32768).tobytes()

    def finish(self) -> str:
        return "Done"

    def read(self, message: str) -> Update:
        if message == "Done!":
            return Update(is_end=True)
        self._steps += 1
        result: dict[str, Any] = json.loads(message)
        return Update(self._steps, result["text"].strip(), result["segment"], is_final=result["is_eof"])


@dataclass(slots=True)
class Session:
    """What happened; monotonic nanoseconds."""

    spoken_ns: list[int] = field(default_factory=list)
    """When each piece was spoken, and should have been sent: a server that is slow to take it gains nothing."""
    late_s: float = 0.0
    """Largest delay with which one was sent."""
    arrivals: list[Arrival] = field(default_factory=list)
    segments: dict[int, str] = field(default_factory=dict)
    final_ns: int = 0
    """When the last final came; that of the end, when nothing was said."""

    @property
    def text(self) -> str:
        """All segments."""
        return " ".join(text for _, text in sorted(self.segments.items()) if text)

    @property
    def flush_s(self) -> float:
        """From the last audio to the last final; none when that came before."""
        return max(0.0, (self.final_ns - self.spoken_ns[-1]) / 1e9)


async def converse(url: str, codec: Codec, recordings: Sequence[Recording], start_ns: int) -> Session:
    """One session at live pace.

    Args:
        url: Of the server, without path.
        codec: A fresh one.
        recordings: One after the other, without a gap.
        start_ns: When the first sample is spoken; deadlines count from it.

    Raises:
        PeerFailed: The server refused, hung up, or took too long for the end.
    """
    session = Session()
    try:
        async with connect(url + codec.path, compression=None, ping_interval=None, max_queue=None) as socket:
            hello = codec.hello()
            if hello is not None:
                await socket.send(hello)
                codec.read(str(await socket.recv()))
            listening = asyncio.create_task(_listen(socket, codec, session))
            try:
                await _speak(socket, codec, recordings, start_ns, session)
                await asyncio.wait_for(listening, PATIENCE_S)
            finally:
                listening.cancel()
    except (OSError, WebSocketException, TimeoutError) as error:
        raise PeerFailed(f"{url} ended a session: {error!r}") from error
    return session


async def _speak(
    socket: ClientConnection, codec: Codec, recordings: Sequence[Recording], start_ns: int, session: Session
) -> None:
    spoken = 0
    for piece in pieces(recordings):
        spoken += len(piece)
        deadline_ns = start_ns + spoken * 1_000_000_000 // RATE_HZ
        await asyncio.sleep(max(0.0, (deadline_ns - time.monotonic_ns()) / 1e9))
        session.spoken_ns.append(deadline_ns)
        session.late_s = max(session.late_s, (time.monotonic_ns() - deadline_ns) / 1e9)
        await socket.send(codec.audio(piece))
    await socket.send(codec.finish())


async def _listen(socket: ClientConnection, codec: Codec, session: Session) -> None:
    async for message in socket:
        now_ns = time.monotonic_ns()
        update = codec.read(str(message))
        if update.step:
            session.arrivals.append(Arrival(update.step, now_ns))
        if update.text is not None:
            session.segments[update.segment] = update.text
        if update.is_final:
            session.final_ns = now_ns
        if update.is_end:
            session.final_ns = session.final_ns or now_ns
            return
    raise PeerFailed("the server hung up before the end")
