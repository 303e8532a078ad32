"""The work of ``quantize --format rknn`` and ``qnn``: words to a conversion, and what came of it in some lines."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import click

from edge_asr.cli import exit_codes
from edge_asr.cli.messages import remark, warn
from edge_asr.cli.quantize_job import parse_points, require_packages
from edge_asr.cli.quantize_progress import quantize_progress
from edge_asr.cli.stores import open_store
from edge_asr.engines.provider_table import RKNN_CHIPS
from edge_asr.errors import ConfigurationError

if TYPE_CHECKING:
    from edge_asr.quantize.npu_report import Report

_WHY_NOT = {
    "over": "on the NPU it makes more errors than the budget allows",
    "undecided": "the budget lies in the interval of the change; give more recordings, or a larger increase",
    "broken": "the compiled graph is not the original: an output over whole recordings points elsewhere",
}

RECIPES = {"rknn": ("auto", "fp16", "int8-static"), "qnn": ("auto", "int8-static")}
"""Format to the recipes that it can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NpuWishes:
    """What the user asked for, checked."""

    model: str
    output: Path
    is_int8: bool
    evaluation: Path | None
    budget: float | None
    """Absolute: 0.005 for half a percentage point."""
    chip: str
    file_format: str
    toolkit: Path | None
    options: str

    @classmethod
    def checked(
        cls,
        *,
        model: str,
        output: Path,
        recipe: str,
        evaluation: Path | None,
        budget: str | None,
        target: str | None,
        file_format: str,
        toolkit: Path | None,
        options: str,
    ) -> NpuWishes:
        """From the words of the command line.

        Raises:
            ConfigurationError: A word is wrong, or two do not go together.
        """
        if recipe not in RECIPES[file_format]:
            usable = ", ".join(RECIPES[file_format])
            raise ConfigurationError(f"--recipe {recipe} is none for --format {file_format}; use one of: {usable}")
        if file_format == "rknn" and target not in RKNN_CHIPS:
            raise ConfigurationError(f"--format rknn needs the chip it is for: --target {'|'.join(RKNN_CHIPS)}")
        if budget is not None and evaluation is None:
            raise ConfigurationError("--max-wer-increase needs recordings to measure by; add --eval MANIFEST")
        return cls(
            model=model,
            output=output,
            is_int8=file_format == "rknn" and recipe == "int8-static",
            evaluation=evaluation,
            budget=None if budget is None else parse_points(budget, "--max-wer-increase"),
            chip=target or "" if file_format == "rknn" else "",
            file_format=file_format,
            toolkit=toolkit,
            options=options,
        )


def run_conversion(wishes: NpuWishes) -> int:
    """Convert, show; the exit code.

    Raises:
        EdgeAsrError: The model, the recordings, the toolkit or the machine cannot do it.
    """
    require_packages()
    from edge_asr.engines.ort_served import parse_options
    from edge_asr.quantize.convert import Conversion, convert

    order = Conversion(
        original=open_store().resolve(wishes.model),
        output=wishes.output,
        file_format=cast('Literal["rknn", "qnn"]', wishes.file_format),
        platform=wishes.chip,
        is_int8=wishes.is_int8,
        evaluation=wishes.evaluation,
        budget=wishes.budget,
        options=parse_options(wishes.options, "--npu-options"),
        toolkit=wishes.toolkit,
        command=("edge-asr", *sys.argv[1:]),
    )
    with quantize_progress() as progress:
        outcome = convert(order, progress)
    for line in conversion_lines(outcome.report):
        click.echo(line)
    for note in outcome.report.notes:
        warn(note)
    if outcome.directory is None:
        warn(f"nothing was written: {_WHY_NOT[outcome.report.verdict]}")
        return exit_codes.GATE
    remark(f"{outcome.directory} written; everything measured stands in its quantization.json")
    return exit_codes.DONE


def conversion_lines(report: Report) -> list[str]:
    """What was made and how it did, for people."""
    operators = sum(sum(counted.values()) for counted in report.operators.values())
    what = " ".join(part for part in (report.provider, report.platform, report.recipe) if part)
    lines = [
        f"{what}: {report.coverage:.0%} of {operators} operators on the NPU",
        f"simulator: {report.same_text} of {report.recordings} recordings give the float model's text",
    ]
    if report.on_cpu:
        lines.append("on the CPU: " + ", ".join(f"{count} {kind}" for kind, count in report.on_cpu.items()))
    for role, loop in report.loops.items():
        worst = min(loop.outputs, key=lambda output: output.cosine)
        lines.append(f"{role}: cosine {worst.cosine:.4f} at least ({worst.name}), over {loop.steps} steps")
    lines.append(
        f"error rate: {report.error_rate_before:.2%} float, {report.error_rate_after:.2%} on the NPU"
        f"{_change(report)}, {report.units} units of reference"
    )
    return lines


def _change(report: Report) -> str:
    if report.error_rate_change_low is None or report.error_rate_change_high is None:
        return ""
    low, high = 100 * report.error_rate_change_low, 100 * report.error_rate_change_high
    return f" (change, 95 %: {low:+.2f} to {high:+.2f} points)"
