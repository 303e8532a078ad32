"""A recogniser whose finals also go to sinks, whichever door or microphone the session came through."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime

from edge_asr.events import Final, TranscriptEvent
from edge_asr.languages import heard_language
from edge_asr.requests import SessionOptions
from edge_asr.sinks.base import Sink, Spoken
from edge_asr.workers.base import Recognizer, RecognizerSession
from edge_asr.workers.passing import PassingRecognizer, PassingSession


class PublishedRecognizer(PassingRecognizer):
    """Publishes the finals of every session."""

    def __init__(self, recognizer: Recognizer, sinks: Sequence[Sink], now: Callable[[], datetime]) -> None:
        """Wrap a recogniser; ``now`` is the wall clock, with its time zone."""
        super().__init__(recognizer)
        self._sinks = sinks
        self._now = now

    async def open(self, options: SessionOptions, *, protocol: str) -> RecognizerSession:
        """Begin a session."""
        session = await super().open(options, protocol=protocol)
        return _PublishedSession(session, lambda final: self._publish(session, options, protocol, final))

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
            language=heard_language(options.language, known),
            start_s=final.start_s,
            end_s=final.end_s,
            words=final.words,
            command=final.command,
            open_text=final.open_text,
            raw_text=final.raw_text,
            tags=final.tags,
            speaker=final.speaker,
            time=self._now().isoformat(timespec="milliseconds"),
        )
        for sink in self._sinks:
            sink.offer(spoken)


class _PublishedSession(PassingSession):
    """A final is published when the client is given it."""

    def __init__(self, session: RecognizerSession, publish: Callable[[Final], None]) -> None:
        super().__init__(session)
        self._publish = publish

    async def events(self) -> AsyncIterator[TranscriptEvent]:
        async for event in super().events():
            if isinstance(event, Final):
                self._publish(event)
            yield event
