"""What came of a conversion for an NPU: ``quantization.json`` beside the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from edge_asr.quantize.state_loop import LoopComparison


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The document."""

    kind: Literal["npu"] = "npu"
    command: tuple[str, ...]
    provider: str
    platform: str
    recipe: str
    versions: Mapping[str, str]
    operators: Mapping[str, Mapping[str, int]]
    """Role to operators of the compiled graph."""
    coverage: float
    """Share of the operators that the NPU runs; compilers that take a graph whole or not at all give 1."""
    on_cpu: Mapping[str, int]
    loops: Mapping[str, LoopComparison]
    """Role of the encoder to its comparison."""
    recordings: int
    same_text: int
    """Recordings of which the simulator wrote what the float model writes."""
    units: int
    """Words or characters of the references."""
    error_rate_before: float
    error_rate_after: float
    error_rate_change_low: float | None
    error_rate_change_high: float | None
    """Ends of the 95 % interval of the change, absolute; ``None`` for a single recording."""
    verdict: Literal["within", "over", "undecided", "broken"]
    """Of the budget, as for any quantized model: ``within`` only where the upper end of the interval is, or where there
    is no budget. ``broken`` where an output of the loop points elsewhere."""
    notes: tuple[str, ...] = ()
