"""What a voice is like, as a vector, by sherpa-onnx's ``SpeakerEmbeddingExtractor``.

Loaded in workers, and by commands after a trial in a child: the native code ends the process over metadata it does not
know, and inspection looks at them before.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import sherpa_onnx

from edge_asr.audio import Float32Array
from edge_asr.engines.native_load import load_error, model_files
from edge_asr.engines.samples import loudest_dbfs, usable
from edge_asr.engines.whole_stretch import LEVEL_WINDOW_S, SILENCE_DBFS, loud_part_s
from edge_asr.errors import EngineFailed
from edge_asr.families import FAMILIES
from edge_asr.manifest import ModelManifest

SHORTEST_S = 0.5
"""Of less speech a voice cannot be told, and some networks fail on it."""

LONGEST_S = 10.0
"""More than that adds little and costs as much again; the middle of longer speech is taken."""

_WARM_UP_S = 1.0


class SpeakerModel:
    """A loaded model.

    Args:
        native: sherpa-onnx's extractor.
        name: For error sentences.
    """

    def __init__(self, native: Any, name: str) -> None:  # noqa: ANN401  native and untyped
        self._native = native
        self._name = name
        self.dimensions = int(native.dim)
        """Numbers in an embedding."""

    def embedding(self, samples: Float32Array, sample_rate_hz: int) -> Float32Array | None:
        """The embedding of the speech in these samples, shape (dimensions,); ``None`` where there is too little of it.

        Args:
            samples: Mono PCM, shape (n,); silence around the speech is left out.
            sample_rate_hz: Any; the engine resamples to the model's.

        Raises:
            EngineFailed: The network fails on it.
        """
        spoken = speech_in(usable(samples), sample_rate_hz)
        if len(spoken) < SHORTEST_S * sample_rate_hz:
            return None
        stream = self._native.create_stream()
        stream.accept_waveform(sample_rate_hz, spoken)
        stream.input_finished()
        if not self._native.is_ready(stream):
            return None
        try:
            found = np.array(self._native.compute(stream), np.float32)
        except RuntimeError as error:
            raise EngineFailed(f"the speaker model {self._name!r} fails: {error}") from error
        if len(found) != self.dimensions or not np.isfinite(found).all():
            raise EngineFailed(f"the speaker model {self._name!r} gave no embedding of {self.dimensions} numbers")
        return found


def speech_in(samples: Float32Array, sample_rate_hz: int) -> Float32Array:
    """From the first to the last loud window, at most ``LONGEST_S`` of it; empty where nothing is louder than silence.

    Args:
        samples: Mono PCM, ``usable``, shape (n,).
        sample_rate_hz: Their rate.
    """
    if loudest_dbfs(samples, round(LEVEL_WINDOW_S * sample_rate_hz)) < SILENCE_DBFS:
        return samples[:0]
    begin, end = (round(at_s * sample_rate_hz) for at_s in loud_part_s(samples, sample_rate_hz))
    beyond = max(0, end - begin - round(LONGEST_S * sample_rate_hz))
    return samples[begin + beyond // 2 : end - math.ceil(beyond / 2)]


def load_speaker_model(directory: Path, manifest: ModelManifest, threads: int = 1) -> SpeakerModel:
    """Load an embedding model, and let it hear something once; the caller has inspected the files.

    Raises:
        ModelDamaged: The engine cannot load it, or it gives no embedding.
    """
    files = model_files(directory, manifest, FAMILIES[manifest.family])
    config = sherpa_onnx.SpeakerEmbeddingExtractorConfig(model=str(files["model"]), num_threads=threads)
    rate_hz = manifest.sample_rate_hz
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, round(_WARM_UP_S * rate_hz)).astype(np.float32)
    try:
        model = SpeakerModel(sherpa_onnx.SpeakerEmbeddingExtractor(config), manifest.name)
        model.embedding(noise, rate_hz)
    except (RuntimeError, ValueError, EngineFailed) as error:
        raise load_error(manifest.name, str(error)) from error
    return model
