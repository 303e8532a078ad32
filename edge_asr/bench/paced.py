"""At the pace of speech: several listeners talk to the recogniser as microphones would, and every delay is seen.

Pieces are released on absolute deadlines, so that one late piece does not shift the rest, and time stamps are those of
the deadline, never of the moment at which we got round to it: what we were late ourselves counts as waiting. Lateness
that is not the recogniser's doing (the system woke us late from sleep) is kept apart as jitter.

Each listener plays one recording after the other, each in a session of its own. Every second one is ended at once when
its last sample is out, which gives the flush latency; the others go on with silence until the endpoint rule has closed
the segment.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from edge_asr.bench.document import Chunks, Utterance
from edge_asr.bench.hearing import Asked, Hearing, Schedule, utterance_of
from edge_asr.bench.recorder import RecordedStream
from edge_asr.bench.rig import Rig
from edge_asr.bench.thinning import Thinned
from edge_asr.events import Failed, Final, SessionEnded, TranscriptEvent
from edge_asr.requests import SessionOptions
from edge_asr.workload import ClipAudio

PAUSE_S = 0.3
"""Between two recordings of one listener."""

PATIENCE_S = 8.0
"""Silence in which the endpoint rule must have spoken; then the session is ended."""

HOPELESS_S = 20.0
"""Backlog at which the recogniser will never keep up, and measuring on would only fill memory."""

LAST_WORD_S = 1.0
"""A final whose last word ends so long before the speech does closed an earlier segment."""

_INSTANT_S = 1e-6
"""Less than a sample: what adding up seconds may be off by."""

_NEVER = 1 << 62

Phase = Literal["pause", "speech", "silence", "closing", "done"]


@dataclass(slots=True)
class Paced:
    """What came out."""

    utterances: Thinned[Utterance] = field(default_factory=Thinned)
    audio_s: float = 0.0
    """Of the sources, all listeners."""
    jitter_ms: Thinned[float] = field(default_factory=Thinned)
    jitter_max_ms: float = 0.0
    backlog_max_s: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    """Sessions that failed, by reason."""
    is_hopeless: bool = False
    """The recogniser fell behind without end and the run was cut short."""


def measure_paced(
    rig: Rig,
    clips: Sequence[ClipAudio],
    *,
    streams: int,
    seconds: float,
    sleep: Callable[[float], None],
    waits_for_rule: bool = True,
) -> Paced:
    """Let ``streams`` listeners talk for ``seconds``; recordings that were begun are played to their end.

    Args:
        rig: What decodes; nothing else is open in it.
        clips: At least one; each listener begins the list at another place.
        streams: Listeners.
        seconds: No recording begins later.
        sleep: Waits so many seconds, or until a final is ready that was waited for.
        waits_for_rule: Whether every second recording is left to the endpoint rule.
    """
    outcome = Paced(Thinned(rig.notebook.most_utterances), jitter_ms=Thinned(rig.notebook.most_steps))
    t0_ns = rig.clock.now_ns() + 50_000_000
    period_s = max(rig.engine.describe().chunk_ms, rig.piece_ms) / 1000
    players = [
        _Player(
            rig,
            stream,
            clips,
            start_ns=t0_ns + round(stream / streams * period_s * 1e9),
            last_start_ns=t0_ns + round(seconds * 1e9),
            waits_for_rule=waits_for_rule,
        )
        for stream in range(streams)
    ]
    _Stage(rig, players, outcome, sleep).run()
    return outcome


def chunks_of(rig: Rig, outcome: Paced) -> Chunks:
    """The steps since the engine's records were cleared."""
    engine, steps = rig.engine, rig.engine.steps.items()
    return Chunks(
        chunk_ms=engine.describe().chunk_ms,
        compute_ms=tuple(round(step.compute_ms, 3) for step in steps),
        latency_ms=tuple(round(step.latency_ms, 3) for step in steps),
        at_s=tuple(round((step.at_ns - rig.started_ns) / 1e9, 3) for step in steps),
        jitter_ms=tuple(round(value, 3) for value in outcome.jitter_ms.items()),
        backlog_max_s=round(outcome.backlog_max_s, 3),
        steps=engine.steps.count,
        missed=engine.missed,
        compute_max_ms=round(engine.compute_max_ms, 3),
        latency_max_ms=round(engine.latency_max_ms, 3),
        jitter_max_ms=round(outcome.jitter_max_ms, 3),
    )


def is_ended_at_once(number: int, clips: int) -> bool:
    """Whether a listener's recording of this number is; alternates from clip to clip, and for each between passes."""
    turn, place = divmod(number, clips)
    return (turn + place) % 2 == 0


class _Player:
    """One listener and its recordings."""

    def __init__(
        self,
        rig: Rig,
        stream: int,
        clips: Sequence[ClipAudio],
        *,
        start_ns: int,
        last_start_ns: int,
        waits_for_rule: bool,
    ) -> None:
        self.session_id = ""
        self.due_ns = start_ns
        """When the listener does something next."""
        self.phase: Phase = "pause"
        self._rig = rig
        self._stream = stream
        self._clips = clips
        self._last_start_ns = last_start_ns
        self._waits_for_rule = waits_for_rule
        self._number = stream
        self._hearing = Hearing()
        self._schedule = Schedule(0, 0.0, 0.0)
        self._pieces: Iterator[bytes] = iter(())
        self._stream_state: RecordedStream | None = None
        self._fed_s = 0.0
        self._released_ns = 0
        self._is_closed = False
        """Whether the endpoint rule has closed the segment of the last word."""

    @property
    def _clip(self) -> ClipAudio:
        return self._clips[self._number % len(self._clips)]

    @property
    def _is_flushed(self) -> bool:
        return not self._waits_for_rule or is_ended_at_once(self._number, len(self._clips))

    def act(self) -> None:
        """What is due."""
        if self.phase == "pause":
            self._begin()
        elif self.phase == "speech":
            self._speak()
        elif self.phase == "silence":
            self._be_silent()

    def hear(self, event: TranscriptEvent, now_ns: int) -> Utterance | None:
        """Take an event of the session; the utterance once the session is over."""
        self._hearing.hear(event, now_ns, self._needed_ns())
        if isinstance(event, Final) and event.end_s >= self._schedule.end_s - LAST_WORD_S:
            self._is_closed = True
            if self.phase == "silence":
                self._finish()
        if not isinstance(event, SessionEnded | Failed):
            return None
        clip = self._clip
        asked = Asked(
            clip.clip.name, self._stream, clip.audio_s, clip.clip.reference, self._rig.language, clip.clip.words
        )
        utterance = utterance_of(asked, self._hearing, self._schedule)
        self._number += 1
        self.phase, self.due_ns = "pause", now_ns + round(PAUSE_S * 1e9)
        if self.due_ns > self._last_start_ns or self._rig.is_stopping():
            self.phase, self.due_ns = "done", _NEVER
        return utterance

    def _begin(self) -> None:
        clip = self._clip
        self.session_id = f"stream-{self._stream}-{self._number}"
        self._hearing = Hearing()
        self._schedule = Schedule(self.due_ns, clip.onset_s, clip.end_s)
        self._pieces = clip.pieces(self._rig.piece_ms)
        self._fed_s, self._released_ns, self._is_closed = 0.0, self.due_ns, False
        schedule, released_at = self._schedule, self._released_at
        self._rig.engine.expect(lambda position_s: released_at(schedule, clip.audio_s, position_s))
        self._rig.loop.open(
            self.session_id, SessionOptions(sample_rate_hz=clip.sample_rate_hz, language=self._rig.language)
        )
        self._stream_state = self._rig.engine.newest
        self.phase = "speech"
        self._wait_for(min(self._rig.piece_ms / 1000, clip.audio_s))

    def _released_at(self, schedule: Schedule, audio_s: float, position_s: float) -> int:
        """When the piece that holds the position was delivered; the recording's last piece may be shorter."""
        if position_s <= audio_s + _INSTANT_S:
            end_s = min(self._in_pieces(position_s), audio_s)
        else:
            end_s = audio_s + self._in_pieces(position_s - audio_s)
        return min(schedule.at(end_s), self._released_ns)

    def _in_pieces(self, seconds: float) -> float:
        piece_s = self._rig.piece_ms / 1000
        return math.ceil(seconds / piece_s - _INSTANT_S) * piece_s

    def _needed_ns(self) -> int:
        """When the newest audio that the engine has taken was delivered: what came later changed nothing yet."""
        stream = self._stream_state
        if stream is None:
            return self._released_ns
        return self._released_at(self._schedule, self._clip.audio_s, stream.accepted_s)

    def _wait_for(self, more_s: float) -> None:
        self.due_ns = self._schedule.at(self._fed_s + more_s)

    def _speak(self) -> None:
        piece = next(self._pieces)
        self._feed(piece)
        rest_s = self._clip.audio_s - self._fed_s
        if rest_s > _INSTANT_S:
            self._wait_for(min(self._rig.piece_ms / 1000, rest_s))
        elif self._is_flushed:
            self._schedule = replace(self._schedule, finished_ns=self._released_ns)
            self._finish()
        elif self._is_closed:  # by the silence at the end of the recording itself
            self._finish()
        else:
            self.phase = "silence"
            self._wait_for(self._rig.piece_ms / 1000)

    def _be_silent(self) -> None:
        samples = self._clip.sample_rate_hz * self._rig.piece_ms // 1000
        self._feed(bytes(2 * samples))
        if self._fed_s > self._clip.audio_s + PATIENCE_S:
            self._finish()
        else:
            self._wait_for(self._rig.piece_ms / 1000)

    def _feed(self, piece: bytes) -> None:
        self._rig.loop.feed_bytes(self.session_id, piece)
        self._fed_s += len(piece) / 2 / self._clip.sample_rate_hz
        self._released_ns = self.due_ns

    def _finish(self) -> None:
        self._rig.loop.finish(self.session_id)
        self.phase, self.due_ns = "closing", _NEVER


class _Stage:
    """Everything that happens between the listeners and the recogniser, on one thread as in the worker."""

    def __init__(self, rig: Rig, players: Sequence[_Player], outcome: Paced, sleep: Callable[[float], None]) -> None:
        self._rig = rig
        self._players = players
        self._outcome = outcome
        self._sleep = sleep

    def run(self) -> None:
        while not self._outcome.is_hopeless and any(player.phase != "done" for player in self._players):
            self._act()
            is_busy = self._rig.loop.step()
            self._deliver()
            self._rig.sample(self._rig.engine.decoded_s)
            if not is_busy:
                self._wait()
        for player in self._players:
            self._rig.loop.cancel(player.session_id)

    def _act(self) -> None:
        now_ns = self._rig.clock.now_ns()
        due = sorted((player for player in self._players if player.due_ns <= now_ns), key=lambda player: player.due_ns)
        for player in due:
            while player.due_ns <= now_ns:  # what was missed while a step ran is made up for at once
                player.act()
        if due:
            backlog_s = self._rig.loop.backlog_s
            self._outcome.backlog_max_s = max(self._outcome.backlog_max_s, backlog_s)
            self._outcome.is_hopeless = backlog_s > HOPELESS_S * len(self._players)

    def _deliver(self) -> None:
        for event in self._rig.loop.take_events():
            player = next(player for player in self._players if player.session_id == event.session_id)
            if isinstance(event, Failed):
                self._outcome.failures[event.message] += 1
            utterance = player.hear(event, self._rig.clock.now_ns())
            if utterance is not None:
                self._outcome.utterances.add(utterance)
                self._outcome.audio_s += utterance.audio_s

    def _wait(self) -> None:
        due_ns = min(player.due_ns for player in self._players)
        early_ns = due_ns - self._rig.clock.now_ns()
        window_s = self._rig.loop.wait_s
        if window_s is not None and window_s < early_ns / 1e9:
            self._sleep(window_s)  # for more streams to share the next step
        elif due_ns != _NEVER and early_ns > 0:
            self._sleep(early_ns / 1e9)
            late_ns = self._rig.clock.now_ns() - due_ns
            if late_ns >= 0:  # else a final was ready before
                self._outcome.jitter_ms.add(late_ns / 1e6)
                self._outcome.jitter_max_ms = max(self._outcome.jitter_max_ms, late_ns / 1e6)
