from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import onnx
import pytest

from edge_asr.errors import ModelDamaged, ModelError, ModelTooNew, ModelUnsupported
from edge_asr.manifest import ModelManifest, read_manifest
from edge_asr.store.catalogue import catalogue_directory
from edge_asr.store.inspect import inspect_model
from tests.support import tiny_models
from tests.support.tiny_models import tiny_manifest, write_lstm_transducer

Files = Mapping[str, Path]


def lstm(folder: Path, **changes: object) -> tuple[Path, ModelManifest]:
    files = write_lstm_transducer(folder, **changes)  # type: ignore[arg-type]
    return folder, tiny_manifest("lstm-transducer", files)


def refused(folder: Path, manifest: ModelManifest) -> str:
    with pytest.raises(ModelError) as caught:
        inspect_model(folder, manifest)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_bundled_model_is_whole() -> None:
    directory = catalogue_directory() / "starter-en"
    report = inspect_model(directory, read_manifest(directory / "manifest.toml"))
    assert (report.family, report.kind, report.precision, report.vocabulary) == (
        "zipformer2-ctc",
        "streaming",
        "int8",
        128,
    )
    assert (report.chunk_ms, report.lookahead_ms, report.tail_padding_ms) == (320, 130, 450)
    assert report.total_bytes == sum(report.sizes_bytes.values()) > 5_000_000


def test_a_tiny_transducer_is_whole(tmp_path: Path) -> None:
    report = inspect_model(*lstm(tmp_path, chunk_frames=128))
    assert (report.chunk_ms, report.lookahead_ms, report.precision, report.vocabulary) == (1280, 130, "fp32", 5)


@pytest.mark.parametrize(
    ("family", "write", "chunk_ms"),
    [
        ("nemo-ctc-streaming", tiny_models.write_nemo_ctc_streaming, 480),
        ("wenet-ctc-streaming", tiny_models.write_wenet_ctc_streaming, 640),
        ("t-one-ctc", tiny_models.write_t_one_ctc, 300),
        ("paraformer-streaming", tiny_models.write_paraformer_streaming, 600),
        ("nemo-ctc", tiny_models.write_nemo_ctc_offline, 0),
    ],
)
def test_every_family_is_read(tmp_path: Path, family: str, write, chunk_ms: float) -> None:
    report = inspect_model(tmp_path, tiny_manifest(family, write(tmp_path)))
    assert report.chunk_ms == chunk_ms


# The table of what the native engine does with bad models: each row is refused before it sees them.


@pytest.mark.parametrize("role", ["tokens", "encoder", "decoder", "joiner"])
def test_a_missing_file_is_named(tmp_path: Path, role: str) -> None:
    folder, manifest = lstm(tmp_path)
    (folder / manifest.files[role].path).unlink()
    assert f"{manifest.files[role].path} is missing" in refused(folder, manifest)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "encoder.onnx is empty"),
        (b"<html>404</html>", "encoder.onnx is a web page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "encoder.onnx is a git-LFS pointer"),
        (bytes(range(255, 0, -1)), "encoder.onnx is not an ONNX model"),
    ],
)
def test_a_file_that_is_something_else_is_named(tmp_path: Path, data: bytes, reason: str) -> None:
    folder, manifest = lstm(tmp_path)
    (folder / "encoder.onnx").write_bytes(data)
    assert reason in refused(folder, manifest)


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    folder, manifest = lstm(tmp_path)
    whole = (folder / "encoder.onnx").read_bytes()
    (folder / "encoder.onnx").write_bytes(whole[: len(whole) // 2])
    assert "encoder.onnx" in refused(folder, manifest)


def test_a_newer_file_version_is_refused(tmp_path: Path) -> None:
    folder, manifest = lstm(tmp_path, ir_version=14)
    with pytest.raises(ModelTooNew, match="IR version 14, and the runtime here reads 13"):
        inspect_model(folder, manifest)


def test_a_newer_operator_set_is_refused(tmp_path: Path) -> None:
    folder, manifest = lstm(tmp_path, opset=27)
    with pytest.raises(ModelTooNew, match="operator set 27, and the runtime here knows 26"):
        inspect_model(folder, manifest)


def test_weights_that_lie_elsewhere_must_be_there(tmp_path: Path) -> None:
    folder, manifest = lstm(tmp_path)
    model = onnx.load(folder / "encoder.onnx")
    onnx.save_model(model, folder / "encoder.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    inspect_model(folder, manifest)
    (folder / "w.bin").unlink()
    assert "keeps its weights in w.bin, which is missing" in refused(folder, manifest)


def test_a_missing_model_type_is_refused(tmp_path: Path) -> None:
    assert "lacks the metadata key 'model_type'" in refused(*lstm(tmp_path, without_metadata=("model_type",)))


def test_an_unknown_model_type_is_refused(tmp_path: Path) -> None:
    folder, manifest = lstm(tmp_path, model_type="transformer9")
    with pytest.raises(ModelUnsupported, match="model_type 'transformer9' instead of 'lstm'"):
        inspect_model(folder, manifest)


@pytest.mark.parametrize("key", ["T", "decode_chunk_len", "rnn_hidden_size", "vocab_size", "context_size"])
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    assert f"'{key}'" in refused(*lstm(tmp_path, without_metadata=(key,)))


@pytest.mark.parametrize("value", ["abc", "", "-4", "0", "4.5", "3,x"])
def test_a_key_without_whole_numbers_is_refused(tmp_path: Path, value: str) -> None:
    assert "d_model = " in refused(*lstm(tmp_path, metadata={"d_model": value}))


def test_a_window_that_the_graph_does_not_take_is_refused(tmp_path: Path) -> None:
    assert "takes 45 frames a step, but its metadata says T = 99" in refused(*lstm(tmp_path, metadata={"T": "99"}))


def test_a_window_shorter_than_the_chunk_is_refused(tmp_path: Path) -> None:
    assert "T = 45 below decode_chunk_len = 64" in refused(*lstm(tmp_path, metadata={"decode_chunk_len": "64"}))


@pytest.mark.parametrize(("one", "other"), [("encoder", "decoder"), ("decoder", "joiner"), ("encoder", "joiner")])
def test_swapped_parts_are_named(tmp_path: Path, one: str, other: str) -> None:
    files = write_lstm_transducer(tmp_path)
    files[one], files[other] = files[other], files[one]
    first, second = sorted((one, other))
    assert f"{first} and {second} look swapped" in refused(tmp_path, tiny_manifest("lstm-transducer", files))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<blk> 0 x\n", "line 1 has 3 fields"),
        (b"", "tokens.txt is empty"),
        (bytes(range(128, 256)), "is not text"),
        (b"<blk>\none\ntwo\nthree\nfour\n", "has no id"),
        (b"<blk> 0\none 1\n", "2 tokens and the model has 5"),
        (b"one 0\ntwo 1\nthree 2\nfour 3\n<blk> 4\n", "blank symbol at 4 instead of 0"),
    ],
)
def test_a_wrong_tokens_file_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    folder, manifest = lstm(tmp_path)
    (folder / "tokens.txt").write_bytes(data)
    assert reason in refused(folder, manifest)


def test_windows_line_ends_and_a_byte_order_mark_are_fine(tmp_path: Path) -> None:
    folder, manifest = lstm(tmp_path)
    lines = (folder / "tokens.txt").read_bytes()
    (folder / "tokens.txt").write_bytes(b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n"))
    assert inspect_model(folder, manifest).vocabulary == 5


def test_a_model_of_another_family_is_recognised(tmp_path: Path) -> None:
    files = tiny_models.write_nemo_ctc_streaming(tmp_path)
    with pytest.raises(ModelUnsupported, match="looks like a nemo-ctc-streaming"):
        inspect_model(tmp_path, tiny_manifest("zipformer2-ctc", files))


def test_an_unknown_family_is_refused(tmp_path: Path) -> None:
    folder, manifest = lstm(tmp_path)
    strange = ModelManifest(**{name: getattr(manifest, name) for name in manifest.__struct_fields__} | {"family": "x"})
    assert "unknown family 'x'" in refused(folder, strange)


def test_a_role_the_family_needs_must_be_named(tmp_path: Path) -> None:
    files = dict(write_lstm_transducer(tmp_path))
    del files["joiner"]
    with pytest.raises(ModelDamaged, match="names no file for joiner"):
        inspect_model(tmp_path, tiny_manifest("lstm-transducer", files))
