"""What is special about the streaming engine; the contract suite holds for it too."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest
import sherpa_onnx
from hypothesis import given
from hypothesis import strategies as st

from edge_asr.engines.base import StreamOptions
from edge_asr.engines.online import OnlineEngine, Steps, padding_samples
from edge_asr.engines.providers import ProviderChoice
from edge_asr.engines.registry import load_engine
from edge_asr.engines.sherpa_online import factory_arguments, load_online, require_decodable
from edge_asr.errors import ConfigurationError, EngineFailed, ModelDamaged, ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.manifest import MANIFEST_FILE, Precision, read_manifest
from edge_asr.settings import EngineSettings
from tests.support import tiny_models
from tests.support.engine_cases import STARTER, clip, decode_ready, feed, load_starter, load_tiny, noise, silence

STREAMING = [family for family in FAMILIES.values() if family.kind == "streaming"]


def files_of(family) -> dict[str, Path]:
    return {role: Path(f"/m/{role}") for role in (*family.roles, *family.optional_roles)}


@pytest.mark.parametrize("family", STREAMING, ids=lambda family: family.name)
def test_every_argument_is_one_the_factory_takes(family):
    factory = getattr(sherpa_onnx.OnlineRecognizer, family.factory)
    arguments = factory_arguments(family, files_of(family), EngineSettings(), family.sample_rate_hz)
    code = factory.__func__.__code__
    assert {*arguments, "num_threads", "provider"} <= set(code.co_varnames[: code.co_argcount])


@pytest.mark.parametrize("family", STREAMING, ids=lambda family: family.name)
def test_every_family_gets_its_files_and_rate_and_no_endpoint_detection(family):
    arguments = factory_arguments(family, files_of(family), EngineSettings(), family.sample_rate_hz)
    assert {role: arguments[role] for role in family.roles} == {role: Path(f"/m/{role}") for role in family.roles}
    assert arguments["sample_rate"] == family.sample_rate_hz
    assert arguments["enable_endpoint_detection"] is False
    assert arguments["decoding_method"] == "greedy_search"


@pytest.mark.parametrize("name", ["zipformer2", "zipformer", "conformer", "lstm", "ebranchformer"])
def test_transducers_are_told_their_type_so_that_the_encoder_is_loaded_once(name):
    family = FAMILIES[f"{name}-transducer"]
    assert factory_arguments(family, files_of(family), EngineSettings(), 16_000)["model_type"] == name


def test_beam_search_is_passed_on_with_its_width():
    family = FAMILIES["zipformer2-transducer"]
    settings = EngineSettings(decoding_method="modified_beam_search", max_active_paths=7)
    arguments = factory_arguments(family, files_of(family), settings, 16_000)
    assert (arguments["decoding_method"], arguments["max_active_paths"]) == ("modified_beam_search", 7)


@pytest.mark.parametrize("has_graph", [True, False])
def test_a_graph_among_the_files_is_passed_on(has_graph):
    family = FAMILIES["zipformer2-ctc"]
    files = {role: path for role, path in files_of(family).items() if has_graph or role != "graph"}
    assert ("ctc_graph" in factory_arguments(family, files, EngineSettings(), 16_000)) == has_graph


@pytest.mark.parametrize("family", [family for family in STREAMING if not family.model_type], ids=lambda f: f.name)
def test_beam_search_that_would_end_the_process_is_refused(family):
    with pytest.raises(ConfigurationError, match=f"family {family.name}; set it to 'greedy_search'"):
        require_decodable(family, EngineSettings(decoding_method="modified_beam_search"))


@given(
    st.integers(1, 40_000),
    st.integers(0, 20_000),
    st.integers(0, 500_000),
    st.integers(0, 10_000),
)
def test_the_padding_lets_the_engine_reach_the_end_with_the_fewest_steps(shift, right, end, delay):
    steps = Steps(window_samples=shift + right, shift_samples=shift)
    padding = padding_samples(steps, end, delay)
    possible = max(0, (end + padding - steps.window_samples) // shift + 1)
    needed = math.ceil((end + delay) / shift)
    assert possible >= needed
    assert padding <= steps.window_samples + delay
    if padding:
        assert possible == needed


@pytest.mark.parametrize(("chunk_frames", "chunk_ms"), [(32, 320), (64, 640), (128, 1280)])
def test_the_chunk_is_measured(tmp_path, chunk_frames, chunk_ms):
    files = tiny_models.write_lstm_transducer(tmp_path, chunk_frames=chunk_frames)
    described = load_engine(tmp_path, tiny_models.tiny_manifest("lstm-transducer", files), EngineSettings()).describe()
    assert described.chunk_ms == chunk_ms
    assert described.tail_padding_ms == pytest.approx(chunk_ms + 130 + 400, abs=30)


@pytest.mark.parametrize("tail_s", [0.0, 0.2, 0.45, 1.0])
def test_a_chunk_of_1_41_s_loses_no_word_whatever_follows_the_speech(tail_s):
    engine = load_tiny("lstm-transducer", lambda path: tiny_models.write_lstm_transducer(path, chunk_frames=128))
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, np.concatenate([noise(1.0, 16_000), silence(tail_s, 16_000)]), 1600)
    stream.finish()
    decode_ready(engine, [stream])
    assert len(stream.hypothesis().tokens) in (25, 26)


def test_times_do_not_depend_on_the_left_padding(tmp_path):
    files = tiny_models.write_lstm_transducer(tmp_path)
    manifest = tiny_models.tiny_manifest("lstm-transducer", files)
    starts = []
    for padding_ms in (0, 100, 500):
        engine = load_engine(tmp_path, manifest, EngineSettings(left_padding_ms=padding_ms))
        stream = engine.open_stream(StreamOptions())
        feed(engine, stream, np.concatenate([silence(1.0, 16_000), noise(1.0, 16_000)]), 1600)
        stream.finish()
        decode_ready(engine, [stream])
        starts.append(stream.hypothesis().tokens[0].start_s)
    assert starts == pytest.approx([1.0, 1.0, 1.0], abs=0.05)


def test_the_first_word_is_recognised_where_speech_begins_with_the_first_sample():
    engine = load_starter()
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, clip("go-forward")[round(0.5 * 16_000) :], 1600)
    assert stream.hypothesis().text.startswith("go")


def test_transducers_give_probabilities():
    engine = load_tiny("lstm-transducer", tiny_models.write_lstm_transducer)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, noise(1.0, 16_000), 1600)
    assert all(token.log_prob is not None and token.log_prob <= 0 for token in stream.hypothesis().tokens)


def test_ctc_models_give_none():
    engine = load_tiny("nemo-ctc-streaming", tiny_models.write_nemo_ctc_streaming)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, noise(1.0, 16_000), 1600)
    assert [token.log_prob for token in stream.hypothesis().tokens] == [None] * len(stream.hypothesis().tokens)


@pytest.mark.parametrize(("use_graph", "is_append_only"), [(True, False), (False, True)])
def test_text_may_be_revised_with_a_graph_only(use_graph, is_append_only):
    manifest = read_manifest(STARTER / MANIFEST_FILE)
    described = load_engine(STARTER, manifest, EngineSettings(use_graph=use_graph)).describe()
    assert described.is_append_only == is_append_only


def test_beam_search_works_and_warns(tmp_path):
    files = tiny_models.write_lstm_transducer(tmp_path)
    settings = EngineSettings(decoding_method="modified_beam_search")
    engine = load_engine(tmp_path, tiny_models.tiny_manifest("lstm-transducer", files), settings)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, noise(1.0, 16_000), 1600)
    assert stream.hypothesis().text
    assert "silence" in engine.describe().notes[0]
    assert not engine.describe().is_append_only


@pytest.mark.parametrize(
    "settings",
    [
        EngineSettings(threads=2),
        EngineSettings(memory_profile="low"),
        EngineSettings(allow_spinning=True),
    ],
    ids=["threads", "low memory", "spinning"],
)
def test_the_text_does_not_depend_on_how_the_model_is_run(settings):
    engine = load_engine(STARTER, read_manifest(STARTER / MANIFEST_FILE), settings)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, clip("five-five"), 1600)
    stream.finish()
    decode_ready(engine, [stream])
    assert stream.hypothesis().text == "five five"


def test_a_closed_stream_gives_its_native_state_back(recorder):
    stream = engine_over(recorder).open_stream(StreamOptions())
    stream.close()
    assert stream.native is None


# Behind a recogniser that only says what it was asked for.


class Recorder:
    """Stands in for the native recogniser and its streams."""

    def __init__(self, **result) -> None:
        self.calls: list[tuple[str, object]] = []
        self.samples: list[int] = []
        self.result = SimpleNamespace(text="", tokens=[], timestamps=[], ys_probs=[], **result)
        self.raises: Exception | None = None

    def create_stream(self) -> Recorder:
        self.samples = []
        return self

    def accept_waveform(self, rate: int, samples: list[float]) -> None:
        assert rate == 16_000
        assert isinstance(samples, list)
        self.samples.append(len(samples))

    def is_ready(self, _stream: object) -> bool:
        steps = sum(1 for name, _ in self.calls if name == "decode")
        return sum(self.samples) >= 1600 * (steps + 1)

    def decode_stream(self, stream: object) -> None:
        self.calls.append(("decode", stream))
        if self.raises:
            raise self.raises

    def decode_streams(self, streams: list[object]) -> None:
        self.calls += [("decode together", streams)]

    def get_result_all(self, _stream: object) -> SimpleNamespace:
        if self.raises:
            raise self.raises
        return self.result

    def input_finished(self) -> None:
        pass


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def engine_over(
    recorder: Recorder,
    family: str = "lstm-transducer",
    precision: Precision = "fp32",
    settings: EngineSettings | None = None,
) -> OnlineEngine:
    tiny = tiny_models.tiny_manifest(family, {"tokens": Path("tokens.txt")})
    manifest = msgspec.structs.replace(tiny, precision=precision)
    engine = OnlineEngine(recorder, manifest, FAMILIES[family], settings or EngineSettings(), ProviderChoice("cpu"))
    recorder.calls.clear()
    return engine


def test_a_long_recording_is_given_on_in_pieces_of_a_second(recorder):
    stream = engine_over(recorder).open_stream(StreamOptions())
    stream.accept(silence(10.5, 16_000))
    assert recorder.samples == [1600, *[16_000] * 10, 8_000]  # left padding first


def test_an_error_of_the_native_engine_fails_the_step(recorder):
    engine = engine_over(recorder)
    stream = engine.open_stream(StreamOptions())
    stream.accept(silence(1.0, 16_000))
    recorder.raises = RuntimeError("Failed to run encoder")
    with pytest.raises(EngineFailed, match="Failed to run encoder"):
        engine.decode([stream])


def test_a_token_that_the_table_lacks_fails_the_session(recorder):
    engine = engine_over(recorder)
    stream = engine.open_stream(StreamOptions())
    stream.accept(silence(1.0, 16_000))
    engine.decode([stream])
    recorder.raises = IndexError("_Map_base::at")
    with pytest.raises(EngineFailed, match=r"is tokens\.txt the model's own"):
        stream.hypothesis()


def test_half_a_character_leaves_the_text_as_it_was(recorder):
    engine = engine_over(recorder)
    stream = engine.open_stream(StreamOptions())
    stream.accept(silence(1.0, 16_000))
    recorder.result.text = "so far"
    engine.decode([stream])
    stream.hypothesis()
    recorder.raises = UnicodeDecodeError("utf-8", b"\xe4", 0, 1, "unexpected end of data")
    recorder.calls.append(("decode", stream))
    stream.count_step()
    assert stream.hypothesis().text == "so far"


def test_streams_are_decoded_together_where_the_family_can(recorder):
    engine = engine_over(recorder)
    streams = [engine.open_stream(StreamOptions()) for _ in range(3)]
    streams[0].accept(silence(1.0, 16_000))
    engine.decode(streams)
    assert [name for name, _ in recorder.calls] == ["decode together"]


@pytest.mark.parametrize("precision", ["int8", "mixed"])
def test_streams_are_decoded_one_by_one_where_the_batch_would_change_their_text(recorder, precision):
    engine = engine_over(recorder, precision=precision)
    streams = [engine.open_stream(StreamOptions()) for _ in range(3)]
    streams[0].accept(silence(1.0, 16_000))
    engine.decode(streams)
    assert [name for name, _ in recorder.calls] == ["decode"] * 3
    assert engine.describe().streams_per_step == 1


def test_they_are_decoded_together_all_the_same_where_that_is_wanted(recorder):
    engine = engine_over(recorder, precision="int8", settings=EngineSettings(batch_int8=True))
    streams = [engine.open_stream(StreamOptions()) for _ in range(3)]
    streams[0].accept(silence(1.0, 16_000))
    engine.decode(streams)
    assert [name for name, _ in recorder.calls] == ["decode together"]
    assert engine.describe().streams_per_step == 0


def test_streams_are_decoded_side_by_side_in_as_many_parts_as_there_are_threads(recorder):
    engine = engine_over(recorder, settings=EngineSettings(parallel_streams=2))
    streams = [engine.open_stream(StreamOptions()) for _ in range(5)]
    streams[0].accept(silence(1.0, 16_000))
    engine.decode(streams)
    engine.close()
    assert sorted(len(part) for _, part in recorder.calls) == [2, 3]


def test_streams_are_decoded_one_by_one_where_the_family_cannot(recorder):
    engine = engine_over(recorder, "wenet-ctc-streaming")
    streams = [engine.open_stream(StreamOptions()) for _ in range(3)]
    streams[0].accept(silence(10.0, 16_000))
    engine.decode(streams)
    assert [name for name, _ in recorder.calls] == ["decode"] * 3


def test_a_positive_log_probability_is_no_probability(recorder):
    engine = engine_over(recorder)
    stream = engine.open_stream(StreamOptions())
    stream.accept(silence(1.0, 16_000))
    recorder.result = SimpleNamespace(text="a", tokens=["a"], timestamps=[0.1], ys_probs=[0.002])
    engine.decode([stream])
    assert stream.hypothesis().tokens[0].log_prob == 0.0


def test_tokens_that_are_fewer_than_their_times_keep_them(recorder):
    engine = engine_over(recorder)
    stream = engine.open_stream(StreamOptions())
    stream.accept(silence(1.0, 16_000))
    # Unknown tokens are left out of the text but not of the times.
    recorder.result = SimpleNamespace(text="a b", tokens=["a", "b"], timestamps=[0.1, 0.2, 0.3], ys_probs=[0.0])
    engine.decode([stream])
    assert [(token.text, token.log_prob) for token in stream.hypothesis().tokens] == [("a", None), ("b", None)]


def test_a_model_that_never_decodes_is_refused(recorder):
    recorder.is_ready = lambda _stream: False
    with pytest.raises(ModelUnsupported, match="decodes nothing within 20 s"):
        engine_over(recorder)


def test_a_model_that_cannot_decode_is_damaged(recorder):
    recorder.raises = RuntimeError("Got invalid dimensions\n for input: x")
    with pytest.raises(ModelDamaged, match="it loads but cannot decode: Got invalid dimensions for input: x"):
        engine_over(recorder)


@pytest.mark.parametrize("family", STREAMING, ids=lambda family: family.name)
def test_the_families_own_factory_is_called(family, tmp_path, monkeypatch):
    called: list[tuple[str, dict[str, object]]] = []

    def factory(**arguments: object) -> Recorder:
        called.append((family.factory, arguments))
        return Recorder()

    monkeypatch.setattr(sherpa_onnx, "OnlineRecognizer", SimpleNamespace(**{family.factory: factory}))
    files = {role: tmp_path / role for role in family.roles}
    for path in files.values():
        path.touch()
    manifest = tiny_models.tiny_manifest(family.name, files)
    if manifest.sample_rate_hz != 16_000:
        monkeypatch.setattr(Recorder, "accept_waveform", lambda self, _rate, samples: self.samples.append(len(samples)))
    load_online(tmp_path, manifest, family, EngineSettings(threads=3), ProviderChoice("cpu"))
    arguments = called[0][1]
    assert arguments["num_threads"] == 3
    assert str(arguments["provider"]).startswith("cpu:/proc/self/fd/")
    assert {role: arguments[role] for role in family.roles} == {role: str(path) for role, path in files.items()}
