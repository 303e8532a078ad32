"""A quantization that would not fit on the disk does not begin."""

from __future__ import annotations

import shutil
from pathlib import Path

import onnx
import pytest

from edge_asr.errors import DiskFull, NotEnoughMemory
from edge_asr.quantize import room
from edge_asr.quantize.order import Order
from edge_asr.quantize.progress import Silence
from edge_asr.quantize.room import needed_bytes
from edge_asr.quantize.run import quantize
from edge_asr.quantize.targets import TARGETS
from edge_asr.quantize.workshop import graph_files
from edge_asr.store.store import InstalledModel
from tests.support.tiny_products import write_model


@pytest.fixture
def original(tmp_path: Path) -> InstalledModel:
    return InstalledModel(write_model(tmp_path / "model"), tmp_path / "model")


def order(original: InstalledModel, recipe: str) -> Order:
    output = original.directory.with_name("out")
    return Order(original=original, output=output, recipe=recipe, target=TARGETS["pi5"])  # type: ignore[arg-type]


def test_preparing_takes_two_copies_of_the_largest_graph(original: InstalledModel) -> None:
    largest = max(path.stat().st_size for path in graph_files(original).values())
    assert needed_bytes(order(original, "weight4")) == 2 * largest


def test_a_search_takes_every_candidate(original: InstalledModel) -> None:
    total = sum(path.stat().st_size for path in graph_files(original).values())
    assert needed_bytes(order(original, "auto")) > 3 * total


def test_weights_beside_a_graph_count(original: InstalledModel) -> None:
    path = graph_files(original)["encoder"]
    model = onnx.load(str(path))
    onnx.save(model, str(path), save_as_external_data=True, location="weights", size_threshold=0)
    beside = (path.parent / "weights").stat().st_size
    assert needed_bytes(order(original, "int8")) >= 2 * (path.stat().st_size + beside)


def test_what_does_not_fit_is_not_begun(original: InstalledModel, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=100)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage)
    with pytest.raises(DiskFull, match="0 MiB are free"):
        quantize(order(original, "int8"), Silence())
    assert {path.name for path in original.directory.parent.iterdir()} == {"model"}


def test_what_does_not_fit_into_memory_is_not_begun(original: InstalledModel, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = order(original, "int8")
    largest = max(path.stat().st_size for path in graph_files(original).values())
    assert room.needed_memory_bytes(wanted) == 6 * largest
    monkeypatch.setattr(room, "available_bytes", lambda: 6 * largest - 1)
    with pytest.raises(NotEnoughMemory, match="quantizing 'sound' needs about 0 MiB"):
        quantize(wanted, Silence())


def test_a_graph_with_its_weights_beside_it_is_copied_less_often(
    original: InstalledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "EXTERNAL_FROM_BYTES", 1)
    largest = max(path.stat().st_size for path in graph_files(original).values())
    assert room.needed_memory_bytes(order(original, "int8")) == 4 * largest
