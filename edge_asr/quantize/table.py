"""The work table of one run: what all its steps need, and where what they find is put."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from edge_asr.quantize.decoding import judging_settings
from edge_asr.quantize.document import Point
from edge_asr.quantize.evaluate import Evaluator, processes_for
from edge_asr.quantize.graph import Quantized
from edge_asr.quantize.order import Order
from edge_asr.quantize.output import CANDIDATES, folder_bytes
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.recordings import Recordings
from edge_asr.quantize.referee import Referee
from edge_asr.quantize.search import Searched
from edge_asr.quantize.speed import Speeds, choose_for_speed, measure_speed
from edge_asr.quantize.workshop import Made, Workshop
from edge_asr.settings import Settings

SPEED_AUDIO_S = 60.0
"""Decoded by each model in each round of a comparison of speeds."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a recipe or a search ends with."""

    points: tuple[Point, ...]
    kept: Made | None
    """``None`` where nothing is within the budget."""
    notes: tuple[str, ...] = ()
    """What the user should know, a sentence each."""
    searched: Searched | None = None


@dataclass(slots=True)
class Table:
    """One run."""

    order: Order
    progress: Progress
    recordings: Recordings
    folder: Path
    """Of the work; kept when the run is interrupted."""
    workshop: Workshop
    original: Made
    settings: Settings
    """Under which every model is judged."""
    peak_disk_bytes: int = 0
    decode_s: float = 0.0
    """What judging one candidate takes."""
    began_s: float = field(default_factory=time.monotonic)

    def make(self, name: str, quantized: Mapping[str, Quantized]) -> Made:
        """A candidate, on disk."""
        made = self.workshop.make(name, quantized)
        self.weigh()
        return made

    def weigh(self) -> None:
        """Look at how much disk the work takes now."""
        self.peak_disk_bytes = max(self.peak_disk_bytes, folder_bytes(self.folder))

    def referee(self) -> Referee | None:
        """Who compares with the original's transcripts; ``None`` without an evaluation set."""
        evaluation = self.recordings.evaluation
        if evaluation is None:
            return None
        evaluator = Evaluator(evaluation, self.settings, self.folder / "decoded", self.order.vad_model)
        self.progress.stage("decoding with the original", len(evaluation.recordings))
        began_s = time.monotonic()
        original = evaluator.evaluate(
            self.original.candidate, on_recording=lambda done, _total: self.progress.advance(done)
        )
        # What was decoded before costs nothing now and will cost with the next model.
        self.decode_s = max(time.monotonic() - began_s, original.wall_s / processes_for(self.original.candidate))
        return Referee(evaluator, original, self.order.budget, self.progress)

    def speeds(self, models: Iterable[Made]) -> Speeds:
        """Let models take turns on the same recordings."""
        self.progress.stage("comparing speeds", 1)
        return measure_speed(
            {made.name: made.candidate for made in models},
            choose_for_speed(self.recordings.any, SPEED_AUDIO_S, self.order.seed),
            self.settings,
            self.order.vad_model,
        )


def set_table(order: Order, progress: Progress, recordings: Recordings, folder: Path) -> Table:
    """Read the original's graphs.

    Args:
        order: What is to be done.
        progress: Hears of it.
        recordings: All that were read.
        folder: Of the work.

    Raises:
        ModelError: The original cannot be quantized.
    """
    workshop = Workshop(order.original, folder / CANDIDATES, is_continued=order.is_continued)
    return Table(
        order=order,
        progress=progress,
        recordings=recordings,
        folder=folder,
        workshop=workshop,
        original=workshop.unchanged(),
        settings=judging_settings(order.settings),
    )
