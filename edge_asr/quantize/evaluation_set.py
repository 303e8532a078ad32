"""The recordings a model is judged by, and those it is calibrated with: never the same ones."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from edge_asr.errors import InputError
from edge_asr.scoring import Metric, metric_of, normalise
from edge_asr.workload import Clip, load_clip, read_clips, sha256_of_audio

OnRecording = Callable[[int, int], None]
"""Told after each recording: how many are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording that has been looked at."""

    clip: Clip
    sha256: str
    """Of what is heard, whatever container it came in."""
    audio_s: float
    units: int
    """Words or characters of its reference, normalised; 0 without."""


@dataclass(frozen=True, slots=True)
class EvaluationSet:
    """Recordings with references."""

    recordings: tuple[Recording, ...]
    language: str

    @property
    def metric(self) -> Metric:
        """Words, or characters where the language wants it."""
        return metric_of(self.language)

    @property
    def units(self) -> int:
        """Words or characters of all references."""
        return sum(recording.units for recording in self.recordings)

    @property
    def audio_s(self) -> float:
        """Length of all recordings."""
        return sum(recording.audio_s for recording in self.recordings)

    @property
    def blocks(self) -> list[str]:
        """For each recording what it is resampled with: its speaker where every recording names one, else itself."""
        speakers = [recording.clip.speaker for recording in self.recordings]
        if all(speakers) and len(set(speakers)) > 1:
            return speakers
        return [recording.clip.name for recording in self.recordings]


def _silently(_done: int, _total: int) -> None:
    """Nobody watches."""


def read_evaluation_set(path: Path, language: str, on_recording: OnRecording = _silently) -> EvaluationSet:
    """Read a manifest and look at every recording of it.

    Args:
        path: TSV or JSONL, or a folder with texts beside the recordings.
        language: Of the model; decides whether words or characters count.
        on_recording: Progress.

    Raises:
        InputError: The manifest or one of its recordings cannot be used, or one has no reference. A set that shrinks
            in silence would judge another question.
    """
    recordings = tuple(look_at(read_clips(path), language, on_recording))
    unwritten = [recording.clip.name for recording in recordings if not recording.clip.reference]
    if unwritten:
        raise InputError(
            f"{path}: {len(unwritten)} recordings have no reference text, first {unwritten[0]!r}; an evaluation set "
            "needs what is said in each"
        )
    return EvaluationSet(recordings, language)


def look_at(clips: Sequence[Clip], language: str, on_recording: OnRecording = _silently) -> list[Recording]:
    """Read every recording once, one after the other.

    Raises:
        InputError: One of them cannot be read.
    """
    recordings = []
    for number, clip in enumerate(clips, 1):
        audio = load_clip(clip)
        units = len(normalise(clip.reference, language).split()) if clip.reference else 0
        recordings.append(Recording(clip, sha256_of_audio(audio), audio.audio_s, units))
        on_recording(number, len(clips))
    return recordings


def require_apart(calibration: Sequence[Recording], evaluation: EvaluationSet) -> None:
    """See that no recording is in both: a model calibrated on what it is judged by looks better than it is.

    Raises:
        InputError: Naming the recording in both sets; contents count, not names.
    """
    judged = {recording.sha256: recording.clip for recording in evaluation.recordings}
    for recording in calibration:
        if (same := judged.get(recording.sha256)) is not None:
            raise InputError(
                f"{recording.clip.path}: this calibration recording is in the evaluation set too ({same.path}); take "
                "it out of one of them, or what is measured would be better than what users get"
            )


def set_apart(evaluation: EvaluationSet, share: float, seed: int) -> tuple[list[Recording], EvaluationSet]:
    """Take a part of an evaluation set for calibration; what is left judges.

    Recordings of the same content go together.

    Args:
        evaluation: All recordings.
        share: Of the recordings, above 0 and at most a half.
        seed: Which ones.
    """
    contents = sorted({recording.sha256 for recording in evaluation.recordings})
    order = np.random.default_rng(seed).permutation(len(contents))
    taken = {contents[index] for index in order[: max(1, round(share * len(contents)))]}
    return (
        [recording for recording in evaluation.recordings if recording.sha256 in taken],
        EvaluationSet(_without(evaluation.recordings, taken), evaluation.language),
    )


def _without(recordings: Sequence[Recording], contents: Collection[str]) -> tuple[Recording, ...]:
    return tuple(recording for recording in recordings if recording.sha256 not in contents)
