from __future__ import annotations

import tarfile
from pathlib import Path

import msgspec
import onnx
import pytest

from edge_asr.errors import ModelDamaged
from edge_asr.manifest import format_manifest, read_manifest
from edge_asr.store.digest import check_files
from edge_asr.store.importing import import_archive, import_directory, store_name
from edge_asr.store.inspect import inspect_model
from edge_asr.store.store import ModelStore
from tests.support import tiny_models


@pytest.mark.parametrize(
    ("file_name", "name"),
    [
        ("sherpa-onnx-en-20M.tar.bz2", "sherpa-onnx-en-20m"),
        ("My Model (v2)", "my-model-v2"),
        ("___", "___"),
        ("...", "imported"),
    ],
)
def test_a_store_name_is_made_of_a_file_name(tmp_path: Path, file_name: str, name: str) -> None:
    assert store_name(tmp_path / file_name) == name


def test_a_directory_becomes_an_installed_model(tmp_path: Path, store: ModelStore) -> None:
    source = tmp_path / "source"
    tiny_models.write_lstm_transducer(source)
    model = store.install("mine", lambda target: import_directory(source, target, "mine", ("en",)))
    assert (model.manifest.family, model.manifest.chunk_ms, model.manifest.source.kind) == (
        "lstm-transducer",
        320,
        "local",
    )
    check_files(model.manifest, model.directory)
    assert inspect_model(model.directory, store.find("mine").manifest).vocabulary == 5


def test_weights_beside_a_graph_come_along_whatever_their_name(tmp_path: Path, store: ModelStore) -> None:
    source = tmp_path / "source"
    encoder = tiny_models.write_lstm_transducer(source)["encoder"]
    onnx.save_model(onnx.load(encoder), encoder, save_as_external_data=True, location="w.bin", size_threshold=0)
    model = store.install("mine", lambda target: import_directory(source, target, "mine", ("en",)))
    assert (model.directory / "w.bin").read_bytes() == (source / "w.bin").read_bytes()
    assert inspect_model(model.directory, model.manifest).notes == ("encoder.onnx keeps its weights in w.bin",)


def test_files_of_one_name_in_two_folders_are_kept_apart(tmp_path: Path, store: ModelStore) -> None:
    source = tmp_path / "source"
    for role, path in tiny_models.write_lstm_transducer(source).items():
        if role != "tokens":
            (source / role).mkdir()
            path.rename(source / role / "model.onnx")
    model = store.install("mine", lambda target: import_directory(source, target, "mine", ("en",)))
    assert {role: file.path for role, file in model.manifest.files.items()} == {
        "tokens": "tokens.txt",
        "encoder": "model.onnx",
        "decoder": "decoder-model.onnx",
        "joiner": "joiner-model.onnx",
    }


def described(tmp_path: Path) -> Path:
    source = tmp_path / "source"
    files = tiny_models.write_lstm_transducer(source)
    manifest = tiny_models.tiny_manifest("lstm-transducer", files, name="prepared")
    (source / "manifest.toml").write_text(format_manifest(msgspec.structs.replace(manifest, licence="MIT")))
    return source


def test_a_directory_with_a_manifest_is_taken_as_that_says(tmp_path: Path, store: ModelStore) -> None:
    source = described(tmp_path)
    assert store_name(source) == "prepared"
    model = store.install("mine", lambda target: import_directory(source, target, "mine", ("fi",)))
    manifest = store.find("mine").manifest
    assert (manifest.name, manifest.licence, manifest.languages) == ("mine", "MIT", ("fi",))
    assert manifest.source.kind == "local"
    assert all(file.sha256 for file in manifest.files.values())
    check_files(manifest, model.directory)


def test_a_directory_unlike_its_manifest_is_not_installed(tmp_path: Path, store: ModelStore) -> None:
    source = described(tmp_path)
    manifest = read_manifest(source / "manifest.toml")
    files = manifest.files | {"tokens": msgspec.structs.replace(manifest.files["tokens"], sha256="0" * 64)}
    (source / "manifest.toml").write_text(format_manifest(msgspec.structs.replace(manifest, files=files)))
    with pytest.raises(ModelDamaged, match=r"contents of tokens\.txt are not those of the manifest"):
        store.install("mine", lambda target: import_directory(source, target, "mine", ()))
    assert store.installed() == []


def test_an_archive_is_looked_through(tmp_path: Path, store: ModelStore) -> None:
    tiny_models.write_lstm_transducer(tmp_path / "inner")
    archive = tmp_path / "m.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "inner", "some-model")
    model = store.install("mine", lambda target: import_archive(archive, target, "mine", ("en",)))
    assert sorted(path.name for path in model.directory.iterdir()) == [
        "decoder.onnx",
        "encoder.onnx",
        "joiner.onnx",
        "manifest.toml",
        "tokens.txt",
    ]


def test_a_model_that_cannot_be_served_is_not_installed(tmp_path: Path, store: ModelStore) -> None:
    source = tmp_path / "source"
    tiny_models.write_lstm_transducer(source)
    (source / "tokens.txt").write_text("<blk> 0\n")
    with pytest.raises(ModelDamaged, match="do not belong together"):
        store.install("mine", lambda target: import_directory(source, target, "mine", ("en",)))
    assert store.installed() == []
