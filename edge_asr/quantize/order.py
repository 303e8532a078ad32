"""What is to be done, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from edge_asr.quantize.costs import MeasuredProduct
from edge_asr.quantize.document import Document
from edge_asr.quantize.recipes import RecipeName, RecipeOptions
from edge_asr.quantize.targets import Target
from edge_asr.settings import Settings
from edge_asr.store.store import InstalledModel

Goal = Literal["better", "smallest"]
"""``better``: the smallest within the budget that has no more errors than the usual int8; ``smallest``: whatever its
errors."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is to be done."""

    original: InstalledModel
    output: Path
    recipe: RecipeName | Literal["auto"]
    target: Target
    options: RecipeOptions = field(default_factory=RecipeOptions)
    evaluation: Path | None = None
    """Manifest of the recordings to judge by; ``None``: nothing is decoded."""
    calibration: Path | None = None
    """Manifest or folder; ``None``: a part of the evaluation set, or the recordings inside the package."""
    budget: float | None = None
    """Absolute increase of the error rate, 0.005 for half a percentage point."""
    goal: Goal = "better"
    seed: int = 0
    board_times: tuple[MeasuredProduct, ...] = ()
    """What products took on the board; without them the target's table decides, or this machine where it is it."""
    settings: Settings = field(default_factory=Settings)
    vad_model: Path | None = None
    command: tuple[str, ...] = ()
    is_continued: bool = False
    """Whether the original may be quantized in parts already; those are left alone."""
    file_format: Literal["onnx", "ort"] = "onnx"
    report: Path | None = None
    """Where the report is also written to."""

    @property
    def language(self) -> str:
        """Of the model, the first where it has several."""
        languages = self.original.manifest.languages
        return languages[0] if languages else "en"

    @property
    def needs_calibration(self) -> bool:
        """Whether recordings are needed to make the model, not only to judge it."""
        return self.recipe in ("auto", "int8-static") or self.options.weights.algorithm == "gptq"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it."""

    document: Document
    directory: Path | None
    """Where the model is; ``None`` where none was within the budget."""
    report: Path
    """The page."""
