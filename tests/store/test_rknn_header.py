from __future__ import annotations

from pathlib import Path

import pytest

from edge_asr.errors import ModelDamaged
from edge_asr.store.onnx_header import read_header
from edge_asr.store.rknn_header import is_rknn, read_rknn

STRING = b"model_type=zipformer2;encoder_dims=96,128;T=45;decode_chunk_len=32"


def compiled(path: Path, string: bytes = STRING, chip: bytes = b"rk3588") -> Path:
    """The plain text of a file that rknn-toolkit2 2.5.0 wrote, and rubbish in the place of the program."""
    head = b"RKNN" + bytes(4) + b"\x06" + bytes(55)
    versions = b"\x06\0\0\0" + chip + b"\0\0\x3e\0\0\x002.5.0(compiler version: 2.5.0 (74ea630ce@2026-09-29))"
    tail = b'{"output_num":33,"target_platform":["' + chip + b'"],"version":"2.5.0","virtual_tensor":[]}'
    path.write_bytes(head + string + bytes(3) + versions + bytes(4096) + tail)
    return path


def test_metadata_chip_and_versions_are_read(tmp_path: Path) -> None:
    header = read_rknn(compiled(tmp_path / "model.rknn"))
    assert header.metadata == {
        "model_type": "zipformer2", "encoder_dims": "96,128", "T": "45", "decode_chunk_len": "32"
    }  # fmt: skip
    assert (header.chip, header.toolkit, header.compiler) == ("rk3588", "2.5.0", "2.5.0")


def test_a_file_that_was_not_made_for_sherpa_has_no_metadata(tmp_path: Path) -> None:
    assert read_rknn(compiled(tmp_path / "model.rknn", b"")).metadata == {}


def test_a_file_that_is_cut_off_is_damaged(tmp_path: Path) -> None:
    path = compiled(tmp_path / "model.rknn")
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ModelDamaged, match=r"no whole \.rknn file"):
        read_rknn(path)


def test_an_empty_file_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "model.rknn"
    path.touch()
    with pytest.raises(ModelDamaged, match=r"no whole \.rknn file"):
        read_rknn(path)


def test_every_reader_of_headers_knows_the_format(tmp_path: Path) -> None:
    path = compiled(tmp_path / "model.rknn")
    assert is_rknn(path)
    assert read_header(path).kind == "rknn"
    assert read_header(path).metadata["T"] == "45"
