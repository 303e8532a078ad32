"""Speaker models: what they make of a voice, and everything over which the native code would end the process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edge_asr.audio import Float32Array
from edge_asr.engines.speaker import LONGEST_S, SpeakerModel, load_speaker_model, speech_in
from edge_asr.engines.trial import trial_load
from edge_asr.errors import EngineFailed, ModelDamaged, ModelError, ModelUnsupported
from edge_asr.pipeline.voices import direction
from edge_asr.settings import EngineSettings
from edge_asr.store.family_guess import guess_family
from edge_asr.store.inspect import inspect_model
from tests.support.tiny_models import tiny_manifest
from tests.support.tiny_speaker import (
    BINS,
    KEYS,
    MANIFEST,
    NEMO_KEYS,
    RATE_HZ,
    voice,
    write_nemo_speaker,
    write_speaker,
)

pytestmark = pytest.mark.model

NEMO = tiny_manifest("nemo-speaker-embedding", {"model": Path("voices.onnx")})


@pytest.fixture(scope="module", params=["3d-speaker", "nemo"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SpeakerModel:
    directory = tmp_path_factory.mktemp("speaker")
    if request.param == "nemo":
        return load_speaker_model(write_nemo_speaker(directory), NEMO)
    return load_speaker_model(write_speaker(directory), MANIFEST)


def embedding(model: SpeakerModel, samples: Float32Array, rate_hz: int = RATE_HZ) -> Float32Array:
    found = model.embedding(samples, rate_hz)
    assert found is not None
    return direction(found)


def test_an_embedding_has_the_length_that_the_model_says(model: SpeakerModel) -> None:
    assert embedding(model, voice(120)).shape == (BINS,) == (model.dimensions,)


def test_one_voice_is_more_like_itself_than_like_another(model: SpeakerModel) -> None:
    low, again, high = (embedding(model, voice(*each)) for each in ((110, 1.5, 1), (110, 2.0, 2), (250, 1.5, 3)))
    assert low @ again > 0.95
    assert low @ high < 0.5


def test_silence_around_the_speech_changes_nothing(model: SpeakerModel) -> None:
    silence = np.zeros(RATE_HZ, np.float32)
    said = voice(150)
    assert embedding(model, np.concatenate([silence, said, silence])) @ embedding(model, said) > 0.99


def test_the_engine_resamples(model: SpeakerModel) -> None:
    said = voice(150)
    assert embedding(model, np.repeat(said, 2), 2 * RATE_HZ) @ embedding(model, said) > 0.9


@pytest.mark.parametrize(
    "samples",
    [np.zeros(0, np.float32), np.zeros(RATE_HZ, np.float32), voice(150, 0.3)],
    ids=["none", "silence", "a word"],
)
def test_of_too_little_speech_there_is_no_embedding(model: SpeakerModel, samples: Float32Array) -> None:
    assert model.embedding(samples, RATE_HZ) is None


def test_samples_that_are_no_numbers_do_no_harm(model: SpeakerModel) -> None:
    samples = voice(150)
    samples[100:200] = np.nan
    assert np.isfinite(embedding(model, samples)).all()


def test_of_long_speech_the_middle_is_taken() -> None:
    samples = np.concatenate([np.full(5 * RATE_HZ, value, np.float32) for value in (0.1, 0.2, 0.3)])
    samples *= np.where(np.arange(len(samples)) % 2, 1, -1)
    spoken = speech_in(samples, RATE_HZ)
    assert len(spoken) == LONGEST_S * RATE_HZ
    assert (abs(spoken[0]), abs(spoken[-1])) == (np.float32(0.1), np.float32(0.3))


class FailingNative:
    dim = 4

    class Stream:
        def accept_waveform(self, _rate_hz: int, _samples: Float32Array) -> None:
            pass

        def input_finished(self) -> None:
            pass

    def create_stream(self) -> Stream:
        return self.Stream()

    def is_ready(self, _stream: Stream) -> bool:
        return True

    def compute(self, _stream: Stream) -> list[float]:
        raise RuntimeError("Non-zero status code")


class ShortNative(FailingNative):
    def compute(self, _stream: FailingNative.Stream) -> list[float]:
        return [0.0, 1.0]


@pytest.mark.parametrize("native", [FailingNative(), ShortNative()])
def test_what_the_network_fails_on_is_an_error_of_ours(native: object) -> None:
    with pytest.raises(EngineFailed, match="tiny"):
        SpeakerModel(native, "tiny").embedding(voice(150), RATE_HZ)


def test_inspection_knows_it(tmp_path: Path) -> None:
    assert inspect_model(write_speaker(tmp_path), MANIFEST).kind == "speaker"


def test_they_are_told_by_their_metadata(tmp_path: Path) -> None:
    assert guess_family(write_speaker(tmp_path / "a")) == ("speaker-embedding", {"model": "voices.onnx"})
    assert guess_family(write_nemo_speaker(tmp_path / "b")) == ("nemo-speaker-embedding", {"model": "voices.onnx"})


@pytest.mark.parametrize("missing", KEYS)
def test_a_key_that_is_missing_is_found_before_the_engine_ends(tmp_path: Path, missing: str) -> None:
    write_speaker(tmp_path, {key: value for key, value in KEYS.items() if key != missing})
    with pytest.raises(ModelError, match=missing):
        inspect_model(tmp_path, MANIFEST)


@pytest.mark.parametrize("missing", [key for key in NEMO_KEYS if key not in ("feature_normalize_type", "window_type")])
def test_so_is_a_missing_key_of_a_nemo_model(tmp_path: Path, missing: str) -> None:
    write_nemo_speaker(tmp_path, {key: value for key, value in NEMO_KEYS.items() if key != missing})
    with pytest.raises(ModelError, match=missing):
        inspect_model(tmp_path, NEMO)


@pytest.mark.parametrize(
    "wrong", [{"framework": "speechbrain"}, {"framework": "nemo"}, {"feature_normalize_type": "per_feature"}]
)
def test_what_the_engine_would_refuse_is_refused(tmp_path: Path, wrong: dict[str, str]) -> None:
    write_speaker(tmp_path, KEYS | wrong)
    (key,) = wrong
    with pytest.raises(ModelUnsupported, match=f"{key} = '{wrong[key]}'"):
        inspect_model(tmp_path, MANIFEST)


def test_embeddings_of_another_length_than_stated_are_found(tmp_path: Path) -> None:
    write_speaker(tmp_path, KEYS | {"output_dim": "192"})
    with pytest.raises(ModelDamaged, match=r"output_dim = 192.* 80 numbers"):
        inspect_model(tmp_path, MANIFEST)


def test_a_graph_of_another_kind_is_refused(tmp_path: Path) -> None:
    write_nemo_speaker(tmp_path, KEYS)
    with pytest.raises(ModelUnsupported, match="2 inputs"):
        inspect_model(tmp_path, MANIFEST)


def test_a_trial_loads_it_in_another_process(tmp_path: Path) -> None:
    assert trial_load(write_speaker(tmp_path), MANIFEST, EngineSettings()).family == MANIFEST.family
