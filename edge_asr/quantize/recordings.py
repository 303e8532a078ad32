"""The recordings of one run: those that judge, and those that calibrate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from edge_asr.audio import Float32Array
from edge_asr.errors import InputError
from edge_asr.quantize.calibrate import MOST_AUDIO_S, calibration_audio, choose_recordings
from edge_asr.quantize.evaluation_set import (
    EvaluationSet,
    Recording,
    look_at,
    read_evaluation_set,
    require_apart,
    set_apart,
)
from edge_asr.quantize.order import Order
from edge_asr.quantize.progress import Progress
from edge_asr.quantize.referee import require_decidable
from edge_asr.workload import bundled_clips, read_clips

CALIBRATION_SHARE = 0.1
"""Of the evaluation set, where no calibration recordings are given; those no longer judge."""

COMPARED_AUDIO_S = 20.0
"""Calibration audio that a search compares models by, again and again; the rest is calibrated with."""


@dataclass(frozen=True, slots=True)
class Recordings:
    """All of them, read once."""

    evaluation: EvaluationSet | None
    calibration: tuple[Recording, ...]
    """Those that are really heard."""
    calibration_source: str

    @property
    def any(self) -> tuple[Recording, ...]:
        """Those of the evaluation, or where there is none those of the calibration."""
        return self.evaluation.recordings if self.evaluation else self.calibration

    def calibration_audio(self, rate_hz: int, seed: int) -> list[Float32Array]:
        """The sound of the calibration at the model's rate."""
        return calibration_audio(self.calibration, rate_hz, seed)

    def search_audio(self, rate_hz: int, seed: int) -> tuple[list[Float32Array], list[Float32Array]]:
        """The sound to compare models by, and other sound to calibrate with; the same where there is too little."""
        compared = choose_recordings(self.calibration, seed, COMPARED_AUDIO_S)
        others = [recording for recording in self.calibration if recording not in compared]
        return (
            calibration_audio(compared, rate_hz, seed),
            calibration_audio(others or compared, rate_hz, seed + 1),
        )


def read_recordings(order: Order, progress: Progress) -> Recordings:
    """Read every recording that the order names, and see that they will do.

    Raises:
        InputError: One cannot be used; one is in both sets; there are too few words to decide about the budget.
    """
    evaluation = None
    if order.evaluation is not None:
        evaluation = read_evaluation_set(order.evaluation, order.language, _Reading(progress).heard)
    pool, evaluation, source = _calibration(order, evaluation)
    if evaluation is not None:
        require_apart(pool, evaluation)
        _require_enough(order, evaluation, str(order.evaluation))
    chosen = choose_recordings(pool, order.seed, MOST_AUDIO_S) if order.needs_calibration else []
    return Recordings(evaluation, tuple(chosen), source)


def _calibration(order: Order, evaluation: EvaluationSet | None) -> tuple[list[Recording], EvaluationSet | None, str]:
    """Recordings to choose from, what is left to judge by, and where they come from."""
    if order.calibration is not None:
        return look_at(read_clips(order.calibration), order.language), evaluation, str(order.calibration)
    if not order.needs_calibration:
        return [], evaluation, ""
    if evaluation is None:
        return look_at(bundled_clips(), order.language), None, "the package"
    pool, rest = set_apart(evaluation, CALIBRATION_SHARE, order.seed)
    return pool, rest, f"a part of {order.evaluation}"


def _require_enough(order: Order, evaluation: EvaluationSet, path: Path | str) -> None:
    if len(set(evaluation.blocks)) < 2:
        raise InputError(f"{path}: at least two recordings are needed to judge by, besides those for calibration")
    if order.budget is not None:
        require_decidable(evaluation, order.budget)


class _Reading:
    """Turns progress of reading into a stage of the right length."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def heard(self, done: int, total: int) -> None:
        if done == 1:
            self._progress.stage("reading the evaluation set", total)
        self._progress.advance(done)
