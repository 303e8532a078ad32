"""Recipes that listen first: ``int8-static``, and blocks rounded with error feedback (``gptq``)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_streaming import StreamingRunner
from edge_asr.families import ModelFamily
from edge_asr.quantize.feedback import Moments
from edge_asr.quantize.graph import Prepared, Quantized
from edge_asr.quantize.moments import measure_moments
from edge_asr.quantize.recipes import RecipeName, RecipeOptions, apply_recipe, kept_components, recipe_nodes
from edge_asr.quantize.recorded_steps import RecordedSteps
from edge_asr.quantize.static import static_int8
from edge_asr.quantize.targets import Target


def needs_recordings(recipe: str, options: RecipeOptions) -> bool:
    """Whether the recipe must hear something."""
    return recipe == "int8-static" or (recipe in ("weight4", "weight8") and options.weights.algorithm == "gptq")


def apply_calibrated(
    recipe: RecipeName,
    components: Mapping[str, Prepared],
    family: ModelFamily,
    target: Target,
    options: RecipeOptions,
    recordings: Iterable[Float32Array],
    sample_rate_hz: int = 16_000,
    folder: Path | None = None,
) -> dict[str, Quantized]:
    """Make every component of a streaming model by a recipe that needs recordings.

    Args:
        recipe: ``int8-static``, or ``weight4`` or ``weight8`` with ``gptq``.
        components: Role to graph.
        family: How they fit together.
        target: The board.
        options: What differs from the recipe's defaults.
        recordings: Mono at the model's rate; taken one at a time.
        sample_rate_hz: Of the recordings.
        folder: Where recorded steps lie meanwhile; the system's folder for temporary files by default.

    Raises:
        ModelUnsupported: The family cannot be run step by step.
        InputError: The recordings are too short for one step.
        NothingQuantized: No component has a node that the recipe quantizes.
    """
    with tempfile.TemporaryDirectory(prefix="edge-asr-calibration-", dir=folder) as work:
        steps = RecordedSteps(Path(work))
        steps.record(_runner(components, family, sample_rate_hz), recordings)
        if recipe == "int8-static":
            return static_int8(components, steps, options)
        moments = _moments(recipe, components, target, options, steps)
        return apply_recipe(recipe, components, target, options, moments)


def _runner(components: Mapping[str, Prepared], family: ModelFamily, sample_rate_hz: int) -> StreamingRunner:
    graphs = {role: graph.model.SerializeToString() for role, graph in components.items()}
    return StreamingRunner(graphs, family, sample_rate_hz=sample_rate_hz)


def _moments(
    recipe: str, components: Mapping[str, Prepared], target: Target, options: RecipeOptions, steps: RecordedSteps
) -> dict[str, dict[str, Moments]]:
    kept = kept_components(components, options)
    return {
        role: measure_moments(graph, recipe_nodes(recipe, role, graph, target), partial(steps.read, role))
        for role, graph in components.items()
        if role not in kept
    }
