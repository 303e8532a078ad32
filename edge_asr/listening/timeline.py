"""One course of time over several sessions: each loss of the microphone ends one, and the next begins at 0. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from edge_asr.events import Final, Partial, TranscriptEvent, Word


class Timeline:
    """Times since the microphone was opened first, and segments numbered through."""

    def __init__(self) -> None:
        self._first_ns: int | None = None
        self._segments = 0

    def position_s(self, captured_ns: int) -> float:
        """Seconds between the first sample ever and a moment."""
        if self._first_ns is None:
            self._first_ns = captured_ns
        return (captured_ns - self._first_ns) / 1e9

    def begin_session(self, first_sample_ns: int) -> SessionTimeline:
        """A session whose first sample was captured at this moment."""
        return SessionTimeline(self, self.position_s(first_sample_ns))

    def next_segment(self) -> int:
        """A number for a segment."""
        self._segments += 1
        return self._segments - 1


class SessionTimeline:
    """One session on it."""

    def __init__(self, timeline: Timeline, start_s: float) -> None:
        self._timeline = timeline
        self._start_s = start_s
        self._numbers: dict[int, int] = {}

    def shifted(self, event: TranscriptEvent) -> TranscriptEvent:
        """The event in the time of the microphone."""
        if not isinstance(event, Partial | Final):
            return event
        times = {
            "segment": self._number(event.segment),
            "start_s": event.start_s + self._start_s,
            "end_s": event.end_s + self._start_s,
        }
        if isinstance(event, Partial):
            return msgspec.structs.replace(event, **times)
        return msgspec.structs.replace(event, **times, words=self._words(event.words))

    def _number(self, segment: int) -> int:
        if segment not in self._numbers:
            self._numbers = {segment: self._timeline.next_segment()}  # segments of a session come one after the other
        return self._numbers[segment]

    def _words(self, words: Sequence[Word]) -> tuple[Word, ...]:
        return tuple(Word(w.text, w.start_s + self._start_s, w.end_s + self._start_s, w.confidence) for w in words)
