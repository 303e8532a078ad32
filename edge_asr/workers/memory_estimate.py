"""What a worker will take in memory, by the size of the model's files: known before anything is loaded.

Measured with ``tools/memory``: the worker's resident memory at its highest, which is while the model is loaded, with
sherpa-onnx 2.0.1 on x86-64 (2026-11-30). In 8-bit weights 102 MB for 5.6 MB of files, 149 for 25 and 198 for 70; in
32-bit weights 201 for 90 and 423 for 262; 214 for Moonshine's 44. Libraries that other programs use too are part of it.
"""

from __future__ import annotations

from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelManifest

BASE_BYTES = 96_000_000
"""Interpreter, libraries, and decoding states of some streams."""

FLOAT_FACTOR = 1.25
"""32-bit weights of streaming models are laid out anew one after the other, and the file is let go."""

FACTOR = 2.0
"""Other weights of streaming models."""

SEGMENT_FACTOR = 2.7
"""Models that decode whole stretches of speech: the longest one that was decoded counts too."""


def memory_for(manifest: ModelManifest, file_bytes: int) -> int:
    """What a worker takes at its highest.

    Args:
        manifest: Of the model.
        file_bytes: Sizes of its files, summed.
    """
    family = FAMILIES.get(manifest.family)
    if family is not None and family.kind == "segment":
        factor = SEGMENT_FACTOR
    else:
        factor = FLOAT_FACTOR if manifest.precision == "fp32" else FACTOR
    return BASE_BYTES + round(factor * file_bytes)
