"""All sessions of one engine, decoded step by step on the caller's thread; no I/O, no thread, no waiting.

``feed`` and friends put work in, each ``step`` decodes one batch, ``take_events`` gives what was said. The worker's
:class:`~edge_asr.sessions.runner.Runner` drives it from a thread; ``transcribe`` drives it directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from edge_asr.audio import AudioChunk
from edge_asr.clock import Clock
from edge_asr.engines.base import Engine, EngineStream, StreamOptions
from edge_asr.errors import EdgeAsrError, EngineFailed, ProtocolViolation
from edge_asr.events import Notice, TranscriptEvent
from edge_asr.requests import Resume, SessionOptions
from edge_asr.sessions.busy_share import BusyShare
from edge_asr.sessions.credit import Credit
from edge_asr.sessions.gates import WakeOptions, live_gates, silence_gates, steps_of
from edge_asr.sessions.intake import Intake
from edge_asr.sessions.loop_figures import LoopFigures, Progress, progress_of, with_session
from edge_asr.sessions.scheduler import Scheduler
from edge_asr.sessions.session import Session
from edge_asr.sessions.session_settings import STEP_S, SessionSettings
from edge_asr.sessions.step_work import StepWork
from edge_asr.sessions.understanding import AS_THE_ENGINE_SAYS, Understanding
from edge_asr.settings import EndpointSettings, GateSettings, SchedulerSettings
from edge_asr.tally import BATCH_SIZES, STEPS_S, WAITS_S, Tally

NO_GATE = GateSettings(enabled=False)


@dataclass(slots=True)
class _Member:
    session: Session
    intake: Intake
    progress: Progress
    """What :meth:`DecodeLoop.take_progress` said last."""
    received_bytes: int = 0


def _nobody(_session_ids: Sequence[str]) -> None:
    """Nobody wants to know."""


class DecodeLoop:
    """Sessions, the scheduling policy and the engine."""

    def __init__(
        self,
        engine: Engine,
        endpoint: EndpointSettings,
        scheduler: SchedulerSettings,
        clock: Clock,
        understanding: Understanding = AS_THE_ENGINE_SAYS,
        *,
        gate: GateSettings = NO_GATE,
        wake: WakeOptions | None = None,
        on_native: Callable[[Sequence[str]], None] = _nobody,
        lead_in_s: float = 0.0,
        thread_clock: Clock | None = None,
    ) -> None:
        """Besides what the class says.

        Args:
            engine: What decodes.
            endpoint: When segments are closed.
            scheduler: How ready sessions share a step.
            clock: Where times come from.
            understanding: What becomes of what the engine hears.
            gate: Which silence of live sessions the engine does not get.
            wake: What live sessions need before anything is recognised in them; ``None`` for nothing.
            on_native: Told which sessions' audio native code is about to see, and ``()`` when it is back: if it ends
                the process, somebody knows whose audio it was.
            lead_in_s: Audio before what is settled that a loop is to hear first to which a session moves.
            thread_clock: Processor time of the thread that decodes; ``None`` where nobody asks how much its steps take.
        """
        self._on_native = on_native
        described = engine.describe()
        self._figures = LoopFigures()
        """Of sessions that have ended, and of the engine."""
        self.work = StepWork()
        self._engine = engine
        self._clock = clock
        self._thread_clock = thread_clock
        self.stepping_ns = 0
        """Of ``thread_clock``, within steps."""
        # A non-streaming model decodes whole stretches one after the other; a batch would only delay its first.
        self._scheduler = Scheduler.for_engine(scheduler, described.streams_per_step if described.is_streaming else 1)
        step_s = described.chunk_ms / 1000 or STEP_S
        self._stale_after_ns = round(step_s * 1e9)
        self._settings = SessionSettings(
            sample_rate_hz=engine.sample_rate_hz,
            endpoint=endpoint,
            backlog_s=scheduler.backlog_s,
            understanding=understanding,
            is_append_only=described.is_append_only,
            step_s=step_s,
            steps=steps_of(described) if described.is_streaming and described.chunk_ms else None,
            lead_in_s=lead_in_s if described.is_streaming else 0.0,
            accumulate_s=scheduler.accumulate_ms / 1000,
            open_gate=silence_gates(gate, described),
            open_live_gate=live_gates(gate, described, wake),
            may_imagine=described.may_imagine,
        )
        self._members: dict[str, _Member] = {}
        self._stirred: dict[str, Session] = {}
        """Sessions to which something has happened: the others cannot be ready, and need not be looked at."""
        self._touched: set[str] = set()
        self._queue_depth = 0
        self.batch_sizes = Tally(BATCH_SIZES)
        """Streams of each step."""
        self.steps = Tally(STEPS_S)
        """How long each step took, seconds."""
        self.waits = Tally(WAITS_S)
        """How long each stream of a step waited for it, seconds."""
        self._busy = BusyShare()
        self._wait_until_ns: int | None = None
        self._progress: dict[str, Progress] = {}
        """What :meth:`take_progress` gives next."""
        self._events: list[TranscriptEvent] = []

    def __len__(self) -> int:
        """Open sessions."""
        return len(self._members)

    def __contains__(self, session_id: str) -> bool:
        """Whether the session is open."""
        return session_id in self._members

    def open(self, session_id: str, options: SessionOptions, resume: Resume | None = None) -> None:
        """Begin a session, or go on with one that another worker had; a second of the same name is a ``ValueError``.

        Raises:
            ProtocolViolation: Its commands cannot be used.
        """
        if session_id in self._members:
            raise ValueError(f"session {session_id!r} is open already")
        listening = self._settings.understanding.listen(options.commands)
        expected = self._settings.understanding.expect(options.hotwords, listening.phrases)
        if expected.mistakes and resume is None:
            notice = Notice(session_id, "hotwords_ignored", expected.account, len(expected.mistakes))
            self._events.append(notice)
        writing = self._settings.understanding.write(options)
        if resume is None:
            self._events += (Notice(session_id, ignored.code, ignored.why) for ignored in writing.ignored)
        wishes = StreamOptions(
            partials=options.partials,
            language=options.language,
            is_batch=options.is_batch,
            closing_silence_ms=options.endpoint_silence_ms or self._settings.endpoint.silence_ms,
            constraint=listening.constraint,
            hotwords=expected.hotwords,
            bias=expected.bias,
        )

        def open_stream() -> EngineStream:
            return self._engine.open_stream(wishes)

        session = Session(
            session_id, options, self._settings, open_stream, self._clock, resume, listening, writing.writer
        )
        intake = Intake(options, self._engine.sample_rate_hz, resume)
        self._members[session_id] = _Member(session, intake, progress_of(session))

    def feed(self, session_id: str, chunk: AudioChunk) -> None:
        """Take a chunk of a source, at whatever rate; a session that was finished or has ended ignores it."""
        member = self._listening(session_id)
        if member is None:
            return
        try:
            chunk = member.intake.take_chunk(chunk)
            member.session.feed(chunk, member.intake.take_findings())
        except ValueError as error:
            self.fail(session_id, ProtocolViolation(str(error)))

    def feed_bytes(self, session_id: str, data: bytes) -> None:
        """Take audio as the client wrote it; a session that was finished or has ended ignores it."""
        member = self._listening(session_id)
        if member is not None:
            member.received_bytes += len(data)
            chunk = member.intake.take_bytes(data, self._clock.now_ns())
            member.session.feed(chunk, member.intake.take_findings())

    def flush(self, session_id: str) -> None:
        """Close the session's open segment once what was fed is decoded."""
        if member := self._listening(session_id):
            member.session.flush()

    def finish(self, session_id: str) -> None:
        """No more audio for the session."""
        if member := self._listening(session_id):
            rest = member.intake.end()
            member.session.feed(rest, member.intake.take_findings())
            member.session.finish()

    def fail(self, session_id: str, error: EdgeAsrError) -> None:
        """End the session with this error."""
        if member := self._members.get(session_id):
            member.session.fail(error)
            self._collect(member.session)

    def cancel(self, session_id: str) -> None:
        """Forget the session without a word."""
        if member := self._members.get(session_id):
            member.session.cancel()
            self._forget(member.session)

    def trust(self, session_id: str) -> None:
        """The session's audio did no harm: it may be decoded together with others."""
        if member := self._members.get(session_id):
            member.session.is_suspect = False

    def demand_s(self, session_id: str) -> float:
        """Seconds of audio the session takes now without its backlog overflowing; 0 when it has ended."""
        member = self._members.get(session_id)
        return member.session.demand_s if member is not None else 0.0

    def credit(self, session_id: str) -> Credit:
        """How it stands with the session's audio."""
        member = self._members.get(session_id)
        if member is None:
            return Credit()
        session = member.session
        waiting_bytes = round(session.backlog_s * session.options.bytes_per_second)
        quiet_samples = session.quiet_samples
        quiet_until_bytes = member.intake.bytes_until(quiet_samples) if quiet_samples else 0
        return Credit(
            consumed_bytes=max(0, member.received_bytes - waiting_bytes),
            is_resting=session.is_resting,
            quiet_until_bytes=quiet_until_bytes if quiet_until_bytes > member.received_bytes else 0,
            quiet_dbfs=session.quiet_dbfs,
        )

    @property
    def backlog_s(self) -> float:
        """Undecoded audio of all sessions, seconds."""
        return sum(member.session.backlog_s for member in self._members.values())

    def figures(self) -> LoopFigures:
        """What was done so far, open sessions included."""
        total = self._figures
        for member in self._members.values():
            total = with_session(total, member.session)
        return total

    def take_queue_depth(self) -> int:
        """Sessions that were ready for a step at once, the most since the last call."""
        depth, self._queue_depth = self._queue_depth, 0
        return depth

    def step(self) -> bool:
        """Decode one batch; ``False`` when no session had anything to decode, or more are to join: see ``wait_s``."""
        ready = [session for session in list(self._stirred.values()) if self._prepare(session)]
        now_ns = self._clock.now_ns()
        choice = self._scheduler.choose(ready, self._may_follow(ready), now_ns, self._busy.value)
        self._wait_until_ns = min((*_known(choice.wait_until_ns), *self._deadlines_of_finals()), default=None)
        self._queue_depth = max(self._queue_depth, len(ready))
        if not choice.batch:
            return False
        self._decode(choice.batch, now_ns)
        for session in choice.batch:
            self._collect(session)
        return True

    @property
    def wait_s(self) -> float | None:
        """Seconds after which ``step`` is to be called although nothing has come; ``None`` for never."""
        if self._wait_until_ns is None:
            return None
        return max(0.0, (self._wait_until_ns - self._clock.now_ns()) / 1e9)

    def _deadlines_of_finals(self) -> list[int]:
        """When finals that are on their way are no longer waited for."""
        awaiting = self._stirred.values()
        return [until_ns for session in awaiting for until_ns in _known(session.awaits_until_ns)]

    def _may_follow(self, ready: Sequence[Session]) -> int:
        """Live sessions that are not ready and may become so: silent ones will not."""
        if not ready:
            return 0
        sessions = [member.session for member in self._members.values()]
        awaited = sum(not session.options.is_batch and not session.is_parked for session in sessions)
        return awaited - sum(not session.options.is_batch and not session.is_parked for session in ready)

    def take_events(self) -> list[TranscriptEvent]:
        """Everything all sessions said since the last call; the order within a session is its own."""
        events, self._events = self._events, []
        return events

    def take_progress(self) -> dict[str, Progress]:
        """How far each session has settled its audio, for those that have since the last call."""
        progress, self._progress = self._progress, {}
        return progress

    def take_touched(self) -> set[str]:
        """Sessions that were looked at since the last call: only theirs is another backlog now."""
        touched, self._touched = self._touched, set()
        return touched

    def _note_progress(self, member: _Member) -> None:
        now = progress_of(member.session)
        before = member.progress
        if (now.position_s, now.segment, now.flushes) != (before.position_s, before.segment, before.flushes):
            start_s = now.lead_in.start_s if now.lead_in is not None else now.position_s
            now = replace(now, front=member.intake.mark_at(start_s))
            member.progress = self._progress[member.session.session_id] = now

    def _listening(self, session_id: str) -> _Member | None:
        """The session, if it can be told something; it will be looked at in the next step."""
        member = self._members.get(session_id)
        if member is None or not member.session.takes_audio:
            return None
        self._stirred[session_id] = member.session
        return member

    def _prepare(self, session: Session) -> bool:
        """Whether the session can be decoded; reading its last hypothesis may fail it, and only it."""
        self._enter_native(session.session_id)
        try:
            is_ready = session.prepare()
        except EngineFailed as error:
            session.fail(error)
            is_ready = False
        finally:
            self._enter_native()
        if not is_ready:
            if not session.is_awaiting_final:
                self._stirred.pop(session.session_id, None)
            self._collect(session)
        return is_ready

    def _enter_native(self, *session_ids: str) -> None:
        """Say whose audio native code sees from now on: these, and those whose segments a second model hears."""
        if self._settings.hears_again:  # else no session needs to be looked at, twice for each of them
            also = (each.session_id for each in self._stirred.values() if each.is_awaiting_final)
            session_ids = tuple(dict.fromkeys((*session_ids, *also)))
        self._on_native(session_ids)

    def _decode(self, batch: Sequence[Session], started_ns: int) -> None:
        self.batch_sizes.add(len(batch))
        for session in batch:
            self.waits.add(max(0, started_ns - session.ready_ns) / 1e9)
            session.is_late = session.options.is_live and started_ns > session.due_ns + self._stale_after_ns
        due_ns = [None if session.is_closing else session.due_ns for session in batch]
        worked_ns = self._thread_clock.now_ns() if self._thread_clock else 0
        self._enter_native(*(session.session_id for session in batch))
        try:
            self._engine.decode([session.stream for session in batch])
        except EngineFailed as error:
            for session in batch:
                session.fail(error)
        for session in batch:
            _look(session)
        self._enter_native()
        if self._thread_clock:
            self.stepping_ns += self._thread_clock.now_ns() - worked_ns
        ended_ns = self._clock.now_ns()
        self.steps.add((ended_ns - started_ns) / 1e9)
        self.work.add(batch, due_ns, started_ns, ended_ns)
        self._busy.add(started_ns, ended_ns)
        self._figures = replace(
            self._figures,
            decode_s=self._figures.decode_s + (ended_ns - started_ns) / 1e9,
            batches=self._figures.batches + 1,
            batched_streams=self._figures.batched_streams + len(batch),
        )

    def _collect(self, session: Session) -> None:
        self._events += session.take_events()
        self._touched.add(session.session_id)
        member = self._members.get(session.session_id)
        if member is None:
            return
        self._note_progress(member)
        if session.has_ended:
            self._forget(session)

    def _forget(self, session: Session) -> None:
        del self._members[session.session_id]
        self._stirred.pop(session.session_id, None)
        self._count(session)

    def _count(self, session: Session) -> None:
        self._figures = with_session(self._figures, session)


def _known(time_ns: int | None) -> tuple[int, ...]:
    return () if time_ns is None else (time_ns,)


def _look(session: Session) -> None:
    """See what the step gave; a hypothesis that cannot be read fails its own session, not the whole batch."""
    try:
        if not session.has_ended:
            session.after_decode()
    except EngineFailed as error:
        session.fail(error)
