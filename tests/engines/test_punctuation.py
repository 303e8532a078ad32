"""The punctuation model: what it writes, and everything over which the native code would end the process."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from edge_asr.engines.punctuation import PunctuationModel, load_punctuation
from edge_asr.engines.trial import trial_load
from edge_asr.errors import ModelDamaged, ModelError, ModelUnsupported
from edge_asr.settings import EngineSettings
from edge_asr.store.family_guess import guess_family
from edge_asr.store.inspect import inspect_model
from tests.support.tiny_punctuation import LABELS, MANIFEST, write_punctuation

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> PunctuationModel:
    return load_punctuation(write_punctuation(tmp_path_factory.mktemp("punctuation")), MANIFEST)


@pytest.mark.parametrize(
    ("heard", "written"),
    [
        ("how are you", "How are you."),
        ("go", "Go."),
        ("", ""),
        ("  ", ""),
        ("café is open", "café is open."),
        ("so 好 it is", "So 好 it is."),
        ("say " + "x" * 500 + " now", "Say " + "x" * 500 + " now."),
        ("how are you über", "How are you über."),
    ],
)
def test_it_writes(model: PunctuationModel, heard: str, written: str) -> None:
    assert model.write(heard) == written


def test_a_long_text_keeps_its_words(model: PunctuationModel) -> None:
    heard = "so it goes on " * 60
    assert model.write(heard.strip()).lower().replace(".", "").split() == heard.split()


class Mistaken:
    def add_punctuation_with_case(self, _text: str) -> str:
        return "Something else."


class Failing:
    def add_punctuation_with_case(self, _text: str) -> str:
        raise RuntimeError("Got invalid dimensions")


@pytest.mark.parametrize("native", [Mistaken(), Failing()])
def test_a_text_it_fails_on_stays_as_it_is(native: object) -> None:
    assert PunctuationModel(native).write("how are you") == "how are you"


def test_inspection_knows_it(tmp_path: Path) -> None:
    report = inspect_model(write_punctuation(tmp_path), MANIFEST)
    assert (report.kind, report.vocabulary) == ("punctuation", 0)


def test_it_is_told_by_its_metadata(tmp_path: Path) -> None:
    assert guess_family(write_punctuation(tmp_path)) == (
        "punctuation-cnn-bilstm",
        {"model": "model.onnx", "bpe": "bpe.vocab"},
    )


@pytest.mark.parametrize("missing", LABELS)
def test_a_key_that_is_missing_is_found_before_the_engine_ends(tmp_path: Path, missing: str) -> None:
    write_punctuation(tmp_path, {key: value for key, value in LABELS.items() if key != missing})
    with pytest.raises(ModelDamaged, match=missing):
        inspect_model(tmp_path, MANIFEST)


def test_labels_that_the_engine_would_mistake_are_refused(tmp_path: Path) -> None:
    write_punctuation(tmp_path, {**LABELS, "COMMA": "2"})
    with pytest.raises(ModelUnsupported, match="COMMA"):
        inspect_model(tmp_path, MANIFEST)


@pytest.mark.parametrize(
    "vocabulary",
    ["", "<html>\nhello\n", "▁a\t-1\n▁b\n", "▁a\tb\n", "\t-1\n"],
    ids=["empty", "page", "cut", "word", "no"],
)
def test_a_damaged_vocabulary_is_found_before_the_engine_ends(tmp_path: Path, vocabulary: str) -> None:
    write_punctuation(tmp_path, vocabulary=vocabulary)
    with pytest.raises(ModelDamaged, match=r"bpe\.vocab"):
        inspect_model(tmp_path, MANIFEST)


def test_a_vocabulary_that_is_not_there(tmp_path: Path) -> None:
    write_punctuation(tmp_path)
    (tmp_path / "bpe.vocab").unlink()
    with pytest.raises(ModelError):
        inspect_model(tmp_path, MANIFEST)
    with pytest.raises(ModelDamaged, match="bpe"):
        guess_family(tmp_path)


def test_a_trial_loads_it_in_another_process(tmp_path: Path) -> None:
    assert trial_load(write_punctuation(tmp_path), MANIFEST, EngineSettings()).family == MANIFEST.family


def test_a_trial_survives_what_the_engine_ends_over(tmp_path: Path) -> None:
    write_punctuation(tmp_path, {})
    with pytest.raises(ModelDamaged, match="the engine refuses it"):
        trial_load(tmp_path, msgspec.structs.replace(MANIFEST, name="broken"), EngineSettings())
