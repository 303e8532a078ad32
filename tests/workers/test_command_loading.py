from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.commands.listening import OPEN_SPEECH, ExactListening
from edge_asr.commands.nearest_listening import NearestListening
from edge_asr.errors import ProtocolViolation
from edge_asr.manifest import read_manifest
from edge_asr.settings import CommandSettings, EngineSettings
from edge_asr.workers.command_loading import listening
from tests.support import tiny_models

STARTER = Path(__file__).resolve().parents[2] / "models" / "starter-en"
TRANSDUCER = STARTER.with_name("starter-en-transducer")
TEXTS = {"go.yaml": "intents: {Go: {data: [{sentences: [go forward, turn left]}]}}"}
OTHER = "intents: {Stop: {data: [{sentences: [stop]}]}}"


def test_a_ctc_model_gets_a_graph_of_the_configured_commands_while_it_is_loaded():
    manifest = read_manifest(STARTER / "manifest.toml")
    with listening(STARTER, manifest, EngineSettings(), CommandSettings(), TEXTS) as (book, engine):
        assert Path(engine.graph).stat().st_size > 0
        assert isinstance(book.listening(None), ExactListening)
        with pytest.raises(ProtocolViolation, match="hears the daemon's own commands only"):
            book.listening(OTHER)
    assert not Path(engine.graph).exists()


def test_where_onnx_runtime_decodes_there_is_no_graph_and_the_text_is_matched():
    manifest = read_manifest(STARTER / "manifest.toml")
    by_ort = EngineSettings(provider="ort:CPU")
    with listening(STARTER, manifest, by_ort, CommandSettings(), TEXTS) as (book, engine):
        assert engine == by_ort
        assert isinstance(book.listening(None), NearestListening)


def test_where_onnx_runtime_decodes_a_transducer_is_searched_as_it_can_be():
    manifest = read_manifest(TRANSDUCER / "manifest.toml")
    by_ort = EngineSettings(provider="ort:CPU")
    with listening(TRANSDUCER, manifest, by_ort, CommandSettings(), TEXTS) as (_book, engine):
        assert engine == by_ort


def test_without_commands_a_model_is_loaded_as_ever():
    manifest = read_manifest(STARTER / "manifest.toml")
    with listening(STARTER, manifest, EngineSettings(), CommandSettings(), {}) as (book, engine):
        assert engine == EngineSettings()
        assert book.listening(None) is OPEN_SPEECH
        assert isinstance(book.listening(OTHER), NearestListening)


def test_a_transducer_is_searched_so_that_it_can_expect_words():
    manifest = read_manifest(TRANSDUCER / "manifest.toml")
    with listening(TRANSDUCER, manifest, EngineSettings(), CommandSettings(), TEXTS) as (_book, engine):
        assert engine.decoding_method == "modified_beam_search"
    with listening(TRANSDUCER, manifest, EngineSettings(), CommandSettings(), {}) as (_book, engine):
        assert engine == EngineSettings()


def test_of_any_other_model_the_text_is_matched(tmp_path):
    manifest = tiny_models.tiny_manifest("nemo-ctc", tiny_models.write_nemo_ctc_offline(tmp_path))
    with listening(tmp_path, manifest, EngineSettings(), CommandSettings(), TEXTS) as (book, engine):
        assert engine == EngineSettings()
        assert isinstance(book.listening(None), NearestListening)
        assert set(book.listening(None).phrases) == {"go", "forward", "turn", "left"}
        assert set(book.listening(OTHER).phrases) == {"stop"}
