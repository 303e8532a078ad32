"""Fixed recipes: the same choice for every node of a kind.

========== ==================================================================================================
``int8``    every constant product by integers, a scale for each column; the decoder of a transducer stays
``weight8`` every constant product with 8-bit weights in blocks
``weight4`` the same with 4-bit weights
``fp16``    the whole graph in half precision, inputs and outputs float32
========== ==================================================================================================

``int8-static`` needs recordings and stands in :mod:`edge_asr.quantize.static`; ``auto`` is a search.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import onnx

from edge_asr.errors import ConfigurationError, NothingQuantized
from edge_asr.quantize.choices import Choice, WeightOptions
from edge_asr.quantize.feedback import Moments
from edge_asr.quantize.graph import OperatorCounts, Prepared, Quantized, apply_assignment, quantizable_nodes
from edge_asr.quantize.half_graph import convert_to_halves
from edge_asr.quantize.targets import Target
from edge_asr.quantize.walk import operator_counts

RecipeName = Literal["int8", "int8-static", "weight8", "weight4", "fp16"]

CHOICES: Mapping[str, Choice] = {"int8": "int8", "weight8": "weight8", "weight4": "weight4"}
"""Recipes that are one choice for each product."""
PRODUCTS = ("MatMul", "Gemm", "Conv")
"""Operators that they quantize; an embedding table is a choice of the search."""


@dataclass(frozen=True, slots=True)
class RecipeOptions:
    """What a user may change of a recipe."""

    is_decoder_quantized: bool = False
    """The decoder of a transducer is small, and int8 in it alone cost a published model 2.3 points of WER."""
    weights: WeightOptions = field(default_factory=WeightOptions)


def apply_recipe(
    recipe: RecipeName,
    components: Mapping[str, Prepared],
    target: Target,
    options: RecipeOptions | None = None,
    moments: Mapping[str, Mapping[str, Moments]] | None = None,
) -> dict[str, Quantized]:
    """Make every component of a model by a recipe.

    Args:
        recipe: Its name; not ``int8-static``.
        components: Role to graph.
        target: The board.
        options: What differs from the recipe's defaults.
        moments: For ``gptq``: role to what was measured of its products' inputs.

    Returns:
        Role to result, for all components: what the recipe leaves alone comes back prepared.

    Raises:
        NothingQuantized: No component has a node that the recipe quantizes.
        ConfigurationError: The recipe is none of these.
    """
    options = options or RecipeOptions()
    kept = kept_components(components, options)
    made = {
        role: _kept(role, graph) if role in kept else _applied(recipe, role, graph, target, options, moments or {})
        for role, graph in components.items()
    }
    if not any(result.counts.quantized for result in made.values()):
        raise NothingQuantized(recipe, f"no node of {', '.join(components)} multiplies with a constant float32 matrix")
    return made


def kept_components(components: Mapping[str, object], options: RecipeOptions) -> frozenset[str]:
    """Roles that stay float32. A transducer is told by its joiner; the decoders of other models are large networks."""
    is_transducer = "joiner" in components
    return frozenset({"decoder"} if is_transducer and not options.is_decoder_quantized else ())


def recipe_nodes(recipe: str, role: str, graph: Prepared, target: Target) -> dict[str, Choice]:
    """What a recipe chooses for the nodes of a component.

    Raises:
        ConfigurationError: The recipe is none of those that choose.
    """
    if recipe not in CHOICES:
        raise ConfigurationError(f"recipe {recipe!r} is none of {', '.join((*CHOICES, 'fp16'))}")
    return {node.name: CHOICES[recipe] for node in quantizable_nodes(graph, role, target) if node.operator in PRODUCTS}


def _kept(role: str, graph: Prepared) -> Quantized:
    result = apply_assignment(graph, role, {})
    return replace(result, notes=(f"{role} stays float32: it is small, and errors in it cost most",))


def _applied(
    recipe: str,
    role: str,
    graph: Prepared,
    target: Target,
    options: RecipeOptions,
    moments: Mapping[str, Mapping[str, Moments]],
) -> Quantized:
    if recipe == "fp16":
        return _halved(graph, role, target)
    chosen = recipe_nodes(recipe, role, graph, target)
    result = apply_assignment(graph, role, chosen, weights=options.weights, moments=moments.get(role))
    return replace(result, notes=(*graph.notes, f"{target.name}: {target.why}"))


def _halved(graph: Prepared, role: str, target: Target) -> Quantized:
    model = convert_to_halves(graph.model)
    halves = sum(tensor.data_type == onnx.TensorProto.FLOAT16 for tensor in model.graph.initializer)
    counts = OperatorCounts(operator_counts(graph.model), operator_counts(model), {"fp16": halves} if halves else {})
    note = f"{role}: half the size; {target.name} computes halves no faster than floats, and often slower"
    return Quantized(model, counts, (*graph.notes, note))
