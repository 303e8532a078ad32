"""The runner must say what sherpa-onnx says: a calibration by another model's inputs would be worth nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import sherpa_onnx

from edge_asr.audio import Float32Array
from edge_asr.engines.ort_path import NOTHING
from edge_asr.engines.ort_streaming import StreamingRunner, TokenPath
from edge_asr.engines.sherpa_online import factory_arguments
from edge_asr.errors import EngineFailed, ModelDamaged, ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.manifest import MANIFEST_FILE, read_manifest
from edge_asr.quantize.graph import load_graph, prepare_graph
from edge_asr.settings import EngineSettings
from tests.support import tiny_models
from tests.support.engine_cases import STARTER, clip
from tests.support.tiny_encoders import write_stateful_transducer

RATE = 16_000
Write = Callable[[Path], dict[str, Path]]

CASES: Mapping[str, tuple[str, Write]] = {
    "lstm": ("lstm-transducer", tiny_models.write_lstm_transducer),
    "nemo-ctc": ("nemo-ctc-streaming", tiny_models.write_nemo_ctc_streaming),
    "wenet-ctc": ("wenet-ctc-streaming", tiny_models.write_wenet_ctc_streaming),
    "paraformer": ("paraformer-streaming", tiny_models.write_paraformer_streaming),
    "stateful-lstm": ("lstm-transducer", partial(write_stateful_transducer, model_type="lstm")),
    "stateful-conformer": ("conformer-transducer", partial(write_stateful_transducer, model_type="conformer")),
    "stateful-zipformer": ("zipformer-transducer", partial(write_stateful_transducer, model_type="zipformer")),
}
BATCHING = [name for name in CASES if name not in ("wenet-ctc", "paraformer")]


def swelling(duration_s: float = 6.0, seed: int = 3) -> Float32Array:
    """Noise that goes through the tiny models' threshold again and again."""
    generator = np.random.default_rng(seed)
    time = np.arange(round(duration_s * RATE)) / RATE
    loudness = 10 ** (-2.5 + 1.2 * np.sin(2 * np.pi * time / 0.9) + 0.3 * np.sin(2 * np.pi * time / 0.31))
    return (loudness * generator.standard_normal(len(time))).astype(np.float32)


def sherpa_tokens(family: str, files: Mapping[str, Path], samples: Float32Array) -> str:
    """What the native engine makes of it, all at once."""
    arguments = factory_arguments(FAMILIES[family], files, EngineSettings(), RATE)
    plain = {key: str(value) if isinstance(value, Path) else value for key, value in arguments.items()}
    recognizer: Any = getattr(sherpa_onnx.OnlineRecognizer, FAMILIES[family].factory)(num_threads=1, **plain)
    stream = recognizer.create_stream()
    stream.accept_waveform(RATE, samples.tolist())
    stream.input_finished()
    while recognizer.is_ready(stream):
        recognizer.decode_stream(stream)
    return str(recognizer.get_result(stream)).strip()


def text_of(files: Mapping[str, Path], path: TokenPath) -> str:
    lines = files["tokens"].read_text(encoding="utf-8").splitlines()
    symbols = {int(number): symbol for symbol, number in (line.rsplit(" ", 1) for line in lines)}
    return "".join(symbols[token] for token in path.tokens).replace("▁", " ").strip()


def trained(name: str) -> tuple[str, dict[str, Path], StreamingRunner]:
    """A model of the repository: its family, files and runner."""
    directory = STARTER.parent / name
    manifest = read_manifest(directory / MANIFEST_FILE)
    files = {role: directory / file.path for role, file in manifest.files.items() if role != "graph"}
    return manifest.family, files, StreamingRunner(files, FAMILIES[manifest.family])


def padded(runner: StreamingRunner, samples: Float32Array) -> Float32Array:
    return np.concatenate((samples, np.zeros(runner.tail_samples, np.float32)))


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, dict[str, Path]]:
    family, write = CASES[request.param]
    return family, write(tmp_path)


def runner_of(name: str, directory: Path) -> StreamingRunner:
    family, write = CASES[name]
    return StreamingRunner(write(directory), FAMILIES[family])


def test_every_family_says_what_sherpa_says(case: tuple[str, dict[str, Path]]) -> None:
    family, files = case
    runner = StreamingRunner(files, FAMILIES[family])
    said = text_of(files, runner.greedy(swelling()))
    # Paraformer's tokens are words without a mark for the space between them.
    assert said.replace(" ", "") == sherpa_tokens(family, files, padded(runner, swelling())).replace(" ", "")
    assert len(said) > 50


@pytest.mark.model
@pytest.mark.parametrize("name", ["go-forward", "five-five"])
@pytest.mark.parametrize("model", ["starter-en-fp32", "starter-en", "starter-en-transducer"])
def test_a_trained_model_says_what_sherpa_says(model: str, name: str) -> None:
    family, files, runner = trained(model)
    said = text_of(files, runner.greedy(clip(name)))
    assert said == sherpa_tokens(family, files, padded(runner, clip(name)))
    assert said


@pytest.mark.model
@pytest.mark.parametrize("model", ["starter-en-fp32", "starter-en-transducer"])
def test_posteriors_of_a_trained_model_are_probabilities(model: str) -> None:
    posteriors = trained(model)[2].log_posteriors(clip("five-five"))
    assert np.allclose(np.exp(posteriors).sum(axis=1), 1, atol=1e-4)


@pytest.mark.model
def test_a_trained_model_gives_the_same_in_a_batch() -> None:
    runner = trained("starter-en-fp32")[2]
    clips = [clip("five-five"), clip("go-forward")]
    for together, alone in zip(runner.batch_log_posteriors(clips), map(runner.log_posteriors, clips), strict=True):
        assert np.allclose(together, alone, atol=1e-3)


@pytest.mark.model
def test_a_prepared_graph_gives_the_posteriors_of_the_original() -> None:
    files = trained("starter-en-fp32")[1]
    prepared = prepare_graph(load_graph(files["model"]))
    runner = StreamingRunner({"model": prepared.model.SerializeToString()}, FAMILIES["zipformer2-ctc"])
    clips = [clip("go-forward"), clip("five-five")]
    original = StreamingRunner(files, FAMILIES["zipformer2-ctc"]).batch_log_posteriors(clips)
    for before, after in zip(original, runner.batch_log_posteriors(clips), strict=True):
        assert np.allclose(before, after, atol=1e-4)


@pytest.mark.parametrize("name", BATCHING)
def test_a_batch_gives_what_each_gives_alone(name: str, tmp_path: Path) -> None:
    runner = runner_of(name, tmp_path)
    batch = [swelling(2.0, seed=1), swelling(5.0, seed=2), swelling(3.3, seed=3)]
    for together, alone in zip(runner.batch_log_posteriors(batch), map(runner.log_posteriors, batch), strict=True):
        assert np.allclose(together, alone, atol=1e-5)


@pytest.mark.parametrize("name", ["wenet-ctc", "paraformer"])
def test_what_takes_no_batch_is_run_one_after_another(name: str, tmp_path: Path) -> None:
    runner = runner_of(name, tmp_path)
    batch = [swelling(2.0, seed=1), swelling(3.0, seed=2)]
    for together, alone in zip(runner.batch_log_posteriors(batch), map(runner.log_posteriors, batch), strict=True):
        assert np.array_equal(together, alone)


def test_nothing_is_left_of_the_recording_before(case: tuple[str, dict[str, Path]]) -> None:
    family, files = case
    runner = StreamingRunner(files, FAMILIES[family])
    before = runner.log_posteriors(swelling(seed=8))
    runner.log_posteriors(swelling(seed=9))
    assert np.array_equal(runner.log_posteriors(swelling(seed=8)), before)


def test_the_steps_are_the_runs_of_each_graph(case: tuple[str, dict[str, Path]]) -> None:
    """Given to the graphs, they must do: that is what a calibration does with them."""
    import onnxruntime

    family, files = case
    runner = StreamingRunner(files, FAMILIES[family])
    sessions = {role: onnxruntime.InferenceSession(str(path)) for role, path in files.items() if role != "tokens"}
    roles = set()
    for role, inputs in runner.steps(swelling(2.0)):
        assert sessions[role].run(None, inputs)
        roles.add(role)
    assert roles == set(sessions)


def test_states_differ_from_step_to_step(tmp_path: Path) -> None:
    """The first chunk's caches are all zero; a calibration by those alone would be misled."""
    steps = [
        inputs for role, inputs in runner_of("stateful-zipformer", tmp_path).steps(swelling()) if role == "encoder"
    ]
    assert not steps[0]["cached_key_0"].any()
    assert all(inputs["cached_key_0"].any() for inputs in steps[1:])
    assert [int(inputs["cached_len_0"][0, 0]) for inputs in steps[:4]] == [0, 1, 2, 3]


# Teacher forcing.


def test_a_transducer_follows_the_path_it_is_given(tmp_path: Path) -> None:
    runner = runner_of("stateful-lstm", tmp_path)
    own = runner.log_posteriors(swelling())
    path = runner.greedy(swelling())
    assert np.array_equal(runner.log_posteriors(swelling(), path), own)
    other = TokenPath(tuple(2 if token else 0 for token in path.frames))
    assert not np.allclose(runner.log_posteriors(swelling(), other), own)


def test_paraformer_names_the_stretches_of_the_path(tmp_path: Path) -> None:
    runner = runner_of("paraformer", tmp_path)
    path = runner.greedy(swelling())
    half = TokenPath(tuple(token if number % 2 else NOTHING for number, token in enumerate(path.frames)))
    assert len(runner.log_posteriors(swelling(), path)) == len(path.tokens)
    assert len(runner.log_posteriors(swelling(), half)) == len(half.tokens)


def test_the_unknown_token_is_taken_for_the_blank(tmp_path: Path) -> None:
    files = write_stateful_transducer(tmp_path, "lstm")
    runner = StreamingRunner(files, FAMILIES["lstm-transducer"], unknown=1)
    assert set(runner.greedy(swelling()).tokens) == set(), "the cycle begins with token 1"


# What does not fit.


def test_audio_too_short_for_a_step_gives_no_frame(case: tuple[str, dict[str, Path]]) -> None:
    family, files = case
    runner = StreamingRunner(files, FAMILIES[family])
    features = runner.features(np.zeros(0, np.float32))[:10]
    assert runner._recogniser.log_posteriors([features])[0].shape[0] == 0
    assert runner._recogniser.greedy(features).tokens == ()


def test_a_family_that_does_not_stream_is_refused() -> None:
    with pytest.raises(ModelUnsupported, match="cannot be run step by step"):
        StreamingRunner({}, FAMILIES["whisper"])


def test_a_damaged_graph_is_refused(tmp_path: Path) -> None:
    files = tiny_models.write_nemo_ctc_streaming(tmp_path)
    files["model"].write_bytes(files["model"].read_bytes()[:100])
    with pytest.raises(ModelDamaged, match="cannot load"):
        StreamingRunner(files, FAMILIES["nemo-ctc-streaming"])


def changed(path: Path, change: Callable[[onnx.ModelProto], None]) -> None:
    model = onnx.load(str(path))
    change(model)
    onnx.save(model, str(path))


def test_a_missing_metadata_key_is_named(tmp_path: Path) -> None:
    files = write_stateful_transducer(tmp_path, "conformer")
    changed(files["encoder"], lambda model: model.metadata_props.pop())
    with pytest.raises(ModelDamaged, match="cnn_module_kernel"):
        StreamingRunner(files, FAMILIES["conformer-transducer"])


def test_states_in_another_order_are_refused(tmp_path: Path) -> None:
    files = write_stateful_transducer(tmp_path, "zipformer")

    def swap(model: onnx.ModelProto) -> None:
        outputs = [onnx.ValueInfoProto.FromString(entry.SerializeToString()) for entry in model.graph.output]
        del model.graph.output[:]
        model.graph.output.extend([outputs[0], *reversed(outputs[1:])])

    changed(files["encoder"], swap)
    with pytest.raises(ModelDamaged, match="the order is wrong"):
        StreamingRunner(files, FAMILIES["zipformer-transducer"])


def test_a_graph_that_does_not_take_the_features_fails_by_name(tmp_path: Path) -> None:
    files = write_stateful_transducer(tmp_path, "lstm")

    def longer(model: onnx.ModelProto) -> None:
        next(entry for entry in model.metadata_props if entry.key == "T").value = "61"

    changed(files["encoder"], longer)
    with pytest.raises(EngineFailed, match="encoder"):
        StreamingRunner(files, FAMILIES["lstm-transducer"]).greedy(swelling(1.0))


def test_graphs_may_be_given_as_bytes(tmp_path: Path) -> None:
    files = write_stateful_transducer(tmp_path, "lstm")
    in_memory: dict[str, Path | bytes] = {role: path.read_bytes() for role, path in files.items() if role != "tokens"}
    assert StreamingRunner(in_memory, FAMILIES["lstm-transducer"]).greedy(swelling()) == StreamingRunner(
        files, FAMILIES["lstm-transducer"]
    ).greedy(swelling())
