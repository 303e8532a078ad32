"""What makes it possible to repeat a measurement."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from edge_asr import __version__
from edge_asr.bench.identity import model_identity, versions, workload_identity
from edge_asr.cli.stores import open_store
from edge_asr.workload import sha256_of_audio
from tests.bench.rigs import clip


def test_versions_name_everything_that_changes_a_figure():
    found = versions()
    assert found["edge-asr"] == __version__
    assert {"python", "kernel", "sherpa-onnx", "numpy"} <= set(found)


def test_a_model_is_known_by_its_files_as_they_are_now(tmp_path):
    installed = open_store().resolve("starter-en")
    identity = model_identity(installed)
    assert (identity.name, identity.family, identity.chunk_ms) == (
        "starter-en",
        installed.manifest.family,
        installed.manifest.chunk_ms,
    )
    assert set(identity.files) == set(installed.manifest.files)
    tokens = (installed.directory / installed.manifest.files["tokens"].path).read_bytes()
    assert identity.files["tokens"] == hashlib.sha256(tokens).hexdigest()
    assert identity.size_bytes == sum(file.size_bytes for file in installed.manifest.files.values())


def test_a_model_whose_file_is_gone_has_no_identity(tmp_path):
    installed = replace(open_store().resolve("starter-en"), directory=tmp_path)
    with pytest.raises(OSError, match="No such file"):
        model_identity(installed)


def test_recordings_are_known_by_what_is_heard():
    audio = clip(0.5, "go forward", name="a.wav")
    workload = workload_identity("bundled", [audio], "en")
    assert workload.source == "bundled"
    assert "english" in workload.normaliser
    (identity,) = workload.clips
    assert (identity.name, identity.audio_s, identity.text) == ("a.wav", 0.5, "go forward")
    assert identity.sha256 == sha256_of_audio(audio)
