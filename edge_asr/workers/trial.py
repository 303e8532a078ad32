"""The trial of a model before it is used: a worker has loaded it, hears the bundled recordings, and is judged by them.

Nothing is timed: the machine may be busy with other sessions, where a timing would say nothing. What is judged are the
words and the memory. ``edge-asr selftest`` times, before a device is shipped.
"""

from __future__ import annotations

import csv
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

import edge_asr
from edge_asr.clock import Clock, MonotonicClock
from edge_asr.errors import GateFailed, ModelUnsupported
from edge_asr.events import Failed, Final
from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelManifest
from edge_asr.requests import SessionOptions
from edge_asr.resources.cgroup import memory_limit_bytes
from edge_asr.resources.memory import available_bytes, read_process_memory, total_bytes
from edge_asr.workers.base import RecognizerSession
from edge_asr.workers.place import Place
from edge_asr.workers.pool import Pool
from edge_asr.workers.scorer import word_error_rate
from edge_asr.workers.served_model import ServedModel

CLIPS = Path(edge_asr.__file__).parent / "clips" / "clips.tsv"
CLIPS_LANGUAGE = "en"
"""Of the recordings inside the package; models of other languages decode them, and nobody reads what they say."""

OPEN_VOCABULARY = "open"
"""Recordings with any words; models of commands are not judged by them."""

DEFAULT_MAX_WER = 0.25

MEMORY_SHARE = 0.8
"""Of the machine's memory, or of a tighter limit; as the gate of ``selftest``."""

MOST_S = 20.0
"""No recording begins later; a slow model is judged by what it has heard until then."""

LONGEST_CLIP_S = 60.0

_HEAR = SessionOptions(partials=False, words=False, is_batch=True, commands="")

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Recording:
    """Speech, and what is said in it."""

    path: Path
    text: str


class TrialReport(msgspec.Struct, frozen=True):
    """What a trial has shown."""

    model: str
    recordings: int
    """Heard."""
    word_error_rate: float | None
    """0.05 for 5 %; ``None`` where the words were not judged."""
    peak_memory_bytes: int
    """Of the worker."""

    def __str__(self) -> str:
        heard = "" if self.word_error_rate is None else f"word error rate {100 * self.word_error_rate:.1f} %, "
        memory = f"memory peak {self.peak_memory_bytes >> 20} MiB"
        return f"{self.model} was tried with {self.recordings} recordings: {heard}{memory}"


class ModelTrial:
    """Tries the model of one place; called with it, raises when it must not be used.

    Args:
        pool: Has the place.
        max_wer: Highest word error rate on the bundled recordings; from 1 on words are not judged.
        clock: Says when it has taken long enough.
    """

    def __init__(self, pool: Pool, max_wer: float = DEFAULT_MAX_WER, clock: Clock | None = None) -> None:
        self.report: TrialReport | None = None
        """After a trial that went well."""
        self._pool = pool
        self._max_wer = max_wer
        self._clock = clock or MonotonicClock()

    async def __call__(self, place: Place) -> None:
        """Try the model.

        Raises:
            ModelUnsupported: It fails on a recording.
            GateFailed: It misunderstands the recordings, or takes too much memory.
        """
        manifest = place.model.manifest
        recordings = bundled_recordings(knows_all_words=not manifest.words_note)
        texts = await self._hear_all(place, recordings)
        judged = recordings[: len(texts)]
        rate = None
        if self._max_wer < 1 and not _hears_commands_only(place.model):
            _require_some_text(manifest.name, texts)
            if _speaks_the_language(manifest):
                rate = await word_error_rate([clip.text for clip in judged], texts)
                _require_words(manifest.name, rate, self._max_wer)
        peak_bytes = read_process_memory(place.worker.pid).peak_resident_bytes
        _require_memory(manifest.name, peak_bytes, memory_limit_bytes() or total_bytes() or available_bytes())
        self.report = TrialReport(manifest.name, len(judged), rate, peak_bytes)
        _logger.info("%s", self.report)

    async def _hear_all(self, place: Place, recordings: Sequence[Recording]) -> list[str]:
        until_ns = self._clock.now_ns() + round(MOST_S * 1e9)
        texts: list[str] = []
        for recording in recordings:
            if texts and self._clock.now_ns() > until_ns:
                break
            session = self._pool.open_trial(place, _HEAR)
            try:
                texts.append(await _hear(session, recording, place.model.name))
            finally:
                session.cancel()
        return texts


async def _hear(session: RecognizerSession, recording: Recording, model: str) -> str:
    await session.send_recording(recording.path, LONGEST_CLIP_S)
    said = []
    async for event in session.events():
        if isinstance(event, Final):
            said.append(event.text)
        elif isinstance(event, Failed):
            raise ModelUnsupported(model, f"it fails on a recording ({recording.path.name}): {event.message}")
    return " ".join(said)


def bundled_recordings(*, knows_all_words: bool) -> list[Recording]:
    """Those inside the package that a model can be judged by."""
    with CLIPS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Recording(CLIPS.parent / row["audio"], row["text"])
        for row in rows
        if knows_all_words or row["vocabulary"] != OPEN_VOCABULARY
    ]


def _hears_commands_only(model: ServedModel) -> bool:
    """Whether it decodes with a graph of somebody's own sentences, which the bundled recordings do not say."""
    is_graph_of_commands = model.configure.commands and FAMILIES[model.manifest.family].kind == "streaming"
    return bool(model.settings.engine.graph or is_graph_of_commands)


def _speaks_the_language(manifest: ModelManifest) -> bool:
    return any(language.lower().split("-")[0] == CLIPS_LANGUAGE for language in manifest.languages)


def _require_some_text(name: str, texts: Sequence[str]) -> None:
    if not any(texts):
        raise _no(name, f"it recognised nothing in {len(texts)} recordings of speech")


def _require_words(name: str, rate: float, max_wer: float) -> None:
    if rate > max_wer:
        raise _no(name, f"word error rate {100 * rate:.1f} %, at most {100 * max_wer:g} % is allowed")


def _no(name: str, reason: str) -> GateFailed:
    return GateFailed(
        f"model {name!r} is not activated: {reason}; if it is not made for the recordings inside the package "
        "(`edge_asr/clips`), say --max-wer 1"
    )


def _require_memory(name: str, peak_bytes: int, memory_bytes: int) -> None:
    if peak_bytes > MEMORY_SHARE * memory_bytes:
        raise GateFailed(
            f"model {name!r} is not activated: it took {peak_bytes >> 20} MiB, and at most "
            f"{round(MEMORY_SHARE * memory_bytes) >> 20} MiB ({MEMORY_SHARE:.0%} of the memory here) are allowed; "
            "use a smaller model"
        )
