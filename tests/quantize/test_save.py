from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from edge_asr.errors import DiskFull
from edge_asr.quantize.graph import load_graph
from edge_asr.quantize.save import save_model
from edge_asr.quantize.walk import model_bytes
from tests.support.tiny_graphs import frames, run, two_products


def test_a_small_model_is_one_file(tmp_path: Path) -> None:
    assert save_model(two_products(), tmp_path / "m.onnx") == [tmp_path / "m.onnx"]
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


def test_a_large_model_has_its_weights_beside_it(tmp_path: Path) -> None:
    written = save_model(two_products(), tmp_path / "m.onnx", external_from_bytes=1000)
    assert written == [tmp_path / "m.onnx", tmp_path / "m.onnx.data"]
    assert (tmp_path / "m.onnx").stat().st_size < 1000
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"))
    assert np.array_equal(session.run(None, {"x": frames()})[0], run(two_products())[0])


def test_what_was_written_beside_is_read_back(tmp_path: Path) -> None:
    save_model(two_products(), tmp_path / "m.onnx", external_from_bytes=1000)
    assert np.array_equal(run(load_graph(tmp_path / "m.onnx"))[0], run(two_products())[0])


def interrupted(self: Path, target: Path) -> Path:
    raise KeyboardInterrupt


@pytest.mark.parametrize("external_from_bytes", [1000, 10**9])
def test_an_interrupt_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, external_from_bytes: int
) -> None:
    (tmp_path / "m.onnx").write_bytes(b"before")
    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_model(two_products(), tmp_path / "m.onnx", external_from_bytes=external_from_bytes)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"m.onnx": b"before"}


def test_a_full_disk_is_said_to_be_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(DiskFull, match="MiB are needed"):
        save_model(two_products(), tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []


def test_the_same_model_is_the_same_file(tmp_path: Path) -> None:
    save_model(two_products(), tmp_path / "a.onnx")
    save_model(onnx.load(str(tmp_path / "a.onnx")), tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_the_size_of_a_model_is_that_of_its_parts() -> None:
    """Protobuf finds a size by serializing, which fails for the models whose size matters."""
    model = two_products()
    assert model_bytes(model) == pytest.approx(model.ByteSize(), abs=20)
