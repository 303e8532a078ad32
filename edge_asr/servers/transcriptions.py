"""``POST /v1/audio/transcriptions``: one upload, one session, one response, whole or as server-sent events."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from edge_asr.errors import EdgeAsrError, NotReady, Overloaded
from edge_asr.events import Failed, Final, Notice, SessionEnded, TranscriptEvent
from edge_asr.languages import heard_language
from edge_asr.protocols.openai import Body, Transcription, TranscriptionRequest, parse_form, render, render_error
from edge_asr.protocols.openai_events import MEDIA_TYPE, TranscriptStream
from edge_asr.servers.dialogue import PeerGone, ignored_hotwords
from edge_asr.servers.upload import discard_rest, receive_upload
from edge_asr.settings import LimitSettings
from edge_asr.workers.base import Recognizer, RecognizerSession

Outcome = TypeVar("Outcome")


class Transcriptions:
    """Answers the requests of this path."""

    def __init__(self, recognizer: Recognizer, limits: LimitSettings, spool_directory: Path | None) -> None:
        self._recognizer = recognizer
        self._limits = limits
        self._spool_directory = spool_directory
        self._uploads = 0

    async def answer(self, request: Request) -> Response:
        """Receive the upload, recognise it, respond."""
        try:
            self._check_room()
            async with AsyncExitStack() as held:
                return await self._transcribe(request, held)
        except EdgeAsrError as error:
            await discard_rest(request)
            return body_response(render_error(error))
        except PeerGone:
            return Response(status_code=499)  # nobody reads it

    def _check_room(self) -> None:
        """Refuse before a long upload what would be refused after it; bound what is spooled to disk."""
        status = self._recognizer.status()
        if not status.takes_sessions:
            raise NotReady(status.reason)
        if status.sessions >= status.max_sessions or self._uploads >= self._limits.max_sessions:
            raise Overloaded(f"all {status.max_sessions} sessions are in use")

    async def _transcribe(self, request: Request, held: AsyncExitStack) -> Response:
        self._uploads += 1
        held.callback(self._forget_upload)
        upload = await held.enter_async_context(receive_upload(request, self._limits, self._spool_directory))
        wanted = parse_form(upload.fields)
        session = await self._recognizer.open(wanted.options, protocol="openai")
        held.callback(session.cancel)
        await session.send_recording(upload.path, self._limits.max_upload_s)
        if wanted.is_streamed:
            events = session.events()
            first = await _unless_gone(request, _first_of(events))
            return _streamed(wanted, session, first, events, held)
        outcome = await _unless_gone(request, _collect(session, wanted))
        return body_response(render_error(outcome) if isinstance(outcome, Failed) else render(wanted, outcome))

    def _forget_upload(self) -> None:
        self._uploads -= 1


async def _first_of(events: AsyncIterator[TranscriptEvent]) -> TranscriptEvent:
    async for event in events:
        return event
    raise NotReady("the daemon is stopping")


def _streamed(
    wanted: TranscriptionRequest,
    session: RecognizerSession,
    first: TranscriptEvent,
    events: AsyncIterator[TranscriptEvent],
    held: AsyncExitStack,
) -> Response:
    """The response takes over what is held; a recording that fails at once is still answered with a status."""
    if isinstance(first, Failed):
        return body_response(render_error(first))
    stream = TranscriptStream(wanted, is_append_only=session.ready is not None and session.ready.is_append_only)
    return _EventResponse(_streaming(stream, first, events), held.pop_all())


def _language(wanted: TranscriptionRequest, session: RecognizerSession) -> str:
    known = session.ready.languages if session.ready else ()
    return heard_language(wanted.options.language, known)


class _EventResponse(StreamingResponse):
    """Server-sent events; gives back what it holds however it ends."""

    def __init__(self, content: AsyncIterator[bytes], held: AsyncExitStack) -> None:
        super().__init__(content, media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"})
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._held:
            await super().__call__(scope, receive, send)


async def _streaming(
    stream: TranscriptStream, first: TranscriptEvent, events: AsyncIterator[TranscriptEvent]
) -> AsyncIterator[bytes]:
    for content in stream.take(first):
        yield content
    async for event in events:
        for content in stream.take(event):
            yield content


async def _collect(session: RecognizerSession, wanted: TranscriptionRequest) -> Transcription | Failed:
    finals: list[Final] = []
    warnings: list[str] = []
    async for event in session.events():
        if isinstance(event, Final):
            finals.append(event)
        elif isinstance(event, Notice):
            warnings.append(event.message)
        elif isinstance(event, SessionEnded):
            if wanted.options.hotwords and session.ready is not None and session.ready.why_no_hotwords:
                warnings.append(ignored_hotwords(session.session_id, wanted.options, session.ready).message)
            return Transcription(tuple(finals), event.audio_s, _language(wanted, session), tuple(warnings))
        elif isinstance(event, Failed):
            return event
    raise NotReady("the daemon is stopping")


async def _unless_gone(request: Request, work: Coroutine[None, None, Outcome]) -> Outcome:
    """The result of the work, unless the client hangs up before."""
    working = asyncio.create_task(work)
    watching = asyncio.create_task(_until_disconnected(request))
    try:
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise PeerGone("hung up while its upload was being recognised")
    finally:
        working.cancel()
        watching.cancel()
        await asyncio.gather(working, watching, return_exceptions=True)


async def _until_disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def body_response(body: Body) -> Response:
    """A rendered body as a response."""
    headers = {} if body.retry_after_s is None else {"Retry-After": str(math.ceil(body.retry_after_s))}
    return Response(body.content, body.status, headers, body.media_type)
