"""One client's conversation as the front holds it: credits, events, and exactly one end. Asyncio, no numpy."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from edge_asr.clock import Clock
from edge_asr.errors import EdgeAsrError
from edge_asr.events import Failed, Final, Notice, Partial, SessionEnded, TranscriptEvent
from edge_asr.languages import speaks
from edge_asr.metrics.instruments import Instruments
from edge_asr.requests import SessionOptions
from edge_asr.sessions.credit import unconfirmed_s
from edge_asr.settings import SchedulerSettings
from edge_asr.workers.event_queue import EventQueue
from edge_asr.workers.gathering import Gathering
from edge_asr.workers.history import History, Recording
from edge_asr.workers.messages import (
    CancelSession,
    Consumed,
    FinishSession,
    FlushSession,
    OpenSession,
    Ready,
    SessionAudio,
    SessionRecording,
    Settled,
    TrustSession,
)
from edge_asr.workers.quiet_watch import QuietWatch
from edge_asr.workers.supervisor import Supervisor

_logger = logging.getLogger(__name__)

MOST_LOSSES = 5
"""Workers that may be lost over one and the same stretch of a session's audio, whoever was to blame."""

SAME_AUDIO_S = 0.5
"""Two deaths so close to each other in a session's audio are of the same audio; credits come every quarter second."""

RESTARTED = "the recogniser was restarted; nothing is lost"

PIECE_BYTES = 64 << 10
"""Audio is passed on in pieces of at most this, so that one session's big message does not hold up the others."""

HASTE_S = 2.0
"""Who has sent so much more than is known to be decoded sends a recording, and is not made to wait."""

LIVE_PATIENCE = 2.0
"""A worker keeps a live session's backlog bounded by dropping, and says so in credits. Without credit for so many
backlogs it does not even do that, and the front stops piling up audio."""


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What all sessions of a pool share."""

    scheduler: SchedulerSettings
    """Of their model."""
    instruments: Instruments
    clock: Clock
    on_end: Callable[[PoolSession], None]
    """Called once per session, when its slot is free."""


class PoolSession:
    """Implements :class:`~edge_asr.workers.base.RecognizerSession` over one worker after the other."""

    def __init__(
        self, session_id: str, options: SessionOptions, protocol: str, worker: Supervisor, context: SessionContext
    ) -> None:
        self.session_id = session_id
        self.protocol = protocol
        self.worker = worker
        self.opened_ns = context.clock.now_ns()
        patience = LIVE_PATIENCE if options.is_live else 1.0
        scheduler = context.scheduler
        self._limit_bytes = round(scheduler.backlog_s * patience * options.bytes_per_second)
        watch = QuietWatch(options.sample_rate_hz) if options.encoding == "s16le" and options.channels == 1 else None
        self._gathering = Gathering(options.bytes_per_second, scheduler.accumulate_ms / 1000, watch)
        self._context = context
        self._events = EventQueue()
        self._options = options
        self._history = History(options)
        self._base_bytes = 0
        """Position at which the current worker was given the session."""
        self._consumed_bytes = 0
        self._is_waiting = False
        """Between two workers: what the client sends is only remembered."""
        self._losses = 0
        self._accused_at: int | None = None
        """How far it was decoded when a worker ended over its audio."""
        self._suspected_until: int | None = None
        """Position up to which its audio may have ended a worker."""
        self._may_go_on = asyncio.Event()
        self._has_ended = False
        self._asked_ns: int | None = None
        if worker.state == "ready":
            worker.send(OpenSession(session_id, options))
        else:
            self._is_waiting = True

    # What the client wants.

    async def send(self, data: bytes) -> None:
        """Pass audio on; waits while too much is unacknowledged. After the end of the session it is ignored."""
        for piece in _pieces(data):
            await self._wait_for_credit(self._limit_bytes)
            if self._has_ended:
                return
            self._history.add(piece)
            if not self._is_waiting and (gathered := self._gathering.add(piece)):
                self._pass_on(gathered)
                await self.worker.drained()

    async def caught_up(self) -> None:
        """Wait until all that was sent is decoded, but for what the worker keeps until more comes."""
        if not self._is_waiting:
            self._pass_on(self._gathering.take())
        slack_s = unconfirmed_s(self._context.scheduler.accumulate_ms)
        await self._wait_for_credit(round(slack_s * self._options.bytes_per_second))

    async def send_recording(self, path: Path, max_duration_s: float) -> None:
        """Let the worker read the whole audio from a file, then finish."""
        if not self._has_ended:
            self._history.recording = Recording(path, max_duration_s)
            if not self._is_waiting:
                self.worker.send(SessionRecording(self.session_id, str(path), max_duration_s))

    async def flush(self) -> None:
        """Close the open segment now."""
        if not self._has_ended:
            self._asked_ns = self._context.clock.now_ns()
            self._history.flush()
            if not self._is_waiting:
                self._pass_on(self._gathering.take())
                self.worker.send(FlushSession(self.session_id))

    async def finish(self) -> None:
        """No more audio."""
        self.end_audio()

    def end_audio(self) -> None:
        """As :meth:`finish`, which never waits either."""
        if not self._has_ended:
            self._asked_ns = self._context.clock.now_ns()
            self._history.is_finished = True
            if not self._is_waiting:
                self._pass_on(self._gathering.take())
                self.worker.send(FinishSession(self.session_id))

    async def events(self) -> AsyncIterator[TranscriptEvent]:
        """Every event in order; ends after ``SessionEnded`` or ``Failed``, and without either after :meth:`cancel`."""
        while (event := await self._events.get()) is not None:
            yield event

    def cancel(self) -> None:
        """The client is gone; frees the slot at once."""
        if not self._has_ended:
            self.worker.send(CancelSession(self.session_id))
            self._events.clear()
            self._end("cancelled")

    # What the worker says.

    def take(self, event: TranscriptEvent) -> None:
        """An event of the session; ignored after its end."""
        if self._has_ended:
            return
        if isinstance(event, Partial):
            self._history.seen_revisions = event.revision + 1
        self._measure(event)
        self._events.put(event)
        if isinstance(event, SessionEnded):
            self._end("ended")
        elif isinstance(event, Failed):
            _logger.warning("%s session %s failed: %s", self.protocol, self.session_id, event.message)
            self._end(event.code)

    def settle(self, settled: Settled) -> None:
        """Finals, and audio that need not be said again."""
        if self._has_ended:
            return
        for final in settled.finals:
            self.take(final)
        self._history.settle(
            settled.position_s,
            settled.segment,
            settled.dropped_samples,
            settled.flushes,
            settled.lead_in,
            settled.front,
        )
        self._losses = 0
        if self._history.recording is not None:
            self._trust_beyond(self._accused_at)

    # From one worker to another.

    @property
    def ready(self) -> Ready | None:
        """What its worker has loaded; where finals are written otherwise than partials, no text only grows."""
        ready = self.worker.ready
        if ready is None or not (self._options.itn or self._options.punctuation):
            return ready
        return msgspec.structs.replace(ready, is_append_only=False)

    @property
    def is_resting(self) -> bool:
        """Whether there is silence, nothing waits to be said, and the client sends no faster than one speaks."""
        return self._gathering.is_resting and self._unconfirmed_bytes <= HASTE_S * self._options.bytes_per_second

    @property
    def is_batch(self) -> bool:
        """Whether nobody waits for its text."""
        return self._options.is_batch

    @property
    def wanted_model(self) -> str:
        """The model that the client asked for by name; empty when it did not."""
        return self._options.model

    @property
    def language(self) -> str:
        """What the client says it speaks; empty when it does not."""
        return self._options.language

    @property
    def is_settled(self) -> bool:
        """Whether nothing that it said waits for its final."""
        return not self._history.kept_bytes and self._history.recording is None

    @property
    def is_finishing(self) -> bool:
        """Whether the client sends no more."""
        return self._history.is_finished

    def move_to(self, worker: Supervisor) -> None:
        """Go on in another worker, which is ready: it is told everything that is not settled."""
        if not self._is_waiting:
            self.worker.send(CancelSession(self.session_id))
        if not _are_alike(self.worker.ready, worker.ready):
            self._history.forget_lead_in()
        self.worker = worker
        self.resume()

    def tell_model(self, before: str, now: str) -> None:
        """Let the client know that another model goes on."""
        message = f"the active model was changed from {before} to {now}; nothing is lost"
        self._events.put(Notice(self.session_id, "model_changed", message))

    def tell_lighter_model(self, active: str, lighter: str) -> None:
        """Let the client know that it does not get the active model."""
        message = f"{active} has no room at the moment; {lighter} serves this session"
        self._events.put(Notice(self.session_id, "lighter_model", message))

    def tell_other_languages(self, model: str, languages: tuple[str, ...]) -> None:
        """Let the client know where no model speaks its language: what it gets are words of another."""
        asked = self._options.language
        if speaks(languages, asked):
            return
        message = f"no installed model speaks {asked!r}; {model} hears {', '.join(languages)}"
        _logger.warning("%s session %s: %s", self.protocol, self.session_id, message)
        self._events.put(Notice(self.session_id, "language_ignored", message))

    @property
    def is_waiting(self) -> bool:
        """Whether it has no worker at the moment."""
        return self._is_waiting

    def lose_worker(self, suspects: Collection[str]) -> bool:
        """The worker has ended; whether the session waits for the next one, or has failed.

        Args:
            suspects: Sessions whose audio native code was looking at when it happened. One that is there again at the
                same place, and alone, is taken to be the cause.
        """
        self._is_waiting = True
        self._losses += 1
        if self.session_id in suspects:
            if len(suspects) == 1 and self._is_same_audio():
                return False
            self._accused_at = self._progress_bytes
            self._suspected_until = max(self._history.end_bytes - 1, self._suspected_until or 0)
        return self._losses < MOST_LOSSES

    def _is_same_audio(self) -> bool:
        if self._accused_at is None:
            return False
        return abs(self._progress_bytes - self._accused_at) <= SAME_AUDIO_S * self._options.bytes_per_second

    @property
    def _progress_bytes(self) -> int:
        """How far it was decoded: by its credits, or, as a recording has none, by what is settled."""
        if self._history.recording is None:
            return self._consumed_bytes
        return round(self._history.position_s * self._options.bytes_per_second)

    def _trust_beyond(self, position: int | None) -> None:
        """Past the audio that it was suspected for it may be decoded together with others again."""
        if self._suspected_until is not None and position is not None and self._progress_bytes > position:
            self._suspected_until = None
            self.worker.send(TrustSession(self.session_id))

    def resume(self) -> None:
        """A worker is ready: say everything again that is not settled."""
        history, worker = self._history, self.worker
        self._is_waiting = False
        self._gathering.begin(history.end_bytes)
        resume = history.resume(is_suspect=self._suspected_until is not None)
        worker.send(OpenSession(self.session_id, self._options, resume))
        self._base_bytes = self._consumed_bytes = history.start_bytes
        if history.recording is not None:
            path, longest_s = history.recording.path, history.recording.max_duration_s
            worker.send(SessionRecording(self.session_id, str(path), longest_s, resume.start_s))
        for piece in history.pieces():
            worker.send(FlushSession(self.session_id) if piece is None else SessionAudio(self.session_id, piece))
        if history.is_finished:
            worker.send(FinishSession(self.session_id))
        if self._losses:
            self._events.put(Notice(self.session_id, "engine_restarted", RESTARTED))

    def fail(self, error: EdgeAsrError) -> None:
        """End the session with this error; the worker forgets it, if there still is one."""
        self.worker.send(CancelSession(self.session_id))
        self.take(Failed(self.session_id, error.code, str(error), error.is_retryable))

    def credit(self, consumed: Consumed) -> None:
        """The worker says how it stands with the audio that it has got."""
        self._consumed_bytes = max(self._consumed_bytes, self._base_bytes + consumed.total_bytes)
        quiet_until = self._base_bytes + consumed.quiet_until_bytes if consumed.quiet_until_bytes else 0
        self._gathering.heed(
            quiet_until, self._step_bytes, is_resting=consumed.is_resting, quiet_dbfs=consumed.quiet_dbfs
        )
        self._pass_on(self._gathering.take_enough())
        self._may_go_on.set()
        self._trust_beyond(self._suspected_until)

    # Inside.

    def _pass_on(self, data: bytes) -> None:
        if data:
            self.worker.send(SessionAudio(self.session_id, data))

    @property
    def _step_bytes(self) -> float:
        """Of a decoding step; 0 where that is not known."""
        ready = self.worker.ready
        return ready.chunk_ms / 1000 * self._options.bytes_per_second if ready is not None else 0.0

    @property
    def _unconfirmed_bytes(self) -> int:
        return self._history.end_bytes - self._consumed_bytes

    async def _wait_for_credit(self, limit_bytes: int) -> None:
        while not self._has_ended and self._unconfirmed_bytes > limit_bytes:
            if not self._is_waiting:
                self._pass_on(self._gathering.take())  # which no credit can come for else
            self._may_go_on.clear()
            await self._may_go_on.wait()

    def _measure(self, event: TranscriptEvent) -> None:
        """How long the client waits between asking for the final and getting it, and how long the final travels."""
        if isinstance(event, Final):
            travelled_s = (self._context.clock.now_ns() - event.emitted_ns) / 1e9
            self._context.instruments.final_travelled(travelled_s)
        is_answer = isinstance(event, SessionEnded) or (
            isinstance(event, Final) and event.reason in ("flush", "end_of_audio")
        )
        if is_answer and self._asked_ns is not None:
            latency_s = (self._context.clock.now_ns() - self._asked_ns) / 1e9
            self._context.instruments.final_delivered(self.protocol, latency_s)
            self._asked_ns = None

    def _end(self, outcome: str) -> None:
        self._has_ended = True
        self._events.close()
        self._may_go_on.set()
        self._context.instruments.session_ended(self.protocol, outcome)
        self._context.on_end(self)


def _pieces(data: bytes) -> Iterator[bytes]:
    for start in range(0, len(data), PIECE_BYTES):
        yield data[start : start + PIECE_BYTES]


def _are_alike(before: Ready | None, now: Ready | None) -> bool:
    """Whether what one has heard last leads the other in: the same model, in the same steps."""
    if before is None or now is None:
        return False
    return (before.model, before.sample_rate_hz, before.chunk_ms) == (now.model, now.sample_rate_hz, now.chunk_ms)
