"""Fixed recipes: the same choice for every node of a kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from edge_asr.quantize.choices import WeightOptions
from edge_asr.quantize.graph import Prepared, Quantized
from edge_asr.quantize.targets import Target

RecipeName = Literal["int8", "int8-static", "weight8", "weight4", "fp16"]


@dataclass(frozen=True, slots=True)
class RecipeOptions:
    """What a user may change of a recipe."""

    is_decoder_quantized: bool = False
    """The decoder of a transducer is small, and int8 in it alone cost a published model 2.3 points of WER."""
    weights: WeightOptions = field(default_factory=WeightOptions)


def apply_recipe(
    recipe: RecipeName, components: Mapping[str, Prepared], target: Target, options: RecipeOptions | None = None
) -> dict[str, Quantized]:
    """Make every component of a model by a recipe.

    Args:
        recipe: Its name. ``int8-static`` needs calibration and has a function of its own.
        components: Role to graph.
        target: The board.
        options: What differs from the recipe's defaults.

    Raises:
        NothingQuantized: No component has a node that the recipe quantizes.
    """
    raise NotImplementedError


def stock_int8(components: Mapping[str, Prepared]) -> dict[str, Quantized]:
    """What icefall exports, as the yardstick: one scale for a whole matrix, MatMul only, the decoder too."""
    raise NotImplementedError
