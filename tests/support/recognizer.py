"""A recogniser that says what a test tells it to: the servers' view of the workers, without workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from edge_asr.errors import NotReady, Overloaded
from edge_asr.events import Failed, Final, Partial, SessionEnded, TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.workers.base import PoolStatus
from edge_asr.workers.messages import Ready
from tests.support.values import READY, STATS


class ScriptedSession:
    """Hears nothing; says the recogniser's words. Each ``flush`` and the end give a final of all words."""

    def __init__(self, recognizer: ScriptedRecognizer, session_id: str, options: SessionOptions) -> None:
        self._recognizer = recognizer
        self._session_id = session_id
        self._events: asyncio.Queue[TranscriptEvent] = asyncio.Queue()
        self._segment = 0
        self.options = options
        self.is_resting = recognizer.is_resting
        self.audio = bytearray()
        self.recording = b""
        self.is_finished = asyncio.Event()
        self.is_cancelled = asyncio.Event()
        self.has_heard = asyncio.Event()

    @property
    def session_id(self) -> str:
        return self._session_id

    @property
    def ready(self) -> Ready | None:
        return self._recognizer.ready

    async def send(self, data: bytes) -> None:
        await self._recognizer.may_take.wait()
        if not self.audio and self.options.partials and self._recognizer.words:
            self._say_partial()
        self.audio += data
        self.has_heard.set()

    async def caught_up(self) -> None:
        await self._recognizer.may_take.wait()
        await self._events.join()

    async def send_recording(self, path: Path, max_duration_s: float) -> None:
        self.recording = await asyncio.to_thread(path.read_bytes)
        await self.finish()

    async def flush(self) -> None:
        self._say_final("flush")

    async def finish(self) -> None:
        self.is_finished.set()
        if self._recognizer.first_word is not None:
            self.say(self._recognizer.first_word)
        if self._recognizer.failure is not None:
            self.say(self._recognizer.failure)
            return
        if self._recognizer.words:
            self._say_final("end_of_audio")
        self.say(SessionEnded(self.session_id, len(self.audio) / self.options.bytes_per_second))

    async def events(self) -> AsyncIterator[TranscriptEvent]:
        while True:
            event = await self._events.get()
            if self.is_finished.is_set():
                await self._recognizer.may_answer.wait()
            yield event
            self._events.task_done()
            if isinstance(event, SessionEnded | Failed):
                return

    def cancel(self) -> None:
        self.is_cancelled.set()
        self._recognizer.forget(self)

    def say(self, event: TranscriptEvent) -> None:
        self._events.put_nowait(event)
        if isinstance(event, SessionEnded | Failed):
            self._recognizer.forget(self)

    def _say_partial(self) -> None:
        first = self._recognizer.words.split()[0]
        self.say(Partial(self.session_id, self._segment, 0, first, len(first), 0.0, 0.5, 1))

    def _say_final(self, reason: str) -> None:
        words = self._recognizer.words
        self.say(Final(self.session_id, self._segment, words, (), 0.0, 1.0, reason, 2))  # type: ignore[arg-type]
        self._segment += 1


class ScriptedRecognizer:
    """Opens scripted sessions and remembers them."""

    def __init__(self, words: str = "go forward", *, ready: Ready | None = READY, max_sessions: int = 4) -> None:
        self.words = words
        self.ready = ready
        self.max_sessions = max_sessions
        self.first_word: TranscriptEvent | None = None
        """What a session says before it ends."""
        self.failure: Failed | None = None
        self.start_error: Exception | None = None
        self.state = "ready" if ready else "starting"
        self.reason = "" if ready else "the model is being loaded"
        self.sessions: list[ScriptedSession] = []
        self.running: set[ScriptedSession] = set()
        self.session_opened = asyncio.Event()
        self.is_idle = asyncio.Event()
        self.is_idle.set()
        self.may_take = asyncio.Event()
        self.may_take.set()
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.may_start = asyncio.Event()
        self.may_start.set()
        self.is_resting = False
        """Whether its sessions say so."""
        self.protocols: list[str] = []
        self.others: tuple[str, ...] = ()

    async def start(self) -> None:
        await self.may_start.wait()
        if self.start_error is not None:
            raise self.start_error
        self.ready = self.ready or READY
        self.state, self.reason = "ready", ""

    async def open(self, options: SessionOptions, *, protocol: str) -> ScriptedSession:
        if self.state != "ready":
            raise NotReady(self.reason)
        if len(self.running) >= self.max_sessions:
            raise Overloaded(f"all {self.max_sessions} sessions are in use")
        session = ScriptedSession(self, f"s{len(self.sessions)}", options)
        self.sessions.append(session)
        self.running.add(session)
        self.protocols.append(protocol)
        self.session_opened.set()
        self.is_idle.clear()
        return session

    def forget(self, session: ScriptedSession) -> None:
        self.running.discard(session)
        if not self.running:
            self.is_idle.set()

    async def names(self) -> tuple[str, ...]:
        return (self.ready.model, *self.others) if self.ready else ()

    def status(self) -> PoolStatus:
        pid = self.ready.pid if self.ready else 0
        stats = STATS if self.ready else None
        return PoolStatus(self.state, self.reason, len(self.running), self.max_sessions, 0, pid, self.ready, stats)

    async def close(self, drain_s: float) -> None:
        self.state, self.reason = "draining", "the daemon is stopping"
        try:
            async with asyncio.timeout(drain_s):
                await self.is_idle.wait()
        except TimeoutError:
            for session in list(self.running):
                session.say(Failed(session.session_id, "not_ready", "the daemon is stopping", True))
