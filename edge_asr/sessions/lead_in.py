"""What a session heard just before its last final, heard again by a fresh stream: words hang on what came before.

A worker that takes a session over begins with a stream that knows nothing, and whose steps would begin anywhere. So the
audio before the settled position comes first; what it says was said already, and is thrown away by its position. The
stream takes its steps where the one before took them, and the silence gate goes on as it was.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from edge_asr.pipeline.gate import EVERYTHING, Hearing
from edge_asr.requests import GateMark, LeadIn, Resume

SLACK_SAMPLES = 2
"""Positions that travelled through another rate come back a sample off."""


class Mark(NamedTuple):
    """A place between two frames of the gate; positions are samples since the session began."""

    position: int
    heard_from: int
    """Where the newest audio without a hole begins that the stream has got..."""
    heard_to: int
    """...and where it ends, which is here unless the gate is closed."""
    given: int
    """Samples that the stream has got in all."""
    hearing: Hearing


class Marks:
    """The newest places of a session, so that there is one at or just before what is settled.

    Args:
        reach: Samples of the session that they go back.
    """

    def __init__(self, reach: int) -> None:
        self._reach = reach
        self._marks: deque[Mark] = deque()

    def add(self, mark: Mark) -> None:
        """The newest one."""
        marks = self._marks
        marks.append(mark)
        while marks[0].position < mark.position - self._reach:
            marks.popleft()

    def clear(self) -> None:
        """A fresh stream begins: nothing before it is to be heard again."""
        self._marks.clear()

    def last_before(self, position: int) -> Mark | None:
        """The newest one that is not beyond it."""
        return next((mark for mark in reversed(self._marks) if mark.position <= position), None)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a session's first stream begins, and what of its first audio another stream had got."""

    position: int
    """Samples since the session began."""
    step: int
    """Samples from one step to the next."""
    ungated: int = 0
    """Samples that the gate of the other one has judged."""
    step_offset: int = 0
    """Samples that the stream is to have got beyond the beginning of a step after them."""
    hearing: Hearing = EVERYTHING
    """How the gate goes on then."""

    @property
    def padding(self) -> int:
        """Silence before the first audio, so that the steps fall where they did in the other stream."""
        return (self.step_offset - self.ungated) % self.step if self.ungated else 0


def start_of(resume: Resume | None, step: int, rate_hz: int) -> Start:
    """Of a new session, or of one that goes on.

    Args:
        resume: Where it goes on.
        step: Samples from one step to the next.
        rate_hz: Of the engine.
    """
    if resume is None or resume.lead_in is None:
        return Start(round(resume.position_s * rate_hz) if resume else 0, step)
    again, mark = resume.lead_in, resume.lead_in.mark
    ungated = round((again.end_s - again.start_s) * rate_hz)
    hearing = Hearing(mark.is_open, mark.background_dbfs, mark.silent_samples)
    return Start(round(mark.position_s * rate_hz) - ungated, step, ungated, mark.step_offset, hearing)


class Rehearsal:
    """The way of a session's first stream to the settled position; positions are samples since the session began.

    Args:
        start: Where the stream begins.
        settled: Everything up to here has been said.
    """

    def __init__(self, start: Start, settled: int) -> None:
        self.is_over = not start.ungated
        self._settled = settled
        self._step = start.step

    def has_heard(self, position: int) -> bool:
        """Whether the stream has heard it all.

        Where the steps are others than they were, the end comes early: better a sound is heard twice than never.
        """
        return position + self._step > self._settled + SLACK_SAMPLES

    def has_passed(self, position: int) -> bool:
        """Whether all of it was given, and what the stream did not get was silence."""
        return position >= self._settled - SLACK_SAMPLES


def lead_in(mark: Mark | None, longest: int, step: int, rate_hz: int) -> LeadIn | None:
    """What another worker is to hear first.

    Args:
        mark: At or before what is settled.
        longest: Samples.
        step: Samples from one step to the next.
        rate_hz: Of the engine.
    """
    if mark is None or not longest:
        return None
    hearing = mark.hearing
    return LeadIn(
        start_s=max(mark.heard_from, mark.heard_to - longest) / rate_hz,
        end_s=mark.heard_to / rate_hz,
        mark=GateMark(
            position_s=mark.position / rate_hz,
            step_offset=mark.given % step,
            is_open=hearing.is_open,
            background_dbfs=hearing.background_dbfs,
            silent_samples=hearing.silent_samples,
        ),
    )
