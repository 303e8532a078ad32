"""How much audio a streaming model decodes at a time, by its metadata. One feature frame is 10 ms in every family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edge_asr.families import ModelFamily
from edge_asr.store.model_header import OnnxHeader

FRAME_MS = 10.0
PARAFORMER_CHUNK_FRAMES = 60
PARAFORMER_LOOKAHEAD_FRAMES = 1
"""The engine's own constants for streaming Paraformer: 61 frames a step, moved on by 60."""
WENET_CHUNK = 16
"""Output frames a step; the engine's default, which we keep."""


@dataclass(frozen=True, slots=True)
class ModelTiming:
    """Milliseconds of audio."""

    chunk_ms: float = 0.0
    """By which each step moves on."""
    lookahead_ms: float = 0.0
    """That a step sees beyond its chunk."""


def timing_of(family: ModelFamily, headers: Mapping[str, OnnxHeader]) -> ModelTiming:
    """Chunk and look-ahead; zeros for families that do not stream and for files that do not tell."""
    if family.kind != "streaming":
        return ModelTiming()
    header = headers.get("encoder") or headers["model"]
    if family.name == "paraformer-streaming":
        return _frames(PARAFORMER_CHUNK_FRAMES, PARAFORMER_LOOKAHEAD_FRAMES)
    if "decode_chunk_len" in header.metadata:
        chunk = int(header.metadata["decode_chunk_len"])
        return _frames(chunk, int(header.metadata.get("T", chunk)) - chunk)
    if "chunk_shift" in header.metadata:
        chunk = int(header.metadata["chunk_shift"])
        return _frames(chunk, int(header.metadata["window_size"]) - chunk)
    if "frame_length_ms" in header.metadata:
        return ModelTiming(float(header.metadata["frame_length_ms"]))
    if "subsampling_factor" in header.metadata:
        return _wenet(int(header.metadata["subsampling_factor"]), int(header.metadata["right_context"]))
    return ModelTiming()


def _wenet(subsampling: int, right_context: int) -> ModelTiming:
    window = (WENET_CHUNK - 1) * subsampling + right_context + 1
    return _frames(WENET_CHUNK * subsampling, window - WENET_CHUNK * subsampling)


def _frames(chunk: int, lookahead: int) -> ModelTiming:
    return ModelTiming(chunk * FRAME_MS, max(0, lookahead) * FRAME_MS)
