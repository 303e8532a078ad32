"""What is done to a model beside choosing how many bits each node gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from edge_asr.engines.ort_session import Inputs
from edge_asr.quantize.bias import correct_bias
from edge_asr.quantize.blank import with_blank_penalty
from edge_asr.quantize.choices import Choice, WeightOptions, of_component
from edge_asr.quantize.clip import clipped
from edge_asr.quantize.feedback import Moments
from edge_asr.quantize.frontier import NodeKey
from edge_asr.quantize.graph import Prepared, Quantized, apply_assignment
from edge_asr.quantize.smooth import smoothed


@dataclass(frozen=True, slots=True)
class Treatment:
    """All of it; by default nothing."""

    weights: WeightOptions = field(default_factory=WeightOptions)
    clips_weights: bool = False
    corrects_bias: bool = False
    smooths: bool = False
    blank_penalty: float = 0.0


class Hearing(Protocol):
    """The original, hearing the calibration recordings."""

    @property
    def blank(self) -> int | None:
        """Index of the blank; ``None`` where no penalty for it can be judged."""

    def steps(self, role: str) -> Iterator[Inputs]:
        """Inputs of every run of one graph."""


def treat(
    components: Mapping[str, Prepared],
    chosen: Mapping[NodeKey, Choice],
    treatment: Treatment,
    hearing: Hearing,
    moments: Mapping[str, Mapping[str, Moments]],
) -> dict[str, Quantized]:
    """Every component of a candidate.

    Args:
        components: Role to float graph.
        chosen: What becomes of each node.
        treatment: What else.
        hearing: Where ranges and means are taken from.
        moments: For ``gptq``, by role and node.
    """
    made = {
        role: _treated(role, prepared, of_component(chosen, role), treatment, hearing, moments.get(role, {}))
        for role, prepared in components.items()
    }
    if hearing.blank is None or not treatment.blank_penalty:
        return made
    models = with_blank_penalty({role: one.model for role, one in made.items()}, hearing.blank, treatment.blank_penalty)
    return {role: replace(one, model=models[role]) for role, one in made.items()}


def _treated(
    role: str,
    prepared: Prepared,
    choices: Mapping[str, Choice],
    treatment: Treatment,
    hearing: Hearing,
    moments: Mapping[str, Moments],
) -> Quantized:
    by_integers = [name for name, choice in choices.items() if choice == "int8"]
    source = prepared
    if treatment.smooths and by_integers:
        source = smoothed(source, by_integers, lambda: hearing.steps(role))
    if treatment.clips_weights and by_integers:
        source = clipped(source, by_integers)
    quantized = apply_assignment(source, role, choices, weights=treatment.weights, moments=moments)
    coarse = [name for name, choice in choices.items() if choice in ("int8", "weight4", "weight8")]
    if treatment.corrects_bias and coarse:
        quantized = correct_bias(source, quantized, coarse, lambda: hearing.steps(role))
    return quantized


PENALTIES = (0.1, 0.2, 0.4, 0.8)
"""Small ones only: a large penalty makes words out of nothing."""


@dataclass(frozen=True, slots=True)
class Rescue:
    """Something to try when the budget stops the search."""

    sentence: str
    """What is said of it when it helped."""
    treatments: tuple[Treatment, ...]
    """The one with the least harm is taken."""


RESCUES = ("clip", "bias", "smooth", "blank")
"""In the order in which they are tried. Leaving the most sensitive nodes alone comes before all of them: it is what the
search does by itself."""


def rescue_of(name: str, treatment: Treatment) -> Rescue:
    """A rescue on top of what is done already."""
    match name:
        case "clip":
            sentence = "weights were clipped to where rounding them to 8 bits errs least"
            return Rescue(sentence, (replace(treatment, clips_weights=True),))
        case "bias":
            sentence = "what quantization added to the mean of each product was taken off its bias"
            return Rescue(sentence, (replace(treatment, corrects_bias=True),))
        case "smooth":
            sentence = "channels of activations that stand out were evened out into the weights that read them"
            return Rescue(sentence, (replace(treatment, smooths=True),))
        case "blank":
            sentence = "the blank is scored lower, in the graph itself, against deletions"
            return Rescue(sentence, tuple(replace(treatment, blank_penalty=penalty) for penalty in PENALTIES))
        case _:
            raise ValueError(f"there is no rescue {name!r}")
