"""Drives one conversation over one connection: the same for every protocol.

Two tasks: one reads messages and executes the requests in them, one delivers the session's events. Audio is passed on
before more is read, so a recogniser that falls behind slows its client and not the memory. Whatever happens to the
connection, its session is freed at once and nobody else notices.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from typing import Protocol, assert_never

from edge_asr.errors import EdgeAsrError, LimitExceeded, NotReady, ProtocolViolation, SessionError, error_of
from edge_asr.events import Failed, Notice, SessionEnded, TranscriptEvent
from edge_asr.protocols.base import Conversation, Message
from edge_asr.requests import (
    Audio,
    CatchUp,
    Describe,
    Discard,
    Finish,
    Flush,
    Open,
    Ping,
    Request,
    SessionOptions,
)
from edge_asr.servers.pace import PaceWatch, rate_notice
from edge_asr.settings import LimitSettings
from edge_asr.workers.base import Recognizer, RecognizerSession
from edge_asr.workers.messages import Ready

logger = logging.getLogger(__name__)

WAIT_S = 0.5
"""A client that had to wait for so long is faster than the recogniser, and no microphone."""


MESSAGES_A_TURN = 32
"""A client that sends many small messages at once has so many of them served, and then others have their turn: health
checks are answered in time."""


class PeerGone(Exception):
    """The connection is lost: nobody is there to read an answer."""


class PeerStalled(PeerGone):
    """Somebody may be there, and reads nothing: the connection is given up."""


class Connection(Protocol):
    """Whoever is at its other end, and what goes there and comes from there."""

    @property
    def peer(self) -> str:
        """Who is at the other end, for the log."""
        ...

    async def receive(self) -> Message | None:
        """The next message; ``None`` when the peer will send no more but may still read.

        Raises:
            PeerGone: The connection is lost.
        """
        ...

    async def send(self, message: Message) -> None:
        """Write one message; waits while the peer reads too slowly.

        Raises:
            PeerGone: The connection is lost.
        """
        ...

    async def close(self, reason: EdgeAsrError | None) -> None:
        """Close the connection, for a reason or because all is said. Never raises."""
        ...

    def abort(self) -> None:
        """Let go of a connection whose peer is gone, with whatever was still to be written."""
        ...

    def rest(self, *, is_resting: bool) -> None:
        """Whether messages may be taken a little later than they come, many at a time; holds until the next call."""
        ...


class Link(Connection, Protocol):
    """A connection that may have read ahead."""

    def take(self) -> Message | None:
        """The next message, if it was read already; else ``None``, and :meth:`receive` is to be asked.

        Raises:
            PeerGone: The connection is lost.
        """
        ...


class Dialogue:
    """One connection, from its first message to its end."""

    def __init__(self, link: Link, conversation: Conversation, recognizer: Recognizer, limits: LimitSettings) -> None:
        self._link = link
        self._conversation = conversation
        self._recognizer = recognizer
        self._limits = limits
        self._session: RecognizerSession | None = None
        self._session_id = ""
        self._delivering: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._has_spoken = False
        self._is_listening = False
        self._has_no_more_input = False
        self._audio_bytes_left = 0.0
        self._pace = PaceWatch(SessionOptions())
        self._verdict: EdgeAsrError | None = None
        self._closing: EdgeAsrError | None = None
        self._outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> None:
        """Serve the connection until either side ends it."""
        error: EdgeAsrError | None = None
        try:
            self._spawn(self._read())
            await self._outcome
        except PeerGone as gone:
            logger.log(logging.INFO if isinstance(gone, PeerStalled) else logging.DEBUG, "%s: %s", self._name, gone)
            self._link.abort()
        except EdgeAsrError as refusal:
            error = refusal
        except Exception:
            logger.exception("%s: fault in the dialogue", self._name)
            error = SessionError("a fault of the daemon ended this session; its log has the details")
        finally:
            await self._stop()
            await self._say_goodbye(error)

    @property
    def _name(self) -> str:
        """For the log: protocol, address, and the session it has or had last."""
        session = f" session {self._session_id}" if self._session_id else ""
        return f"{self._conversation.protocol} {self._link.peer}{session}"

    # Reading: messages to requests

    async def _read(self) -> None:
        await self._send(self._conversation.greeting())
        taken = 0
        while (message := await self._next_message()) is not None:
            self._has_spoken = True
            taken += 1
            if taken % MESSAGES_A_TURN == 0:
                await asyncio.sleep(0)
            for request in self._conversation.receive(message):
                await self._execute(request)
            if self._conversation.is_over:
                break
        else:
            await self._end_input()
        self._has_no_more_input = True
        if self._delivering is None or self._delivering.done():
            self._end()

    async def _next_message(self) -> Message | None:
        while self._verdict is None:
            if (message := self._link.take()) is not None:
                return message  # without a time-out, which would cost more than all the rest
            try:
                async with asyncio.timeout(self._patience_s()):
                    return await self._link.receive()
            except TimeoutError:
                if not (self._is_listening and self._conversation.may_rest):
                    self._close_idle()
                    return None
                try:
                    await self._end_input()  # of this session; the client may stay
                except ProtocolViolation:  # it stopped within a message, and what follows that is lost
                    self._close_idle()
                    return None
        return None

    async def _end_input(self) -> None:
        try:
            for request in self._conversation.end_of_input():
                await self._execute(request)
        except ProtocolViolation:
            if self._closing is None:
                raise
            await self._finish()  # a client fell silent within a message: what came before is heard

    def _patience_s(self) -> float | None:
        """How long the client may be silent: not at all limited while it waits for its result."""
        if self._session is not None and not self._is_listening:
            return None
        if self._session is None and self._has_spoken and self._conversation.may_rest:
            return None
        return self._limits.idle_timeout_s if self._has_spoken else self._limits.hello_timeout_s

    def _close_idle(self) -> None:
        """A silent session is finished, so that what was said is not lost; a silent connection is refused."""
        name = "idle_timeout_s" if self._has_spoken else "hello_timeout_s"
        limit = f"{getattr(self._limits, name):g} s"
        silence = LimitExceeded(f"limits.{name}", f"a connection silent for {limit}", limit)
        if not self._is_listening:
            raise silence
        self._closing = silence

    async def _execute(self, request: Request) -> None:
        match request:
            case Open():
                await self._open(request.options)
            case Audio():
                await self._pass_on(request.data)
            case Flush():
                if self._session is not None:
                    await self._session.flush()
            case Finish():
                await self._finish()
            case Discard():
                await self._discard()
            case CatchUp():
                await self._catch_up()
            case Describe():
                await self._send(self._conversation.described(self._recognizer.status()))
            case Ping():
                await self._send(self._conversation.answered(request))
            case _:
                assert_never(request)

    async def _open(self, options: SessionOptions) -> None:
        if self._delivering is not None:
            await self._delivering  # the answer to the utterance before goes out first
        self._session = await self._recognizer.open(options, protocol=self._conversation.protocol)
        self._session_id = self._session.session_id
        self._is_listening = True
        self._link.rest(is_resting=False)
        self._audio_bytes_left = self._limits.max_session_s * options.bytes_per_second
        self._pace = PaceWatch(options)
        ready = self._session.ready
        if ready is None:
            raise NotReady("no model is loaded")
        await self._send(self._conversation.opened(self._session.session_id, ready))
        if options.hotwords and ready.why_no_hotwords:
            await self._send(self._conversation.deliver(ignored_hotwords(self._session.session_id, options, ready)))
        self._delivering = self._spawn(self._deliver(self._session))

    async def _pass_on(self, data: bytes) -> None:
        if self._session is None or self._verdict is not None:
            return
        self._audio_bytes_left -= len(data)
        if self._audio_bytes_left >= 0:
            await self._send_audio(self._session, data)
            return
        limit = f"{self._limits.max_session_s:g} s"
        self._verdict = LimitExceeded("limits.max_session_s", "the session's audio", limit, "open another session")
        await self._finish()

    async def _send_audio(self, session: RecognizerSession, data: bytes) -> None:
        clock_s = asyncio.get_running_loop().time
        came_s = clock_s()
        await session.send(data)
        self._link.rest(is_resting=session.is_resting)
        if clock_s() - came_s > WAIT_S:
            self._pace.disturb()
        likely_hz = self._pace.take(len(data), came_s)
        if likely_hz is not None:
            notice = rate_notice(session.session_id, self._pace.sample_rate_hz, likely_hz)
            logger.warning("%s %s: %s", self._conversation.protocol, self._link.peer, notice.message)
            await self._send(self._conversation.deliver(notice))

    async def _finish(self) -> None:
        if self._session is not None and self._is_listening:
            self._is_listening = False
            await self._session.finish()

    async def _discard(self) -> None:
        if self._session is None or self._delivering is None:
            return
        self._session.cancel()
        self._delivering.cancel()
        await asyncio.gather(self._delivering, return_exceptions=True)
        self._session, self._delivering, self._is_listening = None, None, False

    async def _catch_up(self) -> None:
        if self._session is not None:
            await self._session.caught_up()
        await self._send(self._conversation.caught_up())

    # Delivering: events to messages

    async def _deliver(self, session: RecognizerSession) -> None:
        has_ended = False
        async for event in session.events():
            has_ended = isinstance(event, SessionEnded | Failed)
            if has_ended:
                self._session = None
                self._is_listening = False
            await self._send(self._conversation.deliver(self._judged(event)))
            if isinstance(event, Failed) and self._conversation.is_over and self._closing is None:
                self._closing = error_of(event.code, event.message)
        if not has_ended:
            raise NotReady("the daemon is stopping")
        if self._conversation.is_over or self._has_no_more_input:
            self._end()

    def _judged(self, event: TranscriptEvent) -> TranscriptEvent:
        """A session that was ended by a limit does not end well, although all that was accepted was delivered."""
        if self._verdict is None or not isinstance(event, SessionEnded):
            return event
        self._closing = self._verdict
        return Failed(event.session_id, self._verdict.code, str(self._verdict), self._verdict.is_retryable)

    async def _send(self, messages: Iterator[Message]) -> None:
        for message in messages:
            try:
                async with asyncio.timeout(self._limits.idle_timeout_s):
                    await self._link.send(message)
            except TimeoutError as error:
                raise PeerStalled(f"dropped: it read nothing for {self._limits.idle_timeout_s:g} s") from error

    # The end

    def _end(self) -> None:
        if not self._outcome.done():
            self._outcome.set_result(None)

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._note_end)
        return task

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None and not self._outcome.done():
            self._outcome.set_exception(fault)

    async def _stop(self) -> None:
        self._outcome.cancel()
        if self._session is not None:
            self._session.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _say_goodbye(self, error: EdgeAsrError | None) -> None:
        if error is not None and not self._conversation.is_over:
            try:
                await self._send(self._conversation.refused(error))
            except PeerGone:
                self._link.abort()
        if error is not None:
            logger.info("%s: %s", self._name, error)
        await self._link.close(error or self._closing)


def ignored_hotwords(session_id: str, options: SessionOptions, ready: Ready) -> Notice:
    """The hotwords of a session make no difference, and why."""
    sentence = f"{ready.model} ignores hotwords: {ready.why_no_hotwords}"
    return Notice(session_id, "hotwords_ignored", sentence, len(options.hotwords))
