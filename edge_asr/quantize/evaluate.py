"""What a model makes of an evaluation set, decoded by the real engine in a child process.

Every recording's text is written down as soon as it is known, under the digests of the model's files, the settings and
the audio, so that an interrupted run goes on where it was and no model is decoded twice.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from queue import Queue

import msgspec

from edge_asr.quantize.decoding import Candidate, DecodingProcess, decoding_process
from edge_asr.quantize.decoding_messages import Recognised
from edge_asr.quantize.evaluation_set import EvaluationSet, OnRecording, Recording
from edge_asr.quantize.journal import Journal
from edge_asr.resources.memory import available_bytes
from edge_asr.scoring import ScoringReport, score
from edge_asr.settings import Settings
from edge_asr.store.digest import sha256_of
from edge_asr.store.onnx_header import read_header
from edge_asr.workers.loading import needed_bytes

Stop = Callable[["Evaluation"], bool]
"""Looks at what was decoded so far, now and then, and says whether that is enough."""

LOOKS = (0.1, 0.25, 0.5)
"""After which shares of the recordings :data:`Stop` is asked."""


MOST_PROCESSES = 8
MEMORY_SHARE = 0.5
"""Of the free memory that they may take together."""


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
    def wall_s(self) -> float:
        """Time that decoding took, all processes together; no comparison with other models: see ``speed.py``."""
        return sum(one.wall_s for one in self.recognised)


def processes_for(candidate: Candidate) -> int:
    """How many processes decode side by side: one for each core that we may use, as far as memory goes."""
    needed = needed_bytes(candidate.directory, candidate.manifest)
    fitting = int(available_bytes() * MEMORY_SHARE) // needed
    return max(1, min(len(os.sched_getaffinity(0)), MOST_PROCESSES, fitting))


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
        """In the order of the set; as many processes as there are cores decode what is not known yet."""
        known = Journal(self._cache / f"{self._key(candidate)}.jsonl", Recognised)
        recordings = self.evaluation.recordings
        unknown = {one.sha256: one for one in recordings if known.find(one.sha256) is None}
        with ExitStack() as stack:
            fresh = stack.enter_context(self._decoded(candidate, list(unknown.values()))) if unknown else iter(())
            for recording in recordings:
                found = known.find(recording.sha256)
                if found is None:
                    found = next(fresh)
                    known.enter(recording.sha256, found)
                yield found

    @contextmanager
    def _decoded(self, candidate: Candidate, recordings: Sequence[Recording]) -> Iterator[Iterator[Recognised]]:
        """What the model makes of these recordings, in their order; leaving the context ends the decoding."""
        processes: Queue[DecodingProcess] = Queue()
        with ExitStack() as stack:
            for _ in range(min(processes_for(candidate), len(recordings))):
                processes.put(stack.enter_context(decoding_process(candidate, self._settings, self._vad_model)))

            def recognise(recording: Recording) -> Recognised:
                process = processes.get()
                try:
                    return process.recognise(recording.clip.path)
                finally:
                    processes.put(process)

            executor = ThreadPoolExecutor(processes.qsize())
            try:
                yield executor.map(recognise, recordings)
            finally:
                executor.shutdown(cancel_futures=True)

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
