"""Loaders for a worker process: an engine that does what its audio and its model directory say.

The loudness of a 100 ms step is the command: silence says nothing, ``WORD`` is recognised as a word, ``RAISE`` makes
the decode fail, ``BLUR`` makes the last hypothesis unreadable, ``DIE`` kills the process, ``HOARD`` takes memory for
good. While the model directory
holds a file ``closed``, decoding waits; a file ``word`` holds the word that is recognised.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from edge_asr.audio import Float32Array
from edge_asr.engines.base import EngineDescription, Hypothesis, StreamOptions, Token
from edge_asr.engines.device_guard import GuardedEngine
from edge_asr.engines.providers import ProviderChoice, fall_back
from edge_asr.errors import EngineFailed, ModelDamaged
from edge_asr.manifest import ModelManifest, ModelSource
from edge_asr.settings import Settings
from edge_asr.workers.configuration import unpack
from edge_asr.workers.loaded_model import LoadedModel
from edge_asr.workers.messages import Configure
from edge_asr.workers.served_model import ServedModel

MODULE = __name__
RATE_HZ = 16_000
STEP_SAMPLES = 1_600
WORD, RAISE, BLUR, DIE, HOARD = 0.25, 0.5, 0.6, 0.75, 0.9
"""Amplitude of every sample of a step."""
HOARD_BYTES = 40 << 20
_hoard: list[bytes] = []


def audio(*amplitudes: float, steps: int = 1) -> bytes:
    """Steps of one loudness as 16 bit PCM."""
    return (samples(*amplitudes, steps=steps) * 32767).astype("<i2").tobytes()


def samples(*amplitudes: float, steps: int = 1) -> Float32Array:
    """Steps of one loudness; the sign changes from sample to sample, since an offset would be taken out."""
    loud = np.repeat(np.array(amplitudes, np.float32), STEP_SAMPLES * steps)
    loud[1::2] *= -1
    return loud


class ScriptedStream:
    def __init__(self, word: str) -> None:
        self._waiting = np.zeros(0, np.float32)
        self._decoded = 0
        self._words: list[Token] = []
        self._is_finished = False
        self._is_blurred = False
        self._word = word

    def accept(self, samples: Float32Array) -> None:
        self._waiting = np.concatenate([self._waiting, samples])

    def finish(self) -> None:
        padding = -len(self._waiting) % STEP_SAMPLES
        self.accept(np.zeros(padding, np.float32))
        self._is_finished = True

    def is_ready(self) -> bool:
        return len(self._waiting) >= STEP_SAMPLES

    def silence(self) -> None:
        """What waits is not heard."""
        self._waiting = np.zeros_like(self._waiting)

    def step(self) -> None:
        amplitude = float(np.abs(self._waiting[:STEP_SAMPLES]).mean())
        self._waiting = self._waiting[STEP_SAMPLES:]
        if np.isclose(amplitude, RAISE, atol=0.01):
            raise EngineFailed("it was told to")
        self._is_blurred |= bool(np.isclose(amplitude, BLUR, atol=0.01))
        if np.isclose(amplitude, DIE, atol=0.01):
            print("dying as told: error", file=sys.stderr, flush=True)
            os.abort()
        if np.isclose(amplitude, HOARD, atol=0.01):
            _hoard.append(b"x" * HOARD_BYTES)
        if np.isclose(amplitude, WORD, atol=0.01):
            self._words.append(Token(f" {self._word}", self._decoded / RATE_HZ, -0.1))
        self._decoded += STEP_SAMPLES

    def hypothesis(self) -> Hypothesis:
        if self._is_blurred and self._is_finished and not self.is_ready():
            raise EngineFailed("the token table lacks a token")
        return Hypothesis("".join(token.text for token in self._words), tuple(self._words), self._decoded)

    def reset(self) -> None:
        self._words = []

    def close(self) -> None:
        """Nothing to free."""


class ScriptedEngine:
    sample_rate_hz = RATE_HZ

    def __init__(self, directory: str) -> None:
        self._directory = Path(directory)
        said = self._directory / "word"
        self._word = said.read_text() if said.exists() else "word"

    def describe(self) -> EngineDescription:
        return EngineDescription(
            model="scripted",
            family="scripted",
            provider="cpu",
            threads=1,
            sample_rate_hz=RATE_HZ,
            chunk_ms=100.0,
            tail_padding_ms=0.0,
            is_streaming=True,
            is_append_only=True,
        )

    def open_stream(self, options: StreamOptions) -> ScriptedStream:
        return ScriptedStream(self._word)

    def decode(self, streams: Sequence[ScriptedStream]) -> None:
        while (self._directory / "closed").exists():
            time.sleep(0.002)
        for stream in streams:
            stream.step()

    def close(self) -> None:
        (self._directory / "engine-closed").touch()


def model(directory: Path, settings: Settings = Settings(), name: str = "scripted") -> ServedModel:  # noqa: B008
    """What a pool is told to serve."""
    manifest = ModelManifest(
        name=name,
        version="1",
        family="zipformer2-ctc",
        languages=("en",),
        sample_rate_hz=RATE_HZ,
        chunk_ms=100,
        precision="fp32",
        files={},
        licence="CC0-1.0",
        source=ModelSource(kind="local"),
    )
    return ServedModel(manifest, directory, settings)


def load(configure: Configure) -> LoadedModel:
    """An engine that is there at once."""
    return LoadedModel(ScriptedEngine(configure.model_directory), ("en",))  # type: ignore[arg-type]


NPU_DECODES = 30
"""After so many steps the scripted NPU fails for good."""


class ScriptedNpu(ScriptedEngine):
    """An NPU that loads, works for a while, and then fails at every step."""

    def __init__(self, directory: str) -> None:
        super().__init__(directory)
        self._decodes = 0

    def describe(self) -> EngineDescription:
        return replace(super().describe(), provider="rknn")

    def decode(self, streams: Sequence[ScriptedStream]) -> None:
        self._decodes += 1
        if self._decodes > NPU_DECODES:
            raise EngineFailed("failed to submit the job")
        super().decode(streams)


class SilencedNpu(ScriptedNpu):
    """An NPU whose runtime then complains at every step, while the engine goes on with silence."""

    def decode(self, streams: Sequence[ScriptedStream]) -> None:
        self._decodes += 1
        if self._decodes > NPU_DECODES:
            os.write(2, b"E RKNN: [14:38:08.865] failed to submit!, op id: 28, flags: 0x5, int status: 0\n")
            for stream in streams:
                stream.silence()
        ScriptedEngine.decode(self, streams)


class AfterAnNpu(ScriptedEngine):
    """What takes its place."""

    def __init__(self, directory: str, choice: ProviderChoice) -> None:
        super().__init__(directory)
        self._choice = choice

    def describe(self) -> EngineDescription:
        return replace(super().describe(), provider=self._choice.label)


def load_on_npu(configure: Configure, npu: type[ScriptedNpu] = ScriptedNpu) -> LoadedModel:
    """On the scripted NPU until it is given up, then by the fallback that the settings allow."""
    directory = configure.model_directory
    if configure.given_up:
        choice = fall_back("rknn", configure.given_up, unpack(configure).engine)
        return LoadedModel(AfterAnNpu(directory, choice), ("en",))  # type: ignore[arg-type]
    return LoadedModel(GuardedEngine(npu(directory), "rknn"), ("en",))  # type: ignore[arg-type]


def load_on_npu_that_goes_silent(configure: Configure) -> LoadedModel:
    """The same on one that does not fail itself."""
    return load_on_npu(configure, SilencedNpu)


def load_but_no_red(configure: Configure) -> LoadedModel:
    """An engine, but for one model."""
    if configure.model_directory.endswith("red"):
        raise ModelDamaged("red", "it is no model")
    return load(configure)


def load_once(configure: Configure) -> LoadedModel:
    """Loads the first time; later the model is damaged."""
    marker = Path(configure.model_directory) / "loaded-before"
    if marker.exists():
        raise ModelDamaged("scripted", "somebody overwrote it")
    marker.touch()
    return load(configure)


def load_again_when_told(configure: Configure) -> LoadedModel:
    """Loads the first time; later it says so and waits while the directory holds a file ``held``."""
    directory = Path(configure.model_directory)
    if (directory / "loaded-before").exists():
        (directory / "loading").touch()
        while (directory / "held").exists():
            time.sleep(0.002)
    (directory / "loaded-before").touch()
    return load(configure)


def fail_to_load(configure: Configure) -> LoadedModel:
    raise ModelDamaged("scripted", "it is no model")


def raise_while_loading(configure: Configure) -> LoadedModel:
    raise ZeroDivisionError("a fault of the program")


def end_while_loading(configure: Configure) -> LoadedModel:
    """What the native engine does with a model that lacks a key."""
    print("model.cc:InitEncoder:117 'T' does not exist in the metadata", file=sys.stderr, flush=True)
    os._exit(255)


def load_for_ever(configure: Configure) -> LoadedModel:
    (Path(configure.model_directory) / "loading").touch()
    while True:
        signal.pause()
