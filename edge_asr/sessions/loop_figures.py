"""What a decode loop has done, and how far its sessions are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from edge_asr.requests import FrontMark, LeadIn
from edge_asr.sessions.second_hearing import PassOutcome
from edge_asr.sessions.session import Session


@dataclass(frozen=True, slots=True)
class LoopFigures:
    """What the loop has done since it was made."""

    audio_s: float = 0.0
    """Audio received and no longer waiting."""
    decode_s: float = 0.0
    """Time inside the engine's ``decode``."""
    batches: int = 0
    batched_streams: int = 0
    segments: int = 0
    dropped_samples: int = 0
    replaced_samples: int = 0
    skipped_s: float = 0.0
    """Silence of live sessions that the engine did not get; part of ``audio_s``."""
    stale_partials: int = 0
    """Not sent because decoding was late."""
    second_passes: Counter[PassOutcome] = field(default_factory=Counter)
    """What became of the second passes."""
    live_audio_s: float = 0.0
    """Of ``audio_s``, that of sessions somebody waits for."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a session has settled its audio; see :class:`Session`."""

    position_s: float
    segment: int
    dropped_samples: int
    flushes: int = 0
    """Flushes answered in this worker."""
    lead_in: LeadIn | None = None
    """What another worker is to hear before that position."""
    front: FrontMark | None = None
    """What its robust front is to go by there, or where the lead-in begins."""


def progress_of(session: Session) -> Progress:
    """Of a session, now."""
    return Progress(session.settled_s, session.segments, session.dropped_samples, session.flushes_done, session.lead_in)


def with_session(total: LoopFigures, session: Session) -> LoopFigures:
    """The figures with those of one more session."""
    audio_s = session.heard_s - session.backlog_s
    return replace(
        total,
        audio_s=total.audio_s + audio_s,
        live_audio_s=total.live_audio_s + (0.0 if session.options.is_batch else audio_s),
        segments=total.segments + session.segments,
        dropped_samples=total.dropped_samples + session.dropped_samples,
        replaced_samples=total.replaced_samples + session.replaced_samples,
        skipped_s=total.skipped_s + session.skipped_s,
        stale_partials=total.stale_partials + session.stale_partials,
        second_passes=total.second_passes + session.second_passes,
    )
