"""A recogniser whose finals also go to sinks, whichever door or microphone the session came through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from pathlib import Path

from edge_asr.events import Final, TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.sinks.base import Sink, Spoken
from edge_asr.workers.base import PoolStatus, Recognizer, RecognizerSession
from edge_asr.workers.messages import Ready


class PublishedRecognizer:
    """A :class:`~edge_asr.workers.base.Recognizer` over another one."""

    def __init__(self, recognizer: Recognizer, sinks: Sequence[Sink], now: Callable[[], datetime]) -> None:
        """Wrap a recogniser; ``now`` is the wall clock, with its time zone."""
        self._recognizer = recognizer
        self._sinks = sinks
        self._now = now

    async def start(self) -> None:
        """Start the workers."""
        await self._recognizer.start()

    async def open(self, options: SessionOptions, *, protocol: str) -> RecognizerSession:
        """Begin a session."""
        session = await self._recognizer.open(options, protocol=protocol)
        return _PublishedSession(session, lambda final: self._publish(session, options, protocol, final))

    async def names(self) -> tuple[str, ...]:
        """The models that sessions may ask for by name."""
        return await self._recognizer.names()

    def status(self) -> PoolStatus:
        """The state now."""
        return self._recognizer.status()

    async def close(self, drain_s: float) -> None:
        """Refuse new sessions and end the workers."""
        await self._recognizer.close(drain_s)

    def _publish(self, session: RecognizerSession, options: SessionOptions, protocol: str, final: Final) -> None:
        if not final.text:
            return
        ready = session.ready
        known = ready.languages if ready is not None else ()
        spoken = Spoken(
            text=final.text,
            session_id=final.session_id,
            segment=final.segment,
            protocol=protocol,
            model=ready.model if ready is not None else "",
            language=options.language or (known[0] if len(known) == 1 else ""),
            start_s=final.start_s,
            end_s=final.end_s,
            words=final.words,
            command=final.command,
            open_text=final.open_text,
            time=self._now().isoformat(timespec="milliseconds"),
        )
        for sink in self._sinks:
            sink.offer(spoken)


class _PublishedSession:
    """Passes everything on; a final is published when the client is given it."""

    def __init__(self, session: RecognizerSession, publish: Callable[[Final], None]) -> None:
        self._session = session
        self._publish = publish

    @property
    def session_id(self) -> str:
        return self._session.session_id

    @property
    def ready(self) -> Ready | None:
        return self._session.ready

    async def send(self, data: bytes) -> None:
        await self._session.send(data)

    async def caught_up(self) -> None:
        await self._session.caught_up()

    async def send_recording(self, path: Path, max_duration_s: float) -> None:
        await self._session.send_recording(path, max_duration_s)

    async def flush(self) -> None:
        await self._session.flush()

    async def finish(self) -> None:
        await self._session.finish()

    async def events(self) -> AsyncIterator[TranscriptEvent]:
        async for event in self._session.events():
            if isinstance(event, Final):
                self._publish(event)
            yield event

    def cancel(self) -> None:
        self._session.cancel()
