"""What each node's choice alone does to the posteriors, and what a whole assignment does.

The numbers of one node are written down as they come; with hundreds of nodes this is the longest part of a search.
"""

from __future__ import annotations

import hashlib
import math
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import msgspec
import onnx

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_streaming import Inputs, StreamingRunner, TokenPath
from edge_asr.quantize.choices import Choice, Node, WeightOptions, of_component
from edge_asr.quantize.divergence import Divergence, divergence
from edge_asr.quantize.evaluate import MEMORY_SHARE, MOST_PROCESSES
from edge_asr.quantize.feedback import Moments
from edge_asr.quantize.frontier import NodeKey
from edge_asr.quantize.graph import apply_assignment
from edge_asr.quantize.journal import Journal
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.recorded_steps import RecordedSteps
from edge_asr.quantize.sources import digest_of, source_in
from edge_asr.quantize.twins import Twins, with_twins
from edge_asr.quantize.walk import model_bytes
from edge_asr.quantize.workshop import Workshop
from edge_asr.resources.memory import available_bytes

QUICK_AUDIO_S = 8.0
"""Heard for each choice of each node; whole models hear everything."""

SECOND_LOOK = 0.25
"""Share of the nodes, those that int8 harms most, for which gentler choices are measured too."""

COPIES = 5
"""Of a graph in memory while one of its quantized versions is made, loaded and heard."""
LIBRARIES_BYTES = 64 << 20
"""What a listener needs beside the weights."""

_FIRST: tuple[Choice, ...] = ("int8", "weight4")
_SECOND: tuple[Choice, ...] = ("weight8", "fp16")

Harms = dict[NodeKey, dict[Choice, Divergence]]


class Comparer(Protocol):
    """Says how far a model is from the original."""

    @property
    def blank(self) -> int | None:
        """Index of the blank; ``None`` where it is not heard which tokens are scored."""

    @property
    def digest(self) -> str:
        """Of the original and of what is heard."""

    def steps(self, role: str) -> Iterator[Inputs]:
        """Inputs of runs of one graph of the original."""

    def compare(self, models: Mapping[str, onnx.ModelProto | Path], *, quickly: bool = False) -> Divergence:
        """How far a model is from the original."""


class Ear:
    """Hears the same recordings with every model and compares the posteriors with the original's."""

    def __init__(
        self,
        workshop: Workshop,
        audio: Sequence[Float32Array],
        calibration: Sequence[Float32Array],
        folder: Path,
    ) -> None:
        """Listen with the original.

        Args:
            workshop: Whose original is the reference.
            audio: Recordings at the model's rate that models are compared by.
            calibration: Others, whose inputs are kept: what is fitted to one recording looks better on it than it is.
            folder: Where those inputs are kept, and graphs that are too large for memory; emptied first.

        Raises:
            ModelUnsupported: Models of the family cannot be run step by step.
        """
        self._workshop = workshop
        self._audio = list(audio)
        shutil.rmtree(folder, ignore_errors=True)
        self._folder = folder
        self._files = {
            role: source_in(folder / "original", role, prepared.model) for role, prepared in workshop.components.items()
        }
        self._rate_hz = workshop.original.manifest.sample_rate_hz
        runner = self._runner(self._files)
        self.blank = runner.blank
        is_transducer = "joiner" in self._files
        self._paths: list[TokenPath | None] = [runner.greedy(one) if is_transducer else None for one in self._audio]
        self._original = self._listen(runner, len(self._audio))
        self._few = _count_of(self._audio, QUICK_AUDIO_S * self._rate_hz)
        self._steps = RecordedSteps(folder / "steps")
        self._steps.record(runner, calibration)

    @property
    def digest(self) -> str:
        """Of the original and of what is heard."""
        digest = hashlib.sha256()
        for role in sorted(self._workshop.components):
            digest.update(digest_of(self._workshop.components[role].model))
        for samples in self._audio:
            digest.update(samples.tobytes())
        return digest.hexdigest()

    def compare(self, models: Mapping[str, onnx.ModelProto | Path], *, quickly: bool = False) -> Divergence:
        """How far a model is from the original.

        Args:
            models: Role to graph or file; others are the original's.
            quickly: Hear the first recordings only.
        """
        count = self._few if quickly else len(self._audio)
        with tempfile.TemporaryDirectory(dir=self._folder) as folder:
            files = self._files | {
                role: model if isinstance(model, Path) else source_in(Path(folder), role, model)
                for role, model in models.items()
            }
            runner = self._runner(files)
        heard = self._listen(runner, count)
        return divergence(self._original[:count], heard, self.blank)

    def steps(self, role: str) -> Iterator[Inputs]:
        """Inputs of runs of one graph of the original, while it heard the calibration recordings."""
        return self._steps.read(role)

    def _runner(self, files: Mapping[str, Path | bytes]) -> StreamingRunner:
        return StreamingRunner(files, self._workshop.family, sample_rate_hz=self._rate_hz)

    def _listen(self, runner: StreamingRunner, count: int) -> list[Float32Array]:
        heard = zip(self._audio[:count], self._paths[:count], strict=True)
        return [runner.log_posteriors(samples, path) for samples, path in heard]


class Heard(msgspec.Struct, frozen=True):
    """A :class:`~edge_asr.quantize.divergence.Divergence` on disk; what is not finite is ``None`` there."""

    nats: float | None
    flips: float | None
    blank_drift: float | None
    frames: int

    @property
    def divergence(self) -> Divergence:
        """In memory."""
        nats, flips, drift = (math.inf if one is None else one for one in (self.nats, self.flips, self.blank_drift))
        return Divergence(nats, flips, drift, self.frames)


def measure_harms(
    ear: Comparer,
    workshop: Workshop,
    nodes: Sequence[Node],
    twins: Twins,
    weights: WeightOptions,
    moments: Mapping[str, Mapping[str, Moments]],
    folder: Path,
    progress: Progress,
) -> Harms:
    """Quantize every node alone, with those that read the same weights, in each way that may be worth it.

    First as int8 and in 4 bits; then, for the nodes that int8 harms most, in the gentler ways.

    Args:
        ear: What compares.
        workshop: The graphs.
        nodes: One for each of the weights.
        twins: The others that read them.
        weights: How weights become integers.
        moments: For ``gptq``, by role and node.
        folder: Where the numbers are written down.
        progress: Hears of it.
    """
    key = hashlib.sha256(f"{ear.digest} {QUICK_AUDIO_S} {msgspec.to_builtins(weights)}".encode()).hexdigest()[:32]
    journal = Journal(folder / f"{key}.jsonl", Heard)
    measurer = _Measurer(ear, workshop, twins, weights, moments, journal, progress)
    harms = measurer.measure(
        "measuring every node", [(node, choice) for node in nodes for choice in _possible(node, _FIRST)]
    )
    worst = _most_harmed(nodes, harms)
    more = measurer.measure(
        "measuring sensitive nodes again", [(node, choice) for node in worst for choice in _possible(node, _SECOND)]
    )
    for node, found in more.items():
        harms[node].update(found)
    return harms


def choices_to_measure(nodes: Sequence[Node]) -> int:
    """How many times :func:`measure_harms` quantizes one node."""
    first = sum(len(list(_possible(node, _FIRST))) for node in nodes)
    return first + round(SECOND_LOOK * len(nodes)) * len(_SECOND)


class _Measurer:
    def __init__(
        self,
        ear: Comparer,
        workshop: Workshop,
        twins: Twins,
        weights: WeightOptions,
        moments: Mapping[str, Mapping[str, Moments]],
        journal: Journal[Heard],
        progress: Progress,
    ) -> None:
        self._ear = ear
        self._workshop = workshop
        self._twins = twins
        self._weights = weights
        self._moments = moments
        self._journal = journal
        self._progress = progress

    def measure(self, title: str, pairs: Sequence[tuple[Node, Choice]]) -> Harms:
        harms: Harms = {}
        self._progress.stage(title, len(pairs))
        unknown = [(node, choice) for node, choice in pairs if self._journal.find(_key(node, choice)) is None]
        executor = ThreadPoolExecutor(listeners_for(self._workshop))
        try:
            fresh = executor.map(lambda pair: self._heard(*pair), unknown)
            for number, (node, choice) in enumerate(pairs, 1):
                found = self._journal.find(_key(node, choice))
                if found is None:
                    found = next(fresh)
                    self._journal.enter(_key(node, choice), found)
                harms.setdefault((node.component, node.name), {})[choice] = found.divergence
                self._progress.advance(number)
        finally:
            executor.shutdown(cancel_futures=True)
        return harms

    def _heard(self, node: Node, choice: Choice) -> Heard:
        chosen = with_twins({(node.component, node.name): choice}, self._twins)
        quantized = apply_assignment(
            self._workshop.components[node.component],
            node.component,
            of_component(chosen, node.component),
            weights=self._weights,
            moments=self._moments.get(node.component),
        )
        heard = self._ear.compare({node.component: quantized.model}, quickly=True)
        return Heard(heard.nats, heard.flips, heard.blank_drift, heard.frames)


def listeners_for(workshop: Workshop) -> int:
    """How many models are heard side by side: one for each core that we may use, as far as memory goes."""
    largest = max(model_bytes(prepared.model) for prepared in workshop.components.values())
    fitting = int(available_bytes() * MEMORY_SHARE) // (COPIES * largest + LIBRARIES_BYTES)
    return max(1, min(len(os.sched_getaffinity(0)), MOST_PROCESSES, fitting))


def _key(node: Node, choice: Choice) -> str:
    return f"{node.component} {node.name} {choice}"


def _possible(node: Node, wanted: Sequence[Choice]) -> Iterator[Choice]:
    return (choice for choice in wanted if choice in node.choices)


def _most_harmed(nodes: Sequence[Node], harms: Harms) -> list[Node]:
    def harm(node: Node) -> float:
        found = harms.get((node.component, node.name), {})
        return found["int8"].harm if "int8" in found else 0.0

    ranked = sorted(nodes, key=lambda node: (-harm(node), node.component, node.name))
    return ranked[: max(1, round(SECOND_LOOK * len(nodes)))] if nodes else []


def _count_of(audio: Sequence[Float32Array], samples: float) -> int:
    """How many recordings, from the first, are so long together."""
    total = 0
    for count, one in enumerate(audio, 1):
        total += len(one)
        if total >= samples:
            return count
    return len(audio)
