"""What the boards can do with quantized weights, and what a product costs there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from edge_asr.quantize.choices import Choice

TargetName = Literal["pi3", "pi4", "pi5", "rk3588", "generic-arm", "x86"]

BITS: Mapping[Choice, float] = MappingProxyType({"fp32": 32, "fp16": 32, "int8": 8, "weight8": 9, "weight4": 5})
"""Bits that are fetched for each weight, the scales of blocks of 32 included; halves are floats once loaded."""


@dataclass(frozen=True, slots=True)
class Target:
    """A kind of board."""

    name: TargetName
    cores: str
    """For people."""
    choices: tuple[Choice, ...]
    """What makes sense there; ``fp32`` is always among them."""
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
        weights = math.prod(weight_shape)
        arithmetic = rows * weights / self.macs_per_cycle[choice]
        fetching = weights * BITS[choice] / 8 / self.bytes_per_cycle
        return max(arithmetic, fetching)


_ALL: tuple[Choice, ...] = ("fp32", "int8", "weight8", "weight4", "fp16")

_NO_DOT_PRODUCT: Mapping[Choice, float] = MappingProxyType(
    {"fp32": 4.0, "fp16": 4.0, "int8": 4.0, "weight8": 3.0, "weight4": 3.0}
)
"""Vectors of 128 bits: 4 float products an instruction, 8 products of bytes in two widening ones. Blocks have no
integer kernel there and are unpacked to floats first."""
_DOT_PRODUCT: Mapping[Choice, float] = MappingProxyType(
    {"fp32": 8.0, "fp16": 8.0, "int8": 32.0, "weight8": 24.0, "weight4": 24.0}
)
"""Vectors of 128 bits in two pipes: 4 float products an instruction, 16 of bytes (``udot``, ``sdot``); blocks have
scales to apply on top."""
_VNNI: Mapping[Choice, float] = MappingProxyType(
    {"fp32": 16.0, "fp16": 16.0, "int8": 64.0, "weight8": 48.0, "weight4": 48.0}
)
"""Vectors of 256 bits in two pipes: 8 float products an instruction, 32 of bytes (``vpdpbusd``)."""

_FETCHES_LESS = (
    "no dot product: int8 needs as many instructions as float32 and fetches a quarter of the weights; weight8 and "
    "weight4 are unpacked to floats (smaller, not faster); fp16 only makes the file smaller"
)
_COMPUTES_LESS = "dot product: int8, weight8 and weight4 have integer kernels; fp16 only makes the file smaller"

_TARGETS = (
    Target("pi3", "4 Cortex-A53", _ALL, _FETCHES_LESS, _NO_DOT_PRODUCT, 1.5),
    Target("pi4", "4 Cortex-A72", _ALL, _FETCHES_LESS, _NO_DOT_PRODUCT, 2.5),
    Target("pi5", "4 Cortex-A76", _ALL, _COMPUTES_LESS, _DOT_PRODUCT, 4.0),
    Target("rk3588", "4 Cortex-A76 and 4 Cortex-A55", _ALL, _COMPUTES_LESS, _DOT_PRODUCT, 4.0),
    Target("generic-arm", "unknown, taken to have no dot product", _ALL, _FETCHES_LESS, _NO_DOT_PRODUCT, 2.0),
    Target("x86", "x86-64 with AVX2 or VNNI", _ALL, _COMPUTES_LESS, _VNNI, 6.0),
)

TARGETS: Mapping[str, Target] = MappingProxyType({target.name: target for target in _TARGETS})
"""Every target, by name."""
