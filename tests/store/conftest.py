"""Stores in temporary places, and a web server that can break off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from edge_asr.manifest import ModelFile, ModelManifest, ModelSource
from edge_asr.store.locations import StoreLocations
from edge_asr.store.store import ModelStore
from tests.support.web_site import Site, serving


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        yield site


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    directory = tmp_path / "catalogue"
    directory.mkdir()
    return directory


@pytest.fixture
def store(tmp_path: Path, catalogue: Path) -> ModelStore:
    return ModelStore(StoreLocations((tmp_path / "root",)), catalogue)


def manifest(name: str = "tiny", **changes: object) -> ModelManifest:
    facts: dict[str, object] = {
        "name": name,
        "version": "1",
        "family": "zipformer2-ctc",
        "languages": ("en",),
        "sample_rate_hz": 16_000,
        "chunk_ms": 320,
        "precision": "int8",
        "files": {"tokens": ModelFile(path="tokens.txt"), "model": ModelFile(path="model.onnx")},
        "licence": "Apache-2.0",
        "source": ModelSource(kind="local"),
    }
    return ModelManifest(**(facts | changes))  # type: ignore[arg-type]


def fill_with(contents: dict[str, bytes], described: ModelManifest):
    def fill(directory: Path) -> ModelManifest:
        for name, data in contents.items():
            (directory / name).write_bytes(data)
        return described

    return fill


WHOLE = {"tokens.txt": b"<blk> 0\n", "model.onnx": b"graph"}
