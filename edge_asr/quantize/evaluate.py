"""What a model makes of an evaluation set, decoded by the real engine in a child process.

Every recording's text is written down as soon as it is known, under the digests of the model's files, the settings and
the audio, so that an interrupted run goes on where it was and no model is decoded twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import msgspec

from edge_asr.quantize.decoding import Candidate, DecodingProcess, decoding_process
from edge_asr.quantize.decoding_messages import Recognised
from edge_asr.quantize.evaluation_set import EvaluationSet, OnRecording, Recording
from edge_asr.quantize.journal import Journal
from edge_asr.scoring import ScoringReport, score
from edge_asr.settings import Settings
from edge_asr.store.digest import sha256_of
from edge_asr.store.onnx_header import read_header

Stop = Callable[["Evaluation"], bool]
"""Looks at what was decoded so far, now and then, and says whether that is enough."""

LOOKS = (0.1, 0.25, 0.5)
"""After which shares of the recordings :data:`Stop` is asked."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Texts and times of a model, for the first recordings of a set or for all of them."""

    recordings: tuple[Recording, ...]
    recognised: tuple[Recognised, ...]
    report: ScoringReport = field(repr=False)

    @property
    def audio_s(self) -> float:
        """Length of the recordings."""
        return sum(one.audio_s for one in self.recognised)

    @property
    def rtf_cpu(self) -> float:
        """CPU time per second of audio. Figures of different times are no comparison: see ``speed.py``."""
        return sum(one.cpu_s for one in self.recognised) / self.audio_s

    @property
    def wall_s(self) -> float:
        """Time that decoding took, when it was done."""
        return sum(one.wall_s for one in self.recognised)

    @property
    def rtf_wall(self) -> float:
        """Wall time per second of audio."""
        return self.wall_s / self.audio_s


class Evaluator:
    """Decodes one evaluation set by one model after the other."""

    def __init__(
        self, evaluation: EvaluationSet, settings: Settings, cache: Path, vad_model: Path | None = None
    ) -> None:
        """Prepare.

        Args:
            evaluation: What is decoded.
            settings: Those of :func:`edge_asr.quantize.decoding.judging_settings`.
            cache: Folder of what was decoded before; made if missing.
            vad_model: For models that do not stream.
        """
        self.evaluation = evaluation
        self._settings = settings
        self._cache = cache
        self._vad_model = vad_model

    def evaluate(
        self, candidate: Candidate, *, on_recording: OnRecording | None = None, stop: Stop | None = None
    ) -> Evaluation:
        """Decode the set.

        Args:
            candidate: The model.
            on_recording: Progress.
            stop: May end the decoding early; the answer then holds the first recordings only.

        Raises:
            EdgeAsrError: The model cannot be loaded, or fails on a recording.
        """
        recordings = self.evaluation.recordings
        looks = {round(share * len(recordings)) for share in LOOKS} if stop else set()
        recognised: list[Recognised] = []
        for number, one in enumerate(self._recognise(candidate), 1):
            recognised.append(one)
            if on_recording:
                on_recording(number, len(recordings))
            if number in looks and stop and stop(self._scored(recognised)):
                break
        return self._scored(recognised)

    def _recognise(self, candidate: Candidate) -> Iterator[Recognised]:
        with ExitStack() as stack:
            known = Journal(self._cache / f"{self._key(candidate)}.jsonl", Recognised)
            process: DecodingProcess | None = None
            for recording in self.evaluation.recordings:
                found = known.find(recording.sha256)
                if found is None:
                    # Only now: a model that was decoded before need not be loaded.
                    process = process or stack.enter_context(
                        decoding_process(candidate, self._settings, self._vad_model)
                    )
                    found = process.recognise(recording.clip.path)
                    known.enter(recording.sha256, found)
                yield found

    def _scored(self, recognised: Sequence[Recognised]) -> Evaluation:
        recordings = self.evaluation.recordings[: len(recognised)]
        references = [recording.clip.reference for recording in recordings]
        report = score(references, [one.text for one in recognised], self.evaluation.language)
        return Evaluation(recordings, tuple(recognised), report)

    def _key(self, candidate: Candidate) -> str:
        """Of everything but the audio that decides what comes out."""
        digest = hashlib.sha256(model_digest(candidate).encode())
        digest.update(msgspec.json.encode(msgspec.to_builtins((self._settings.engine, self._settings.endpoint))))
        digest.update(version("sherpa-onnx").encode())
        if self._vad_model is not None:
            digest.update(sha256_of(self._vad_model).encode())
        return digest.hexdigest()[:32]


def model_digest(candidate: Candidate) -> str:
    """One digest over the files of a model, weights beside a graph included, and what the manifest says of its text."""
    manifest = candidate.manifest
    digest = hashlib.sha256(f"{manifest.family} {manifest.text_case} {manifest.sample_rate_hz}".encode())
    for role, file in sorted(manifest.files.items()):
        path = candidate.directory / file.path
        digest.update(f"{role} {sha256_of(path)}".encode())
        if path.suffix == ".onnx":
            for name in sorted(read_header(path).external_bytes):
                digest.update(f"{name} {sha256_of(path.parent / name)}".encode())
    return digest.hexdigest()
