"""What the boards can do with quantized weights, and what a product costs there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from edge_asr.quantize.choices import Choice

TargetName = Literal["pi3", "pi4", "pi5", "rk3588", "generic-arm", "x86"]


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of board."""

    name: TargetName
    cores: str
    """For people."""
    choices: tuple[Choice, ...]
    """What makes sense there, the fastest first; ``fp32`` is always among them."""
    why: str
    """A sentence on the choices, for the report."""
    macs_per_cycle: Mapping[Choice, float]
    """Multiply-accumulate operations that one core can start in a cycle, by the width of its instructions."""
    bytes_per_cycle: float
    """Weights that one core can fetch from memory in a cycle."""

    def cost(self, choice: Choice, weight_shape: tuple[int, ...], rows: int) -> float:
        """Cycles of one product, for ranking only: the slower of arithmetic and of fetching the weights.

        Args:
            choice: How the weights are stored.
            weight_shape: Of the weights, as in :class:`~edge_asr.quantize.choices.Node`.
            rows: Vectors that are multiplied with them at once: the frames of a chunk.
        """
        raise NotImplementedError


TARGETS: Mapping[str, Target] = MappingProxyType({})
"""Every target, by name."""
