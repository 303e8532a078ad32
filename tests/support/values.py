"""Values that many tests need: a loaded model, a pool's state, events of a short session."""

from __future__ import annotations

import msgspec

from edge_asr.events import Final, Partial, SessionEnded, Word
from edge_asr.workers.base import PoolStatus
from edge_asr.workers.messages import Ready, Stats

READY = Ready(
    pid=4242,
    model="starter-en",
    family="zipformer2-ctc",
    languages=("en",),
    provider="cpu",
    threads=1,
    sample_rate_hz=16_000,
    chunk_ms=320.0,
    tail_padding_ms=660.0,
    is_streaming=True,
    load_s=0.4,
    is_append_only=True,
)
"""A streaming model that only appends."""

REWRITING = msgspec.structs.replace(READY, model="moonshine-tiny-en", is_streaming=False, is_append_only=False)
"""A model that decodes stretches of speech anew."""

STATS = Stats(
    audio_s=100.0,
    decode_s=20.0,
    cpu_s=21.5,
    batches=300,
    batched_streams=310,
    sessions=1,
    backlog_s=0.25,
    rss_bytes=90 << 20,
    segments=12,
    dropped_samples=0,
    replaced_samples=0,
    skipped_s=40.0,
    stale_partials=0,
    queue_depth=2,
    batch_sizes=(290, 10, 0, 0, 0, 0, 0, 0, 0, 0),
    waits=(250, 30, 20, 5, 3, 2, 0, 0, 0, 0, 0, 0, 0),
    wait_s=0.4,
    steps=(0, 0, 0, 0, 0, 300, 0, 0, 0, 0, 0, 0, 0),
)

SERVING = PoolStatus("ready", "", 1, 16, 0, 4242, READY, STATS)
STARTING = PoolStatus("starting", "the model is being loaded", 0, 16, 0, 0, None, None)


def partial(text: str, stable_chars: int, *, segment: int = 0, revision: int = 0) -> Partial:
    return Partial("s", segment, revision, text, stable_chars, 0.0, 1.0, 1)


def final(text: str, *, segment: int = 0, start_s: float = 0.0, end_s: float = 1.0) -> Final:
    spellings = text.split()
    step = (end_s - start_s) / max(1, len(spellings))
    words = tuple(
        Word(spelling, start_s + index * step, start_s + (index + 1) * step, 0.5)
        for index, spelling in enumerate(spellings)
    )
    return Final("s", segment, text, words, start_s, end_s, "end_of_audio", 2)


def ended(audio_s: float = 1.0) -> SessionEnded:
    return SessionEnded("s", audio_s)
