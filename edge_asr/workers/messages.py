"""Messages between the front process and a worker, and their framing: 4 bytes of length, then msgpack.

The front sends ``Configure`` once and then session commands; the worker answers ``Ready`` or ``LoadFailed`` and then
sends transcript events, ``Consumed`` credits and ``Stats``. No I/O and no numpy here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import msgspec

from edge_asr.events import Failed, Final, Notice, Partial, SessionEnded
from edge_asr.families import NO_HOTWORDS
from edge_asr.requests import FrontMark, LeadIn, Resume, SessionOptions

MAX_MESSAGE_BYTES = 16 << 20
"""A longer message is a fault of the sender."""

_LENGTH = struct.Struct("<I")


class Configure(msgspec.Struct, frozen=True, tag="configure"):
    """First message to a worker: everything it needs to load the model."""

    model_directory: str
    settings: dict[str, Any]
    """Groups of :class:`~edge_asr.workers.configuration.WorkerConfiguration`, as plain values."""
    vad_model: str = ""
    """File of the voice activity detector, which non-streaming models need; empty when there is none."""
    punctuation_model: str = ""
    """Directory of the punctuation model, with its manifest; empty when there is none."""
    measures_step: bool = True
    """Whether the worker is to find out how long a decoding step takes; not where one before it has told already."""
    commands: dict[str, str] = {}
    """Texts of the configured sentence templates by their files; empty for open speech."""
    hotwords: dict[str, str] = {}
    """Text of the configured list of hotwords by its file; empty for none."""
    second_model: str = ""
    """Directory of the model that hears segments again for their finals; empty for none."""
    wake_model: str = ""
    """Directory of the model that hears the wake words; empty for none."""
    speaker_model: str = ""
    """Directory of the model that tells speakers apart; empty for none."""
    voices: dict[str, tuple[float, ...]] = {}
    """Embeddings of the enrolled voices by their names, all of that model."""
    voices_note: str = ""
    """What is to be said about voices that are left out; empty where all are there."""
    digest: str = ""
    """Beginning of the SHA-256 of the model's weights, for whoever wants to know which model it really is."""
    given_up: str = ""
    """Why the configured provider is not to be tried again; empty where it is trusted."""


class OpenSession(msgspec.Struct, frozen=True, tag="open_session"):
    """Begin a session in this worker."""

    session_id: str
    options: SessionOptions
    resume: Resume | None = None
    """Where it goes on, when another worker had it before; its audio from there on follows."""


class SessionAudio(msgspec.Struct, frozen=True, tag="session_audio"):
    """Audio as the client wrote it."""

    session_id: str
    data: bytes


class SessionRecording(msgspec.Struct, frozen=True, tag="session_recording"):
    """Read the session's whole audio from a file (an upload that the front has spooled), then finish."""

    session_id: str
    path: str
    max_duration_s: float
    from_s: float = 0.0
    """Where another worker had got to."""


class FlushSession(msgspec.Struct, frozen=True, tag="flush_session"):
    """Close the open segment now; the session goes on."""

    session_id: str


class FinishSession(msgspec.Struct, frozen=True, tag="finish_session"):
    """No more audio: deliver what is left, then end the session."""

    session_id: str


class CancelSession(msgspec.Struct, frozen=True, tag="cancel_session"):
    """The client is gone: free the session, send nothing more for it."""

    session_id: str


class TrustSession(msgspec.Struct, frozen=True, tag="trust_session"):
    """The session has got past the audio that it was suspected for: it may be decoded together with others again."""

    session_id: str


class Shutdown(msgspec.Struct, frozen=True, tag="shutdown"):
    """End the process."""


class Ready(msgspec.Struct, frozen=True, tag="ready"):
    """The model is loaded and a warm-up decode has run."""

    pid: int
    model: str
    family: str
    languages: tuple[str, ...]
    provider: str
    """The provider that really ran."""
    threads: int
    sample_rate_hz: int
    chunk_ms: float
    tail_padding_ms: float
    is_streaming: bool
    load_s: float
    is_append_only: bool = False
    """Whether the text of a segment only ever grows, so that ``Partial.stable_chars`` is a promise."""
    streams_per_step: int = 0
    """Streams that a step takes in less time than one after the other; 0 for as many as there are."""
    step_s: float = 0.0
    """What a decoding step of one stream took when the model was loaded; 0 where it was not measured."""
    why_no_hotwords: str = NO_HOTWORDS
    """Why the hotwords of a session are ignored; empty where they are heeded."""
    notes: tuple[str, ...] = ()
    words_note: str = ""
    """What the model cannot hear, in one sentence; empty for one that hears anything."""
    second_pass: str = ""
    """Store name of the model that hears each segment again; empty for none."""


class LoadFailed(msgspec.Struct, frozen=True, tag="load_failed"):
    """The model could not be loaded; the worker ends."""

    code: str
    message: str


class Consumed(msgspec.Struct, frozen=True, tag="consumed"):
    """Credit: so many bytes of this session's audio are decoded or dropped, in all."""

    session_id: str
    total_bytes: int
    is_resting: bool = False
    """Whether there is silence and nothing waits to be said: nobody notices when audio comes a little later."""
    quiet_until_bytes: int = 0
    """Position, in all, before which nothing can come of the audio: all of it up to there may come at once. 0: at any
    time."""
    quiet_dbfs: float | None = None
    """The loudest audio, in frames of 20 ms, with which it rests on; ``None`` where loudness does not tell."""


class Settled(msgspec.Struct, frozen=True, tag="settled"):
    """The audio up to a position is done with, and these are the finals it gave.

    One message for both, so that no death of the worker can come between them: a final is neither lost nor said twice.
    """

    session_id: str
    position_s: float
    """Seconds since the session began."""
    segment: int
    """Number of the next final."""
    dropped_samples: int
    flushes: int
    """Flushes answered since this worker had the session."""
    finals: tuple[Final, ...]
    lead_in: LeadIn | None = None
    """What another worker is to hear before the position."""
    front: FrontMark | None = None
    """What its robust front is to go by there, or where the lead-in begins."""


class Heartbeat(msgspec.Struct, frozen=True, tag="heartbeat"):
    """The worker's main thread is alive; sent once a second while there are sessions."""


class Stats(msgspec.Struct, frozen=True, tag="stats"):
    """Figures of the worker since it started, sent once a second while it works."""

    audio_s: float
    """Audio decoded."""
    decode_s: float
    """Wall time spent in the engine."""
    cpu_s: float
    """CPU time of the process."""
    batches: int
    batched_streams: int
    sessions: int
    backlog_s: float
    """Undecoded audio of all sessions."""
    rss_bytes: int
    segments: int
    dropped_samples: int
    replaced_samples: int
    skipped_s: float
    """Silence that the gate kept from the engine."""
    stale_partials: int
    """Not sent because decoding was late."""
    queue_depth: int
    """Streams ready at once, the most since the last report."""
    batch_sizes: tuple[int, ...]
    """Steps by their streams, in the buckets of :data:`edge_asr.tally.BATCH_SIZES`."""
    waits: tuple[int, ...]
    """Streams by how long they waited for a step, in the buckets of :data:`edge_asr.tally.WAITS_S`."""
    wait_s: float
    """Sum of those waits."""
    streams_squared: int = 0
    """These and the next ones: see :class:`edge_asr.sessions.step_work.StepWork`."""
    stream_decode_s: float = 0.0
    live_streams: int = 0
    live_decode_s: float = 0.0
    late_streams: int = 0
    live_audio_s: float = 0.0
    """Of ``audio_s``, that of sessions somebody waits for."""
    steps: tuple[int, ...] = ()
    """Steps by how long they took, in the buckets of :data:`edge_asr.tally.STEPS_S`."""
    around_s: float = 0.0
    """CPU time of the reading and the decoding thread outside the engine."""
    second_passes: dict[str, int] = {}
    """How many second passes came to what: ``done``, or why the final is the first model's
    (:data:`edge_asr.sessions.second_hearing.PassOutcome`)."""


ToWorker = (
    Configure
    | OpenSession
    | SessionAudio
    | SessionRecording
    | FlushSession
    | FinishSession
    | CancelSession
    | TrustSession
    | Shutdown
)
FromWorker = Ready | LoadFailed | Consumed | Settled | Heartbeat | Stats | Partial | Notice | SessionEnded | Failed
"""Finals come inside :class:`Settled`."""


class MessageDecoder:
    """Cuts a byte stream into messages of the given union type."""

    def __init__(self, kind: Any) -> None:  # noqa: ANN401  a union type has no better annotation
        self._decoder = msgspec.msgpack.Decoder(kind)
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Any]:
        """Take bytes as they came from the socket; yield each message that is complete.

        Raises:
            ValueError: A length or a message that no correct peer sends.
        """
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > MAX_MESSAGE_BYTES:
                raise ValueError(f"message of {length} bytes; at most {MAX_MESSAGE_BYTES} are sent")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            yield self._decoder.decode(body)


def encode_message(message: ToWorker | FromWorker) -> bytes:
    """One framed message."""
    body = msgspec.msgpack.encode(message)
    if len(body) > MAX_MESSAGE_BYTES:
        raise ValueError(f"message of {len(body)} bytes; at most {MAX_MESSAGE_BYTES} can be sent")
    return _LENGTH.pack(len(body)) + body
