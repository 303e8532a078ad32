"""What a model is measured with: recordings with their references, from the package, a manifest or a folder.

A manifest is TSV with a header line (``audio``, ``text``, and optionally ``vocabulary``, ``speaker``, ``words``) or
JSONL with the same keys; audio paths are relative to it. ``words`` says where the words are: in JSONL a list of
``[word, start_s, end_s]``, in TSV the same as ``word:start:end`` between spaces. Without it the delay of single words
cannot be measured; where speech begins and ends is then found by its energy, which clean recordings allow.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from edge_asr.audio import Float32Array
from edge_asr.errors import InputError
from edge_asr.sources.file import open_file

BUNDLED = Path(__file__).resolve().parent / "clips" / "clips.tsv"

OPEN_VOCABULARY = "open"
"""Speech with any words; models of commands are not measured by it."""

AUDIO_SUFFIXES = frozenset((".wav", ".flac", ".ogg", ".opus", ".mp3", ".m4a", ".g722", ".aac", ".webm"))

_ALIGNMENT_SLACK_S = 0.1
"""Aligners count whole frames and may end one behind the last sample."""

_EDGE_WINDOW_S = 0.02
_EDGE_BELOW_PEAK_DB = 35.0
"""Windows that much quieter than the loudest are not speech, in a clean recording."""


@dataclass(frozen=True, slots=True)
class AlignedWord:
    """A word of the reference and where it is, seconds from the start of the recording."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class Clip:
    """One recording."""

    name: str
    path: Path
    reference: str = ""
    """What is said; empty where nobody wrote it down."""
    vocabulary: str = OPEN_VOCABULARY
    speaker: str = ""
    """Who speaks; empty where nobody says so."""
    words: tuple[AlignedWord, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ClipAudio:
    """A recording in memory, as a client would send it."""

    clip: Clip
    samples: npt.NDArray[np.int16]
    """Mono, shape (n,)."""
    sample_rate_hz: int
    onset_s: float
    """Where speech begins."""
    end_s: float
    """Where speech ends."""

    @property
    def audio_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.sample_rate_hz

    def pieces(self, piece_ms: int) -> Iterator[bytes]:
        """16-bit samples, little-endian, so much at a time."""
        step = max(1, self.sample_rate_hz * piece_ms // 1000)
        for first in range(0, len(self.samples), step):
            yield self.samples[first : first + step].astype("<i2").tobytes()


def bundled_clips() -> tuple[Clip, ...]:
    """The recordings inside the package."""
    return read_clips(BUNDLED)


def clips_for(clips: tuple[Clip, ...], *, knows_all_words: bool) -> tuple[Clip, ...]:
    """Those that the model can be judged by: a model of commands only by commands."""
    return clips if knows_all_words else tuple(clip for clip in clips if clip.vocabulary != OPEN_VOCABULARY)


def read_clips(path: Path) -> tuple[Clip, ...]:
    """The recordings of a manifest, or of a folder.

    In a folder ``NAME.txt`` beside a recording, if there is one, is its reference.

    Raises:
        InputError: There is no such path, nothing in it, or a line that cannot be understood.
    """
    if path.is_dir():
        clips = tuple(_of_folder(path))
    elif path.is_file():
        clips = tuple(_of_manifest(path))
    else:
        raise InputError(f"{path}: no such manifest or folder of recordings")
    if not clips:
        raise InputError(f"{path}: no recordings in it; a folder needs audio files, a manifest a line for each")
    return clips


def load_clip(clip: Clip) -> ClipAudio:
    """Read and decode a recording.

    Raises:
        InputError: It cannot be read, is empty, or is shorter than where its words are said to be.
    """
    with closing(open_file(clip.path, name=str(clip.path))) as source:
        chunks = [chunk.samples for chunk in source]
        rate_hz = source.sample_rate_hz
    samples = np.concatenate(chunks) if chunks else np.zeros(0, np.float32)
    if not samples.size:
        raise InputError(f"{clip.path}: there is no audio in it")
    audio_s = samples.size / rate_hz
    if clip.words:
        onset_s, end_s = clip.words[0].start_s, max(word.end_s for word in clip.words)
        if end_s > audio_s + _ALIGNMENT_SLACK_S:
            raise InputError(
                f"{clip.path}: its words end at {end_s:.2f} s and the recording at {audio_s:.2f} s; "
                "they belong to another recording"
            )
    else:
        onset_s, end_s = speech_edges(samples, rate_hz)
    integers = np.clip(np.rint(samples * 32768.0), -32768, 32767).astype(np.int16)
    return ClipAudio(clip, integers, rate_hz, onset_s, end_s)


def speech_edges(samples: Float32Array, sample_rate_hz: int) -> tuple[float, float]:
    """Where a clean recording begins and ends to be loud, seconds; its whole length when it is all silence.

    Args:
        samples: Mono, shape (n,), nominal range [-1, 1].
        sample_rate_hz: Their rate.
    """
    step = max(1, round(_EDGE_WINDOW_S * sample_rate_hz))
    whole = len(samples) // step * step
    power = np.square(samples[:whole].reshape(-1, step)).mean(axis=1)
    if power.size == 0 or not power.max() > 0.0:
        return 0.0, len(samples) / sample_rate_hz
    loud = np.flatnonzero(power >= power.max() * 10 ** (-_EDGE_BELOW_PEAK_DB / 10))
    return float(loud[0] * step / sample_rate_hz), float((loud[-1] + 1) * step / sample_rate_hz)


def sha256_of_audio(audio: ClipAudio) -> str:
    """Digest of what is really heard: samples and rate, whatever container they came in."""
    digest = hashlib.sha256(str(audio.sample_rate_hz).encode())
    digest.update(audio.samples.astype("<i2").tobytes())
    return digest.hexdigest()


def _of_folder(folder: Path) -> Iterator[Clip]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in AUDIO_SUFFIXES and path.is_file():
            text = path.with_suffix(".txt")
            yield Clip(str(path.relative_to(folder)), path, _text_of(text).strip() if text.is_file() else "")


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: it is not UTF-8 text") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from error


def _of_manifest(path: Path) -> Iterator[Clip]:
    content = _text_of(path)
    named: set[str] = set()
    read = _jsonl if content.lstrip().startswith("{") else _tsv
    for number, row in read(content, path):
        try:
            clip = _clip(row, path.parent)
        except (TypeError, ValueError) as error:
            raise InputError(f"{path}, line {number}: {error}; a line has `audio` and `text`") from error
        if clip.name in named:
            raise InputError(f"{path}, line {number}: {clip.name} is listed a second time")
        named.add(clip.name)
        yield clip


def _tsv(content: str, path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    reader = csv.DictReader(io.StringIO(content), delimiter="\t", quoting=csv.QUOTE_NONE)
    try:
        if "audio" not in (reader.fieldnames or ()):
            raise InputError(f"{path}: the first line of a TSV manifest names its columns: audio<TAB>text")
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num + 1}: {error}") from error


def _jsonl(content: str, path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    # Not splitlines: it also splits where a text holds a line separator of another kind.
    for number, line in enumerate(content.split("\n"), 1):
        if line.strip():
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise InputError(f"{path}, line {number}: not JSON ({error.msg})") from error
            yield number, row


def _clip(row: object, folder: Path) -> Clip:
    if not isinstance(row, dict):
        raise TypeError("it is no object")
    name = row.get("audio")
    if not isinstance(name, str) or not name:
        raise ValueError("`audio` is missing")
    words = row.get("words") or ()
    aligned = tuple(map(_aligned_word, _spans(words) if isinstance(words, str) else words))
    _require_order(aligned)
    return Clip(
        name=name,
        path=folder / name,
        reference=str(row.get("text") or ""),
        vocabulary=str(row.get("vocabulary") or OPEN_VOCABULARY),
        speaker=str(row.get("speaker") or ""),
        words=aligned,
    )


def _spans(text: str) -> list[list[str]]:
    return [entry.rsplit(":", 2) for entry in text.split()]


def _aligned_word(entry: Any) -> AlignedWord:  # noqa: ANN401  whatever a manifest holds
    if not isinstance(entry, list) or len(entry) != 3:
        raise ValueError(f"{entry!r} is not a word with its start and end")
    return AlignedWord(str(entry[0]), float(entry[1]), float(entry[2]))


def _require_order(words: tuple[AlignedWord, ...]) -> None:
    earliest_s = 0.0
    for word in words:
        if not earliest_s <= word.start_s <= word.end_s < math.inf:
            raise ValueError(f"word {word.text!r} from {word.start_s} to {word.end_s} s is out of order")
        earliest_s = word.start_s
