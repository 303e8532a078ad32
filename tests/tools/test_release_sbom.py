from __future__ import annotations

import datetime as dt
import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from tests.deployment.wheels import write_wheel
from tools.release_sbom import bill_of_materials

TIME = dt.datetime(2026, 12, 1, tzinfo=dt.UTC)


@pytest.fixture
def wheels(tmp_path: Path) -> tuple[Path, Path]:
    own = write_wheel(tmp_path, "edge-asr")
    with zipfile.ZipFile(own, "a") as wheel:
        wheel.writestr("edge_asr/_models/starter-en/model.int8.onnx", b"weights")
    return own, write_wheel(tmp_path, "Some.Library", version="2.5")


def test_it_names_edge_asr_what_it_installs_and_the_models_inside(wheels: tuple[Path, Path]) -> None:
    own, library = wheels
    document = json.loads(bill_of_materials(own, [library], TIME))
    assert (document["bomFormat"], document["metadata"]["component"]["name"]) == ("CycloneDX", "edge-asr")
    found = {component["name"]: component for component in document["components"]}
    assert set(found) == {"some-library", "starter-en/model.int8.onnx"}
    assert found["some-library"]["purl"] == "pkg:pypi/some-library@2.5"
    assert found["some-library"]["hashes"][0]["content"] == hashlib.sha256(library.read_bytes()).hexdigest()
    model = found["starter-en/model.int8.onnx"]
    assert model["type"] == "machine-learning-model"
    assert model["hashes"][0]["content"] == hashlib.sha256(b"weights").hexdigest()


def test_the_same_release_has_the_same_document(wheels: tuple[Path, Path]) -> None:
    own, library = wheels
    assert bill_of_materials(own, [library], TIME) == bill_of_materials(own, [library], TIME)
