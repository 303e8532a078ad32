"""Our own recogniser against sherpa-onnx's: on the CPU the same tokens at the same times."""

from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.engines.base import Hypothesis, StreamOptions
from edge_asr.engines.ort_providers import CPU_PROVIDER, Coverage
from edge_asr.engines.ort_served import parse_options, partly
from edge_asr.engines.registry import load_engine
from edge_asr.errors import ConfigurationError, ModelUnsupported, ProviderUnavailable
from edge_asr.manifest import MANIFEST_FILE, read_manifest
from edge_asr.settings import EngineSettings
from tests.support import tiny_models
from tests.support.engine_cases import STARTER, clip, decode_ready, feed


def heard(name: str, settings: EngineSettings) -> Hypothesis:
    directory = STARTER.parent / name
    engine = load_engine(directory, read_manifest(directory / MANIFEST_FILE), settings)
    stream = engine.open_stream(StreamOptions())
    feed(engine, stream, clip("go-forward"), 1600)
    stream.finish()
    decode_ready(engine, [stream])
    return stream.hypothesis()


@pytest.mark.model
@pytest.mark.parametrize("name", ["starter-en-fp32", "starter-en-transducer"])
def test_text_and_times_are_those_of_sherpa(name: str) -> None:
    ours = heard(name, EngineSettings(provider="ort:CPU"))
    native = heard(name, EngineSettings(use_graph=False))
    assert ours.text == native.text
    assert [token.text for token in ours.tokens] == [token.text for token in native.tokens]
    times = [token.start_s for token in native.tokens]
    assert [token.start_s for token in ours.tokens] == pytest.approx(times, abs=1e-3)


def test_beam_search_is_refused_with_what_works(tmp_path: Path) -> None:
    files = tiny_models.write_lstm_transducer(tmp_path)
    manifest = tiny_models.tiny_manifest("lstm-transducer", files)
    settings = EngineSettings(provider="ort:CPU", decoding_method="modified_beam_search")
    with pytest.raises(ConfigurationError, match="set it to 'greedy_search'"):
        load_engine(tmp_path, manifest, settings)


def test_a_graph_of_the_users_is_refused_and_not_passed_over(tmp_path: Path) -> None:
    settings = EngineSettings(provider="ort:CPU", graph=str(tmp_path / "digits.fst"))
    with pytest.raises(ConfigurationError, match=r"digits\.fst' does not work with provider 'ort:CPU'; leave it empty"):
        load_engine(STARTER, read_manifest(STARTER / MANIFEST_FILE), settings)


@pytest.mark.model
@pytest.mark.parametrize(("use_graph", "notes"), [(True, 1), (False, 0)])
def test_leaving_out_the_models_own_graph_is_said(use_graph: bool, notes: int) -> None:
    directory = STARTER.parent / "starter-en-fp32"
    settings = EngineSettings(provider="ort:CPU", use_graph=use_graph)
    engine = load_engine(directory, read_manifest(directory / MANIFEST_FILE), settings)
    said = [note for note in engine.describe().notes if "the model's decoding graph is left out" in note]
    assert len(said) == notes


def test_a_family_without_a_search_here_is_refused(tmp_path: Path) -> None:
    files = tiny_models.write_paraformer_streaming(tmp_path)
    manifest = tiny_models.tiny_manifest("paraformer-streaming", files)
    with pytest.raises(ModelUnsupported, match="serve no models of this family"):
        load_engine(tmp_path, manifest, EngineSettings(provider="ort:CPU"))


def test_a_provider_that_this_onnxruntime_lacks_is_refused(tmp_path: Path) -> None:
    files = tiny_models.write_lstm_transducer(tmp_path)
    manifest = tiny_models.tiny_manifest("lstm-transducer", files)
    with pytest.raises(ProviderUnavailable, match=r"'ort:VSINPU' is not available here: .* built without it"):
        load_engine(tmp_path, manifest, EngineSettings(provider="ort:VSINPU"))


def test_a_provider_that_took_a_part_says_which() -> None:
    coverage = Coverage({CPU_PROVIDER: 25, "QNNExecutionProvider": 75}, {"Resize": 20, "Sin": 5})
    assert partly("qnn", coverage) == "provider 'qnn' runs 75% of 100 operators; on the CPU are 20 Resize, 5 Sin"
    assert partly("qnn", Coverage({"QNNExecutionProvider": 75}, {})) == ""


def test_coverages_of_two_graphs_add_up() -> None:
    one = Coverage({CPU_PROVIDER: 1, "QNNExecutionProvider": 3}, {"Sin": 1})
    other = Coverage({CPU_PROVIDER: 2}, {"Sin": 1, "Cos": 1})
    both = one.plus(other)
    assert both == Coverage({CPU_PROVIDER: 3, "QNNExecutionProvider": 3}, {"Sin": 2, "Cos": 1})
    assert both.share == 0.5


def test_options_of_a_provider_are_read_from_one_line() -> None:
    assert parse_options("soc_model=69, htp_arch=73") == {"soc_model": "69", "htp_arch": "73"}
    with pytest.raises(ConfigurationError, match="'burst' is no key=value"):
        parse_options("burst")
