"""What a session says: transcript events, which are also the wire messages between processes.

A session yields any number of :class:`Partial` and :class:`Notice`, exactly one :class:`Final` per started segment,
and ends with exactly one of :class:`SessionEnded` and :class:`Failed`. All times are seconds since the session's first
sample, in the client's own audio; they are absolute and never go back.

No numpy here: the front process handles events and must stay small.
"""

from __future__ import annotations

from typing import Literal

import msgspec

FinalReason = Literal["silence", "max_length", "no_new_token", "end_of_audio", "flush"]
"""Which rule closed the segment."""


NoticeCode = Literal[
    "audio_dropped",
    "samples_replaced",
    "audio_clipped",
    "format_suspicious",
    "rate_suspicious",
    "second_pass_skipped",
    "wake_word",
    "engine_restarted",
    "model_changed",
    "lighter_model",
    "hotwords_ignored",
    "itn_ignored",
    "punctuation_ignored",
    "language_ignored",
]
"""What a notice is about."""


class Word(msgspec.Struct, frozen=True):
    """One word of a final."""

    text: str
    start_s: float
    """Seconds since the session began."""
    end_s: float
    """Seconds since the session began; at least ``start_s``."""
    confidence: float | None = None
    """Share of words like this one that are right, where that was measured for the model, and else the geometric mean
    of its tokens' probabilities; 0 to 1, ``None`` where the engine gives none."""


class Partial(msgspec.Struct, frozen=True, tag="partial", tag_field="type"):
    """The text of the open segment so far; each one replaces the one before."""

    session_id: str
    segment: int
    """Number of the segment, from 0."""
    revision: int
    """Number of this partial within its segment, from 0."""
    text: str
    stable_chars: int
    """Length of the prefix of ``text`` that is settled: a promise where the engine only ever appends
    (``Ready.is_append_only``), else the part on which the last hypotheses agree."""
    start_s: float
    end_s: float
    emitted_ns: int
    """Monotonic time, nanoseconds."""


class Command(msgspec.Struct, frozen=True):
    """What was meant by a spoken command."""

    intent: str
    slots: dict[str, str | int | float | bool]
    """Name to value, as the sentence templates have it."""
    score: float
    """How sure it is that this command was spoken, and nothing else: 0 to 1."""


class Speaker(msgspec.Struct, frozen=True):
    """Who said a segment, of those who were enrolled."""

    name: str | None
    """``None`` where no voice is like enough (``speakers.threshold``)."""
    score: float
    """Likeness of the nearest voice: the cosine of the angle between the embeddings, -1 to 1."""


class Final(msgspec.Struct, frozen=True, tag="final", tag_field="type"):
    """The text of a closed segment; never revised."""

    session_id: str
    segment: int
    text: str
    words: tuple[Word, ...]
    start_s: float
    end_s: float
    reason: FinalReason
    emitted_ns: int
    """Monotonic time, nanoseconds."""
    command: Command | None = None
    """What was meant, where spoken commands are listened for and one was recognised; ``text`` is its sentence then."""
    open_text: str | None = None
    """What the model hears without regard to commands, where they are listened for; else ``None``."""
    tags: dict[str, str] | None = None
    """What the model says of the speech besides its words, where it does: ``language``, ``emotion``, ``event``."""
    raw_text: str | None = None
    """The text as it was heard, where ``text`` may be written otherwise (figures, punctuation); else ``None``."""
    speaker: Speaker | None = None
    """Whose voice it is, where speakers are told apart and there was speech enough; else ``None``."""


class Notice(msgspec.Struct, frozen=True, tag="notice", tag_field="type"):
    """Something the client should know and that does not end the session."""

    session_id: str
    code: NoticeCode
    message: str
    count: int = 0
    """Samples concerned, at the engine's rate (clipping: at the client's; hotwords: their number); 0 where it does not
    apply."""


class SessionEnded(msgspec.Struct, frozen=True, tag="ended", tag_field="type"):
    """The session is over and everything that was said has been delivered."""

    session_id: str
    audio_s: float
    """Seconds of audio accepted."""
    dropped_samples: int = 0
    """Samples lost to the bounded backlog, at the engine's rate."""


class Failed(msgspec.Struct, frozen=True, tag="failed", tag_field="type"):
    """The session is over because something went wrong."""

    session_id: str
    code: str
    """Stable code of an :mod:`edge_asr.errors` class."""
    message: str
    is_retryable: bool = False
    retry_after_s: float | None = None
    """When trying again may help, as far as can be told, seconds."""


TranscriptEvent = Partial | Final | Notice | SessionEnded | Failed
"""Everything a session can say."""
