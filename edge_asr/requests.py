"""What a client asks of a session, in no protocol's words: every codec turns its bytes into these.

No numpy here: the front process handles requests and must stay small.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Encoding = Literal["s16le", "s24le", "s32le", "f32le", "u8", "mulaw", "alaw"]
"""How one sample is written: signed little-endian, float, unsigned 8 bit, or G.711."""

Channel = Literal["mix", "left", "right"]
"""Which channel of several is recognised."""

SAMPLE_BYTES: dict[Encoding, int] = {
    "s16le": 2,
    "s24le": 3,
    "s32le": 4,
    "f32le": 4,
    "u8": 1,
    "mulaw": 1,
    "alaw": 1,
}
"""Bytes of one sample of one channel."""

MIN_SAMPLE_RATE_HZ = 4_000
MAX_SAMPLE_RATE_HZ = 384_000
MAX_CHANNELS = 8
MAX_HOTWORDS = 1_000
MAX_HOTWORD_CHARS = 200
MAX_COMMANDS_CHARACTERS = 200_000


class SessionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a session's audio is written and what is wanted of its text."""

    sample_rate_hz: int = 16_000
    encoding: Encoding = "s16le"
    channels: int = 1
    """Interleaved channels, 1 to 8."""
    channel: Channel = "mix"
    language: str = ""
    """BCP 47 tag, or empty for the model's own."""
    model: str = ""
    """Store name, or empty for the active model; never a path."""
    hotwords: tuple[str, ...] = ()
    """Words and phrases to be expected, at most 1,000; a model that cannot be biased ignores them and says so."""
    partials: bool = True
    """Whether partials are wanted."""
    words: bool = True
    """Whether finals carry words with their times."""
    is_live: bool = False
    """Audio that cannot wait (a microphone): under overload the oldest is dropped, counted and announced.
    Otherwise the sender is slowed down and nothing is dropped."""
    is_batch: bool = False
    """A recording that nobody waits for word by word: live sessions are decoded first."""
    commands: str | None = None
    """Sentence templates of spoken commands, YAML or JSON in Home Assistant's format; empty for open speech, ``None``
    for the configured ones."""
    endpoint_silence_ms: int | None = None
    """Silence after speech that closes a segment; ``None`` for the configured rule."""
    itn: bool | None = None
    """Whether finals have numbers, dates, money and times in figures; ``None`` for the configured way."""
    punctuation: bool | None = None
    """Whether finals of models that write neither capitals nor punctuation get both; ``None`` for the configured."""

    def __post_init__(self) -> None:
        if not MIN_SAMPLE_RATE_HZ <= self.sample_rate_hz <= MAX_SAMPLE_RATE_HZ:
            raise ValueError(
                f"sample rate {self.sample_rate_hz} Hz is outside {MIN_SAMPLE_RATE_HZ} to {MAX_SAMPLE_RATE_HZ} Hz"
            )
        if not 1 <= self.channels <= MAX_CHANNELS:
            raise ValueError(f"{self.channels} channels: 1 to {MAX_CHANNELS} are accepted")
        length = len(self.commands or "")
        if length > MAX_COMMANDS_CHARACTERS:
            raise ValueError(f"commands of {length} characters: {MAX_COMMANDS_CHARACTERS} are accepted")
        if self.endpoint_silence_ms is not None and not 100 <= self.endpoint_silence_ms <= 60_000:
            raise ValueError(f"endpoint silence {self.endpoint_silence_ms} ms is outside 100 to 60000 ms")
        if len(self.hotwords) > MAX_HOTWORDS:
            raise ValueError(f"{len(self.hotwords)} hotwords: at most {MAX_HOTWORDS} are accepted")
        longest = max(map(len, self.hotwords), default=0)
        if longest > MAX_HOTWORD_CHARS:
            raise ValueError(f"a hotword of {longest} characters: at most {MAX_HOTWORD_CHARS} are accepted")

    @property
    def frame_bytes(self) -> int:
        """Bytes of one sample of all channels."""
        return SAMPLE_BYTES[self.encoding] * self.channels

    @property
    def bytes_per_second(self) -> int:
        """Bytes of one second of audio as the client writes it."""
        return self.frame_bytes * self.sample_rate_hz


class GateMark(msgspec.Struct, frozen=True, kw_only=True):
    """What a session's silence gate, and the steps of its stream, were like at a place: enough to go on from there."""

    position_s: float
    """Seconds since the session began; between two frames of the gate, at or before the settled position."""
    step_offset: int
    """Samples at the engine's rate that its stream had got beyond the beginning of a step."""
    is_open: bool
    background_dbfs: float
    """Level of the background as the gate took it to be."""
    silent_samples: int
    """Since the last sound."""


class FrontMark(msgspec.Struct, frozen=True, kw_only=True):
    """What the robust front went by at a place of a session's audio."""

    offset: float
    """Mean of the samples before, in full scale."""
    offset_before: float
    """Likewise a frame earlier."""
    peak: float = 1.0
    """What was full scale."""


class LeadIn(msgspec.Struct, frozen=True, kw_only=True):
    """What a stream had got last before a place: audio that is settled and is heard again all the same, since a
    model's words hang on what came before. Seconds since the session began."""

    start_s: float
    end_s: float
    """From here to the place was silence, which the stream did not get."""
    mark: GateMark
    """The place, from which on everything follows."""


class Resume(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session goes on in another worker, with the audio it has not settled."""

    position_s: float
    """Audio before it is done with, seconds since the session began."""
    segment: int
    """Number of the next final."""
    revision: int = 0
    """Partials of the open segment that the client has seen: it is owed a final, whatever becomes of the text."""
    dropped_samples: int = 0
    replayed_s: float = 0.0
    """Audio that follows at once: a live session must not take the burst for a backlog and drop it."""
    lead_in: LeadIn | None = None
    """What comes before that audio, which then begins at its mark."""
    front: FrontMark | None = None
    """What the robust front went by where the audio begins."""
    is_suspect: bool = False
    """Whether its audio may have ended the worker before: it is decoded alone until that is past."""

    @property
    def start_s(self) -> float:
        """Where the audio begins, seconds since the session began."""
        return self.lead_in.start_s if self.lead_in is not None else self.position_s


class Open(msgspec.Struct, frozen=True, tag="open"):
    """Begin a session."""

    options: SessionOptions


class Audio(msgspec.Struct, frozen=True, tag="audio"):
    """A piece of audio as the client wrote it; need not end on a sample."""

    data: bytes


class Flush(msgspec.Struct, frozen=True, tag="flush"):
    """Close the open segment now; the session goes on."""


class Finish(msgspec.Struct, frozen=True, tag="finish"):
    """No more audio: deliver what is left and end the session."""


class Discard(msgspec.Struct, frozen=True, tag="discard"):
    """Forget the session and everything said in it; nothing more is delivered of it."""


class CatchUp(msgspec.Struct, frozen=True, tag="catch_up"):
    """Say when what was sent is decoded, but for the last half second: for protocols that answer every message."""


class Describe(msgspec.Struct, frozen=True, tag="describe"):
    """Say what this daemon is and can."""


class Ping(msgspec.Struct, frozen=True, tag="ping"):
    """Answer with the same text."""

    text: str = ""


Request = Open | Audio | Flush | Finish | Discard | CatchUp | Describe | Ping
"""Everything a client can ask."""
