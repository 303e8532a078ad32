from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from msgspec import structs

from edge_asr.errors import ModelDamaged, ModelError, ModelTooNew, ModelUnsupported
from edge_asr.manifest import ModelManifest, read_manifest
from edge_asr.store.catalogue import catalogue_directory
from edge_asr.store.inspect import inspect_model
from tests.support import tiny_models
from tests.support.tiny_models import tiny_manifest, write_lstm_transducer

Write = Callable[[Path], dict[str, Path]]


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
    ("family", "write", "chunk_ms", "lookahead_ms"),
    [
        ("nemo-ctc-streaming", tiny_models.write_nemo_ctc_streaming, 480, 90),
        ("wenet-ctc-streaming", tiny_models.write_wenet_ctc_streaming, 640, 30),
        ("t-one-ctc", tiny_models.write_t_one_ctc, 300, 0),
        ("paraformer-streaming", tiny_models.write_paraformer_streaming, 600, 10),
        ("nemo-ctc", tiny_models.write_nemo_ctc_offline, 0, 0),
    ],
)
def test_every_family_is_read(tmp_path: Path, family: str, write: Write, chunk_ms: float, lookahead_ms: float) -> None:
    report = inspect_model(tmp_path, tiny_manifest(family, write(tmp_path)))
    assert (report.chunk_ms, report.lookahead_ms, report.vocabulary) == (chunk_ms, lookahead_ms, 5)
    assert (report.opset, report.ir_version) == (tiny_models.OPSET, tiny_models.IR_VERSION)


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
    whole = (folder / "w.bin").read_bytes()
    (folder / "w.bin").write_bytes(whole[:-1])
    assert f"w.bin is cut off: it has {len(whole) - 1} bytes, and encoder.onnx needs" in refused(folder, manifest)
    (folder / "w.bin").unlink()
    assert "keeps its weights in w.bin, which is missing" in refused(folder, manifest)


def test_a_missing_model_type_is_refused(tmp_path: Path) -> None:
    assert "lacks the metadata key 'model_type'" in refused(*lstm(tmp_path, without_metadata=("model_type",)))


def test_a_model_type_of_another_family_names_that_family(tmp_path: Path) -> None:
    assert "'zipformer2' instead of 'lstm'; it is a zipformer2-transducer" in refused(
        *lstm(tmp_path, model_type="zipformer2")
    )


def test_an_unknown_model_type_is_refused(tmp_path: Path) -> None:
    folder, manifest = lstm(tmp_path, model_type="transformer9")
    with pytest.raises(ModelUnsupported, match="model_type 'transformer9' instead of 'lstm'"):
        inspect_model(folder, manifest)


@pytest.mark.parametrize("key", ["T", "decode_chunk_len", "rnn_hidden_size", "vocab_size", "context_size"])
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    assert f"'{key}'" in refused(*lstm(tmp_path, without_metadata=(key,)))


@pytest.mark.parametrize("value", ["abc", "", "-4", "0", "4.5", "3,4", "²", "9" * 5000])
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


def test_windows_line_ends_a_byte_order_mark_and_a_line_twice_are_fine(tmp_path: Path) -> None:
    folder, manifest = lstm(tmp_path)
    lines = (folder / "tokens.txt").read_bytes()
    (folder / "tokens.txt").write_bytes(
        b"\xef\xbb\xbf" + lines.replace(b"\n", b"\r\n") + lines.splitlines(keepends=True)[-1]
    )
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


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"one 0\ntwo 1\nthree 2\nfour 3\nfive 4\n", "has none of <blk>, <eps>, <blank>"),
        (b"\xef\xbb\xbf<blk> 0\ntwo 1\nthree 2\nfour 3\nfive 4\n", "save it without the byte order mark"),
    ],
)
def test_a_ctc_model_needs_a_blank_that_the_engine_finds(tmp_path: Path, data: bytes, reason: str) -> None:
    files = tiny_models.write_wenet_ctc_streaming(tmp_path)
    files["tokens"].write_bytes(data)
    assert reason in refused(tmp_path, tiny_manifest("wenet-ctc-streaming", files))


def test_a_model_for_the_telephone_is_refused_at_another_rate(tmp_path: Path) -> None:
    manifest = tiny_manifest("t-one-ctc", tiny_models.write_t_one_ctc(tmp_path))
    assert "takes audio at 8000 Hz, and the manifest says 16000 Hz" in refused(
        tmp_path, structs.replace(manifest, sample_rate_hz=16_000)
    )


def test_the_parts_of_a_paraformer_are_not_swapped(tmp_path: Path) -> None:
    files = tiny_models.write_paraformer_streaming(tmp_path)
    files["encoder"], files["decoder"] = files["decoder"], files["encoder"]
    assert "decoder and encoder look swapped" in refused(tmp_path, tiny_manifest("paraformer-streaming", files))


@pytest.mark.parametrize(
    ("role", "data", "reason"),
    [
        ("graph", b"version https://git-lfs.github.com/spec/v1\n", "vocab.fst is a git-LFS pointer"),
        ("graph", b"0 1 a\n", "vocab.fst is not a decoding graph"),
        ("bpe", b"<!DOCTYPE html>", "bpe.model is a web page"),
    ],
)
def test_files_beside_the_graph_are_looked_into(tmp_path: Path, role: str, data: bytes, reason: str) -> None:
    folder = tmp_path / "starter"
    shutil.copytree(catalogue_directory() / "starter-en", folder)
    manifest = read_manifest(folder / "manifest.toml")
    (folder / manifest.files[role].path).unlink()
    (folder / manifest.files[role].path).write_bytes(data)
    assert reason in refused(folder, manifest)


def test_another_silero_network_is_refused(tmp_path: Path) -> None:
    model = tiny_models.write_graph(
        tmp_path / "vad.onnx", inputs=("input", "sr", "state"), outputs=("output", "stateN")
    )
    manifest = tiny_manifest("silero-vad", {"model": model})
    assert "has input, sr, state, output, stateN instead of input, state, sr" in refused(tmp_path, manifest)


@pytest.mark.parametrize("role", ["graph", "tokens", "bpe"])
def test_a_small_file_that_is_not_the_recorded_one_is_refused(tmp_path: Path, role: str) -> None:
    folder = tmp_path / "starter-en"
    shutil.copytree(catalogue_directory() / "starter-en", folder)
    manifest = read_manifest(folder / "manifest.toml")
    path = folder / manifest.files[role].path
    data = bytearray(path.read_bytes())
    place = data.index(b"te 1") if role == "tokens" else len(data) // 3
    data[place] = ord("s") if role == "tokens" else data[place] ^ 0xFF
    path.write_bytes(data)
    assert f"the contents of {path.name} are not those of the manifest" in refused(folder, manifest)


def test_a_decoding_graph_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "starter-en"
    shutil.copytree(catalogue_directory() / "starter-en", folder)
    manifest = read_manifest(folder / "manifest.toml")
    (folder / "vocab.fst").write_bytes((folder / "vocab.fst").read_bytes()[:100_000])
    assert "vocab.fst has 100000 bytes instead of" in refused(folder, manifest)
