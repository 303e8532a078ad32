from __future__ import annotations

import msgspec
import pytest

from edge_asr.errors import ModelDamaged
from edge_asr.families import FAMILIES
from edge_asr.manifest import format_manifest, parse_manifest, renamed
from edge_asr.store.catalogue import bundled_directories, catalogue_directory, read_catalogue

GOOD = """
name = "tiny"
version = "1"
family = "zipformer2-ctc"
languages = ["en"]
sample_rate_hz = 16000
chunk_ms = 320
precision = "int8"
licence = "MIT"
[source]
kind = "local"
[files.model]
path = "model.onnx"
"""


def test_a_manifest_survives_being_written_and_read() -> None:
    manifest = parse_manifest("confidence = [[0.2, 0.1], [0.8, 1]]" + GOOD, "x")
    assert manifest.confidence == ((0.2, 0.1), (0.8, 1.0))
    assert parse_manifest(format_manifest(manifest), "x") == manifest
    assert manifest.files["model"].path == "model.onnx"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('name = "tiny"', 'name = "../x"', "may hold only"),
        ('path = "model.onnx"', 'path = "/etc/passwd"', "inside the model's directory"),
        ('path = "model.onnx"', 'path = "a/../../b"', "inside the model's directory"),
        ('path = "model.onnx"', 'path = "m"\nsha256 = "xyz"', "64 lower-case"),
        ("chunk_ms = 320", "chunk_ms = -1", "outside 0 to 10000"),
        ("chunk_ms = 320", "", "chunk_ms"),
        ('precision = "int8"', 'precision = "int7"', "int7"),
        ("[source]", "surprise = 1\n[source]", "surprise"),
        ('name = "tiny"', "name = ", "manifest is wrong"),
        ("[source]", "confidence = [[0.2, 0.5], [0.8, 0.4]]\n[source]", "does not rise"),
        ("[source]", "confidence = [[0.2, 0.5], [0.2, 0.6]]\n[source]", "does not rise"),
        ("[source]", "confidence = [[0.2, 1.5]]\n[source]", "outside 0 to 1"),
    ],
)
def test_a_wrong_manifest_is_refused_with_the_reason(old: str, new: str, reason: str) -> None:
    with pytest.raises(ModelDamaged, match=reason):
        parse_manifest(GOOD.replace(old, new), "x")


def test_the_note_of_a_models_words_follows_its_name() -> None:
    float32 = msgspec.structs.replace(
        parse_manifest(GOOD, "x"), name="robot-fp32", words_note="robot-fp32 hears 9 words only"
    )

    assert renamed(float32, "robot-int8").words_note == "robot-int8 hears 9 words only"


def test_every_shipped_manifest_fits_its_family() -> None:
    shipped = read_catalogue(catalogue_directory())
    assert {"moonshine-tiny-en", "silero-vad", "zipformer-en-20m", "t-one-ru"} <= set(shipped)
    for manifest in shipped.values():
        family = FAMILIES[manifest.family]
        assert set(family.roles) <= set(manifest.files) <= {*family.roles, *family.optional_roles}, manifest.name


def test_the_starter_model_is_bundled() -> None:
    assert "starter-en" in [path.name for path in bundled_directories(catalogue_directory())]
