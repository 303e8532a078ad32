from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from edge_asr.errors import ConfigurationError
from edge_asr.manifest import read_manifest
from edge_asr.settings import EngineSettings
from edge_asr.workers.hotword_loading import hotword_book, require_hotwords_possible, why_no_hotwords

MODELS = Path(__file__).resolve().parents[2] / "models"
TRANSDUCER = MODELS / "starter-en-transducer"
BEAM = EngineSettings(decoding_method="modified_beam_search", hotwords_score=3.0)
TEXTS = {"names.txt": "dashwood\n"}


def manifest_of(directory: Path):
    return read_manifest(directory / "manifest.toml")


def test_a_transducer_with_a_beam_has_a_book_with_the_configured_boost():
    book = hotword_book(TRANSDUCER, manifest_of(TRANSDUCER), BEAM, TEXTS)
    assert book is not None
    assert [hotword.boost for hotword in book.of_session(["kitchen :2"]).hotwords] == [3.0, 2.0]


@pytest.mark.parametrize(
    ("model", "settings", "reason"),
    [
        ("starter-en", BEAM, "cannot be biased towards words"),
        ("starter-en-transducer", EngineSettings(), 'need engine.decoding_method = "modified_beam_search"'),
    ],
)
def test_configured_hotwords_that_would_never_be_heeded_are_refused_with_the_reason(model, settings, reason):
    manifest = manifest_of(MODELS / model)
    with pytest.raises(ConfigurationError, match=rf"names\.txt: .*{reason}"):
        require_hotwords_possible(manifest, settings, TEXTS)
    assert hotword_book(MODELS / model, manifest, settings, {}) is None


def test_a_damaged_bpe_model_costs_the_hotwords_and_not_the_model(tmp_path):
    shutil.copy(TRANSDUCER / "tokens.txt", tmp_path)
    (tmp_path / "bpe.model").write_text("no such thing")
    book = hotword_book(tmp_path, manifest_of(TRANSDUCER), BEAM, {})
    assert book is not None
    assert book.why_not == "is not a SentencePiece model"


def test_a_provider_that_only_searches_greedily_is_why_there_are_none() -> None:
    manifest = manifest_of(TRANSDUCER)
    why = why_no_hotwords(manifest, EngineSettings(provider="ort:CPU"))
    assert why == "provider 'ort:CPU' searches greedily only"
