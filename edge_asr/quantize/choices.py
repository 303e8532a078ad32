"""What can be done to the weights of a node, and what was chosen for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Choice = Literal["fp32", "int8", "weight8", "weight4", "fp16"]
"""What becomes of the weights of one node:

- ``fp32``: nothing;
- ``int8``: 8-bit weights, one scale for each column, and activations quantized as they come: the product is an integer
  one (``MatMulInteger``). An embedding table has one scale for each row;
- ``weight8``, ``weight4``: 8 or 4 bits, one scale for each block of a column (``MatMulNBits``);
- ``fp16``: stored in half precision and converted when the model is loaded: a smaller file, the same work.
"""

WeightAlgorithm = Literal["rtn", "hqq", "k-quant", "gptq"]
"""How ``weight4`` and ``weight8`` find their integers: rounding to the nearest, half-quadratic quantization, the search
for scales of llama.cpp, or error feedback over recorded inputs (:mod:`edge_asr.quantize.blocks`)."""


@dataclass(frozen=True, slots=True)
class Node:
    """One node whose weights can be quantized."""

    component: str
    """Role of the file it stands in: ``encoder``, ``decoder``, ``joiner``, ``model``."""
    name: str
    """Unique in its component."""
    operator: str
    """``MatMul``, ``Gemm``, ``Gather`` or ``Conv`` (a pointwise one, which is a matrix product)."""
    weight_shape: tuple[int, ...]
    """As stored: (inputs, outputs) of a ``MatMul``, (outputs, inputs, 1…) of a ``Conv``, (rows, width) of a table."""
    weight_bytes: int
    """In float32; weights that several nodes share count in each."""
    choices: tuple[Choice, ...]
    """What is possible for this node and sensible on the target; ``fp32`` is always first."""
    weight: str
    """Name of the weights; nodes with the same one share them."""


Assignment = Mapping[tuple[str, str], Choice]
"""(component, node name) to what is done there; what is not named stays ``fp32``."""


@dataclass(frozen=True, slots=True)
class WeightOptions:
    """How weights are turned into integers."""

    algorithm: WeightAlgorithm = "rtn"
    """For ``weight4`` and ``weight8``."""
    block: int = 32
    """Weights of a column that share a scale in ``weight4`` and ``weight8``. Fast ARM kernels want multiples of 32."""

    def __post_init__(self) -> None:
        if self.block not in (16, 32, 64, 128, 256):
            raise ValueError(f"block {self.block} is not one of 16, 32, 64, 128, 256")


def of_component(assignment: Assignment, component: str) -> dict[str, Choice]:
    """What the assignment says about one component: node name to choice."""
    return {name: choice for (owner, name), choice in assignment.items() if owner == component}
