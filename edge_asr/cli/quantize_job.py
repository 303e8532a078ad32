"""The work of ``quantize``: words to an order, and what came out of it as a table."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from edge_asr.cli import exit_codes
from edge_asr.cli.messages import remark, warn
from edge_asr.cli.quantize_progress import quantize_progress
from edge_asr.cli.quantize_times import read_board_times
from edge_asr.cli.stores import open_store
from edge_asr.errors import ConfigurationError, LibraryMissing
from edge_asr.settings import Settings
from edge_asr.store.voice_activity import installed_vad

if TYPE_CHECKING:
    from edge_asr.quantize.choices import WeightAlgorithm
    from edge_asr.quantize.document import Document
    from edge_asr.quantize.order import Goal, Outcome
    from edge_asr.quantize.recipes import RecipeName

LARGEST_BUDGET_POINTS = 50.0

BOARDS = ("pi3", "pi4", "pi5", "rk3588", "generic-arm", "x86")
"""Targets whose processors run the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the user asked for, checked."""

    model: str
    output: Path
    recipe: str
    calibration: Path | None
    evaluation: Path | None
    budget: float | None
    """Absolute: 0.005 for half a percentage point."""
    target: str
    board_times: Path | None
    goal: str
    algorithm: str
    is_decoder_quantized: bool
    is_continued: bool
    file_format: str
    seed: int
    report: Path | None

    @classmethod
    def checked(
        cls,
        *,
        model: str,
        output: Path,
        recipe: str,
        calibration: Path | None,
        evaluation: Path | None,
        budget: str | None,
        target: str | None,
        board_times: Path | None,
        goal: str,
        algorithm: str,
        is_decoder_quantized: bool,
        is_continued: bool,
        file_format: str,
        seed: int,
        report: Path | None,
    ) -> Wishes:
        """From the words of the command line.

        Raises:
            ConfigurationError: A word is wrong, or two do not go together.
        """
        if budget is not None and evaluation is None:
            raise ConfigurationError("--max-wer-increase needs recordings to measure by; add --eval MANIFEST")
        if target is not None and target not in BOARDS:
            raise ConfigurationError(f"--target {target} is an NPU's chip; add --format rknn, or take rk3588")
        if seed < 0:
            raise ConfigurationError(f"--seed {seed} is negative")
        if report is not None and not os.access(report.absolute().parent, os.W_OK):
            raise ConfigurationError(f"{report}: there is no such folder, or it cannot be written to")
        return cls(
            model=model,
            output=output,
            recipe=recipe,
            calibration=calibration,
            evaluation=evaluation,
            budget=None if budget is None else parse_points(budget, "--max-wer-increase"),
            target=target or this_machine(),
            board_times=board_times,
            goal=goal,
            algorithm=algorithm,
            is_decoder_quantized=is_decoder_quantized,
            is_continued=is_continued,
            file_format=file_format,
            seed=seed,
            report=report,
        )


def this_machine() -> str:
    """The target that this machine is."""
    return "x86" if platform.machine() in ("x86_64", "AMD64") else "generic-arm"


def parse_points(text: str, option: str) -> float:
    """Percentage points (``0.5``, ``0.5%``) as an absolute rate.

    Raises:
        ConfigurationError: It is no number, or none that makes sense.
    """
    try:
        points = float(text.strip().removesuffix("%").strip())
    except ValueError as error:
        raise ConfigurationError(f"{option} {text!r} is no number of percentage points; write it as 0.5%") from error
    if not 0.0 < points <= LARGEST_BUDGET_POINTS:
        raise ConfigurationError(f"{option} {text!r} is outside 0 to {LARGEST_BUDGET_POINTS:g} percentage points")
    return points / 100


def run_job(wishes: Wishes, settings: Settings) -> int:
    """Quantize, show; the exit code.

    Raises:
        EdgeAsrError: The model, the recordings or the machine cannot do it.
    """
    require_packages()
    from edge_asr.quantize.choices import WeightOptions
    from edge_asr.quantize.order import Order
    from edge_asr.quantize.recipes import RecipeOptions
    from edge_asr.quantize.run import quantize
    from edge_asr.quantize.targets import TARGETS

    store = open_store()
    order = Order(
        original=store.resolve(wishes.model),
        output=wishes.output,
        recipe=cast('RecipeName | Literal["auto"]', wishes.recipe),
        target=TARGETS[wishes.target],
        options=RecipeOptions(
            is_decoder_quantized=wishes.is_decoder_quantized,
            weights=WeightOptions(algorithm=cast("WeightAlgorithm", wishes.algorithm)),
        ),
        evaluation=wishes.evaluation,
        calibration=wishes.calibration,
        budget=wishes.budget,
        goal=cast("Goal", wishes.goal),
        is_continued=wishes.is_continued,
        file_format=cast('Literal["onnx", "ort"]', wishes.file_format),
        seed=wishes.seed,
        board_times=read_board_times(wishes.board_times) if wishes.board_times else (),
        settings=settings,
        vad_model=installed_vad(store),
        command=("edge-asr", *sys.argv[1:]),
        report=wishes.report,
    )
    with quantize_progress() as progress:
        outcome = quantize(order, progress)
    _show(outcome)
    return exit_codes.DONE if outcome.directory is not None else exit_codes.GATE


def require_packages() -> None:
    """Refuse to begin without what a board does not need.

    Raises:
        LibraryMissing: With how to install it.
    """
    for package in ("onnx", "onnxruntime"):
        if find_spec(package) is None:
            raise LibraryMissing(
                f"the Python package {package!r}",
                "quantizing needs more than a board does: pip install 'edge-asr[quantize]'",
            )


def _show(outcome: Outcome) -> None:
    from edge_asr.cli.console import results_console
    from edge_asr.quantize.figure_text import component_sentence

    document = outcome.document
    # In a file or a pipe nothing needs to be squeezed into 80 columns.
    results_console(None if sys.stdout.isatty() else 200).print(_table(document))
    for component in document.components:
        remark(component_sentence(component))
    for sentence in (*document.rescues, *document.notes):
        remark(sentence)
    if document.has_vnni is False:
        warn(
            "this processor has no VNNI: everything was decoded with exact 8-bit products, as boards compute them; "
            "served on this machine the model would err more, unless engine.exact_int8 is on"
        )
    if outcome.directory is None:
        warn(f"no model is within the budget; the report is in {outcome.report}")
    else:
        remark(f"{outcome.directory} written; the report is in {outcome.report}")


def _table(document: Document) -> object:
    from rich.table import Table

    from edge_asr.quantize.figure_text import accuracy_cells, headings, size_text, speed_cells

    head = headings(document)
    rows = [
        [
            f"{point.name} *" if point.name == document.kept else point.name,
            point.verdict,
            size_text(point.size_bytes),
            *accuracy_cells(point),
            *speed_cells(point),
        ]
        for point in document.points
    ]
    table = Table(box=None, pad_edge=False)
    shown = [index for index in range(len(head)) if any(row[index] for row in rows)]
    for index in shown:
        table.add_column(head[index], justify="left" if index < 2 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(row[index] for index in shown))
    return table
