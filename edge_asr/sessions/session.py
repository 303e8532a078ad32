"""One client's conversation: audio in, transcript events out; no I/O, no thread, no clock of its own.

The owner feeds audio at the engine's rate, asks :meth:`Session.prepare` whether a decoding step is possible, lets the
engine decode ``session.stream`` and then calls :meth:`Session.after_decode`; events come out of ``take_events``.
A session always ends with exactly one ``SessionEnded`` or ``Failed``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from edge_asr.audio import AudioChunk
from edge_asr.clock import Clock
from edge_asr.commands.listening import OPEN_SPEECH, Heard, Listening
from edge_asr.engines.base import EngineStream, Hypothesis
from edge_asr.errors import EdgeAsrError
from edge_asr.events import Failed, FinalReason, Notice, NoticeCode, SessionEnded, TranscriptEvent
from edge_asr.pipeline.front import Finding
from edge_asr.pipeline.presence import SpeechPresence
from edge_asr.pipeline.text import CASES
from edge_asr.pipeline.writing import AS_HEARD, Writer
from edge_asr.requests import Resume, SessionOptions
from edge_asr.sessions.awaited_final import AwaitedFinal
from edge_asr.sessions.deadline import Deadline
from edge_asr.sessions.gated_stream import GatedStream
from edge_asr.sessions.lead_in import Rehearsal, lead_in, start_of
from edge_asr.sessions.reception import Reception
from edge_asr.sessions.second_hearing import Closing, PassOutcome, SaidFinal
from edge_asr.sessions.segment import Segment, SegmentSettings
from edge_asr.sessions.session_settings import STEP_S, SessionSettings

NOTICE_EVERY_S = 10.0
"""Audio between two notices of the same kind."""

SPOKEN_BEFORE_S = 1.0
"""A word may be written so long after it was said, also when its segment was cut in between."""

MARKS_REACH_S = 4.0
"""Between what was decoded and what was received, at most, where decoding keeps up."""


class Session:
    """The state between one ``Open`` and one ``SessionEnded`` or ``Failed``."""

    def __init__(
        self,
        session_id: str,
        options: SessionOptions,
        settings: SessionSettings,
        open_stream: Callable[[], EngineStream],
        clock: Clock,
        resume: Resume | None = None,
        listening: Listening = OPEN_SPEECH,
        writer: Writer = AS_HEARD,
    ) -> None:
        self.session_id = session_id
        self.options = options
        self.has_ended = False
        self.dropped_samples = resume.dropped_samples if resume else 0
        self.replaced_samples = 0
        self.settled_s = resume.position_s if resume else 0.0
        """Client time up to which everything that was said is in a final, or was nothing."""
        self.lead_in = resume.lead_in if resume else None
        """What another worker is to hear before that."""
        self.is_suspect = resume is not None and resume.is_suspect
        """Whether its audio may end the process: it is decoded alone."""
        self.is_late = False
        """Whether decoding is so late that a partial may be stale when it is read; set by the owner."""
        self.second_passes = Counter[PassOutcome]()
        """What became of the second passes of its segments."""
        self.flushes_done = 0
        """Flushes that were answered."""
        self._settings = settings
        self._open_stream = open_stream
        self._clock = clock
        self._listening = listening
        self._start = start_of(resume, self._samples(settings.step_s), settings.sample_rate_hz)
        self._reception = Reception(
            self._start.position, settings.sample_rate_hz, settings.backlog_s, resume.replayed_s if resume else 0.0
        )
        settled = self._samples(self.settled_s)
        self._rehearsal = Rehearsal(self._start, settled)
        gate = settings.gate_of(options, is_resumed=resume is not None)
        self._awaited: AwaitedFinal | None = None
        """A final that is on its way; nothing is decoded before it is said."""
        self._presence = SpeechPresence(settings.sample_rate_hz) if settings.may_imagine else None
        self._spoken_at = self._start.position - self._samples(SPOKEN_BEFORE_S)
        """Position up to which something could be speech."""
        remembered = self._samples(MARKS_REACH_S) if settings.lead_in_s else 0
        self._input = GatedStream(
            open_stream(), gate, self._start, remembered, steps=settings.steps, keeps_audio=settings.hears_again
        )
        self._segment = Segment(
            SegmentSettings(
                session_id,
                options,
                settings.sample_rate_hz,
                settings.endpoint_of(options),
                CASES[settings.understanding.text_case],
                writer,
                settings.is_append_only,
                settings.understanding.calibration,
            ),
            clock,
            self._input.in_session,
            number=resume.segment if resume else 0,
            start=settled,
            revision=resume.revision if resume else 0,
        )
        self._deadline = Deadline(round(settings.step_s * 1e9))
        self._is_ready = False
        """Whether the stream is known to be ready for a step."""
        self._arrived_ns = 0
        """When the newest audio that the engine has seen arrived."""
        self._events: list[TranscriptEvent] = []
        self._noticed_at: dict[str, int] = {}

    # Audio in.

    def feed(self, chunk: AudioChunk, findings: Sequence[Finding] = ()) -> None:
        """Take audio at the engine's rate; ignored after ``finish`` and after the end.

        Args:
            chunk: Its samples are finite.
            findings: What was found on the way here; announced.
        """
        if not self.takes_audio:
            return
        for finding in findings:
            self.replaced_samples += finding.count if finding.code == "samples_replaced" else 0
            self._notice(finding.code, finding.message, finding.count)
        if chunk.gap_samples:
            self._count_dropped(chunk.gap_samples, "lost by the audio source")
        if self.backlog_s <= STEP_S and not self._is_ready:
            self._deadline.catch_up()
        self._reception.take(chunk, chunk.captured_ns or self._clock.now_ns())
        if self.options.is_live and (dropped := self._reception.drop_what_is_too_old()):
            self._count_dropped(dropped, "dropped, since decoding is slower than speech")

    def flush(self) -> None:
        """Close the open segment as soon as everything received so far is decoded; the session goes on."""
        if self.takes_audio:
            self._reception.flush()

    def finish(self) -> None:
        """No more audio: the rest is decoded, then the session ends."""
        if not self.has_ended:
            self._reception.is_ending = True

    def fail(self, error: EdgeAsrError) -> None:
        """End with ``Failed``; what was recognised but not final is lost."""
        if not self.has_ended:
            self._end(Failed(self.session_id, error.code, str(error), error.is_retryable))

    def cancel(self) -> None:
        """Nobody listens any more: free the stream, say nothing."""
        if not self.has_ended:
            self.has_ended = True
            self._close()

    # What the owner asks.

    @property
    def stream(self) -> EngineStream:
        """The engine's state, which is decoded next."""
        return self._input.stream

    @property
    def segments(self) -> int:
        """Finals so far, which is also the number of the open segment."""
        return self._segment.number

    @property
    def stale_partials(self) -> int:
        """Partials that were not said because decoding was late."""
        return self._segment.stale_partials

    @property
    def takes_audio(self) -> bool:
        """Whether the session was neither finished nor has ended."""
        return not self.has_ended and not self._reception.is_ending

    @property
    def backlog_s(self) -> float:
        """Seconds of audio received and not yet given to the engine."""
        return self._reception.waiting_s

    @property
    def demand_s(self) -> float:
        """Seconds of audio the session takes before its backlog is full."""
        return max(0.0, self._settings.backlog_s - self.backlog_s)

    @property
    def ready_ns(self) -> int:
        """When the audio of the next step was complete."""
        return self._deadline.ready_ns

    @property
    def due_ns(self) -> int:
        """When the next step is to be done."""
        return self._deadline.due_ns

    @property
    def is_closing(self) -> bool:
        """Whether only the end of the stream is left to decode: somebody waits for the final."""
        return self._input.is_finished

    @property
    def is_parked(self) -> bool:
        """Whether it is silent, and will not be ready before there is sound."""
        return self._input.is_silent

    @property
    def is_resting(self) -> bool:
        """Whether it is silent and nothing waits to be said: nobody notices when it is looked at a little later."""
        is_waking = self._settings.open_live_gate is not None and self.options.is_live
        is_closing = self._reception.has_flush or self._reception.is_ending
        return self._input.is_silent and not (self._segment.is_started or is_closing or is_waking)

    @property
    def quiet_dbfs(self) -> float | None:
        """The loudest audio, in frames of 20 ms, with which it rests on; ``None`` where loudness does not tell."""
        return self._input.quiet_dbfs if self.is_resting else None

    @property
    def quiet_samples(self) -> int:
        """Further audio with which nothing can come to pass before all of it is there: no step, no end of a segment.

        0 where something may come to pass at any time, or nobody knows.
        """
        if self.is_awaiting_final or self._reception.has_flush or not self.takes_audio or not self._rehearsal.is_over:
            return 0
        return self._input.quiet_samples(self._reception.waiting)

    @property
    def is_awaiting_final(self) -> bool:
        """Whether a final is on its way from other models: nothing is decoded before it is said."""
        return self._awaited is not None

    @property
    def awaits_until_ns(self) -> int | None:
        """When a final that is on its way is no longer waited for; ``None`` where there is no such time."""
        return self._awaited.deadline_ns if self._awaited is not None else None

    @property
    def skipped_s(self) -> float:
        """Seconds of silence that the engine did not get."""
        return self._seconds(self._input.skipped_samples)

    @property
    def received_s(self) -> float:
        """Seconds of audio since the session began, lost audio included."""
        return self._seconds(self._reception.received)

    @property
    def heard_s(self) -> float:
        """Of them, those that came to this worker."""
        return self._seconds(self._reception.received - self._start.position)

    def prepare(self) -> bool:
        """Move audio towards the engine; whether the stream is ready for a decoding step.

        Also ends segments and the session when everything is decoded, so call it once more after ``finish``.
        """
        while self._is_final_said() and not self.has_ended:
            if self.stream.is_ready():
                self._note_ready()
                return True
            due = self._reception.due
            if not due and self._reception.has_enough(self._settings.accumulate_s):
                self._give()
                self._judge_silence()
            elif due and not self._input.is_finished and not self._input.is_silent:
                self._input.finish()
            elif due:
                self._close_stream(due)
            else:
                return False
        return False

    # What the engine said.

    def after_decode(self) -> None:
        """Look at the hypothesis of the step just done: a partial, an endpoint, or nothing new."""
        self._is_ready = False
        self._input.count_step()
        if not self._rehearsal.is_over:
            self._rehearse()
            return
        understood = self._understand()
        heard = self._input.in_session(understood.hypothesis.decoded_samples)
        if partial := self._segment.look(understood.hypothesis, heard, is_late=self.is_late):
            self._events.append(partial)
        self._close_segment_where_due(understood, heard, settled=heard)

    def _understand(self) -> Heard:
        """What is to be said of the newest hypothesis; nothing, where nobody can have said anything."""
        hypothesis = self.stream.hypothesis()
        if self._presence is not None and hypothesis.text and not self._could_be_said:
            hypothesis = Hypothesis("", (), hypothesis.decoded_samples, hypothesis.is_complete)
        return self._listening.understand(hypothesis)

    @property
    def _could_be_said(self) -> bool:
        """Whether there was anything like speech in the open segment, or just before it."""
        return self._spoken_at > self._segment.start - self._samples(SPOKEN_BEFORE_S)

    def _rehearse(self) -> None:
        """What the step gave was said by another worker, up to where that one had got."""
        decoded = self.stream.hypothesis().decoded_samples
        if self._rehearsal.has_heard(self._input.in_session(decoded)):
            self._end_rehearsal()

    def _end_rehearsal(self) -> None:
        self._rehearsal.is_over = True
        self._input.reset(self.stream.hypothesis().decoded_samples)

    def take_events(self) -> list[TranscriptEvent]:
        """Everything said since the last call, in order."""
        events, self._events = self._events, []
        return events

    # Audio on its way.

    def _note_ready(self) -> None:
        if self._is_ready:
            return
        self._is_ready = True
        if self._input.is_finished:
            self._deadline.set_end(self._arrived_ns)
        else:
            self._deadline.set(self._arrived_ns)

    def _give(self) -> None:
        piece = self._reception.pass_on(max(self._samples(STEP_S), self._input.quiet_samples()))
        self._arrived_ns = piece.arrived_ns
        if piece.gap_samples:
            self._segment.skip(piece.gap_samples)
        self._input.give(piece)
        if self._presence is not None and self._presence.hear(piece.samples):
            self._spoken_at = self._reception.position
        if phrase := self._input.take_phrase():
            self._events.append(Notice(self.session_id, "wake_word", phrase))

    def _judge_silence(self) -> None:
        """Silence that the engine never sees ends segments all the same."""
        if not self._input.is_parked:
            return
        if self._rehearsal.is_over:
            settled = self._reception.position - self._input.held_samples
            self._close_segment_where_due(self._understand(), self._reception.position, settled)
        elif self._rehearsal.has_passed(self._reception.position):
            self._end_rehearsal()

    def _count_dropped(self, samples: int, how: str) -> None:
        self.dropped_samples += samples
        self._notice("audio_dropped", f"{samples / self._settings.sample_rate_hz:.2f} s of audio were {how}", samples)

    def _notice(self, code: NoticeCode, message: str, count: int) -> None:
        last = self._noticed_at.get(code)
        if last is not None and self._reception.received - last < NOTICE_EVERY_S * self._settings.sample_rate_hz:
            return
        self._noticed_at[code] = self._reception.received
        self._events.append(Notice(self.session_id, code, message, count))

    # Segments and the end.

    def _close_segment_where_due(self, understood: Heard, heard: int, settled: int) -> None:
        """Close the segment, if a rule says so, and begin the next one.

        Args:
            understood: The newest hypothesis.
            heard: Position, as samples received, up to which it is known what was said.
            settled: Position up to which everything is done with then.
        """
        endpoint = self._segment.endpoint(understood.hypothesis, heard)
        if endpoint is None:
            return

        def go_on() -> None:
            # A word may have begun that the model has not written yet.
            keep = 0 if understood.hypothesis.text else self._samples(SPOKEN_BEFORE_S)
            self._input.reset(understood.hypothesis.decoded_samples, keep)
            self._segment.begin(heard)
            self._settle(max(self._samples(self.settled_s), settled))

        self._close_segment(Closing(understood, endpoint.reason, heard, go_on))

    def _close_segment(self, closing: Closing) -> None:
        """Say the final, at once or when the other models have heard the segment too; then go on."""
        understood, speakers = closing.understood, self._settings.understanding.speaker_hearing
        second = self._settings.understanding.second_hearing if understood.command is None else None
        says_nothing = understood.command is None and not understood.hypothesis.text
        if says_nothing or self.is_suspect or (second is None and speakers is None):
            self._say_final(closing, SaidFinal(understood))
            return
        begin, samples = self._input.segment_audio(understood.hypothesis.decoded_samples)
        rate_hz, is_batch = self._settings.sample_rate_hz, self.options.is_batch
        text = (
            SaidFinal(understood)
            if second is None
            else second.ask(closing, samples, begin / rate_hz, rate_hz, is_batch=is_batch)
        )
        speaker = speakers.ask(samples, rate_hz, is_batch=is_batch) if speakers else None
        self._awaited = AwaitedFinal(closing, text, speaker)
        self._is_final_said()

    def _is_final_said(self) -> bool:
        """Whether no final is on its way; one that has come, or is too late, is said now."""
        if self._awaited is None:
            return True
        said = self._awaited.outcome(self._clock.now_ns())
        if said is None:
            return False
        closing, self._awaited = self._awaited.closing, None
        self._say_final(closing, said)
        return True

    def _settle(self, position: int) -> None:
        """Everything up to this position, in samples received, is said."""
        self.settled_s = self._seconds(position)
        mark, longest = self._input.mark_before(position), self._samples(self._settings.lead_in_s)
        self.lead_in = lead_in(mark, longest, self._start.step, self._settings.sample_rate_hz)

    def _say_final(self, closing: Closing, said: SaidFinal) -> None:
        if said.outcome:
            self.second_passes[said.outcome] += 1
        if said.why_first:
            self._notice("second_pass_skipped", f"a final is the first model's: {said.why_first}", 0)
        understood = self._listening.conclude(said.understood)
        if final := self._segment.close(understood, closing.reason, closing.heard, said.case, said.speaker):
            self._events.append(final)
        closing.go_on()
        if final and closing.reason == "silence":
            self._input.settle()

    def _close_stream(self, due: Literal["flush", "end"]) -> None:
        """Everything given is decoded: close the segment, then go on or end."""
        if not self._rehearsal.is_over:
            self._end_rehearsal()
        understood = self._understand()
        decoded = self._input.in_session(understood.hypothesis.decoded_samples)
        heard = self._reception.position if self._input.is_silent else decoded
        reason: FinalReason = "end_of_audio" if due == "end" else "flush"
        go_on = self._end_well if due == "end" else self._go_on_after_flush
        self._close_segment(Closing(understood, reason, heard, go_on))

    def _end_well(self) -> None:
        self.settled_s, self.lead_in = self.received_s, None
        self._end(SessionEnded(self.session_id, self.received_s, self.dropped_samples))

    def _go_on_after_flush(self) -> None:
        self._reception.answer_flush()
        self.flushes_done += 1
        self.settled_s, self.lead_in = self._seconds(self._reception.position), None
        self._is_ready = False
        self._input.renew(self._open_stream(), self._reception.position)
        self._segment.begin(self._reception.position)

    def _end(self, event: SessionEnded | Failed) -> None:
        self._events.append(event)
        self.has_ended = True
        self._close()

    def _close(self) -> None:
        self.stream.close()
        if self._awaited is not None:
            self._awaited.give_up()
            self._awaited = None

    def _seconds(self, samples: int) -> float:
        return samples / self._settings.sample_rate_hz

    def _samples(self, seconds: float) -> int:
        return round(seconds * self._settings.sample_rate_hz)
