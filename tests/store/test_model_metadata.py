from __future__ import annotations

import pytest

from edge_asr.errors import ModelDamaged, ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.store.model_header import FLOAT, OnnxHeader, TensorShape
from edge_asr.store.model_metadata import check_metadata

ZIPFORMER2 = {
    "encoder_dims": "96,128",
    "query_head_dims": "32,32",
    "value_head_dims": "12,12",
    "num_heads": "4,4",
    "num_encoder_layers": "1,1",
    "cnn_module_kernels": "15,15",
    "left_context_len": "64,32",
    "T": "45",
    "decode_chunk_len": "32",
}
WHISPER = dict.fromkeys(FAMILIES["whisper"].metadata["encoder"], "0") | {"sot_sequence": "50257,50362"}
NEMO = dict.fromkeys(FAMILIES["nemo-ctc-streaming"].metadata["model"], "4") | {"window_size": "57"}


def check(family: str, role: str, metadata: dict[str, str], dims: tuple[int | str, ...], *states: TensorShape) -> None:
    header = OnnxHeader(kind="onnx", metadata=metadata, inputs=(TensorShape("x", FLOAT, dims), *states))
    check_metadata("m", FAMILIES[family], {role: header}, {role: "model.onnx"})


@pytest.mark.parametrize(
    ("family", "role", "metadata", "dims"),
    [
        ("zipformer2-ctc", "model", ZIPFORMER2, ("N", 45, 80)),
        ("zipformer2-ctc", "model", ZIPFORMER2, ("N", "T", "C")),
        ("whisper", "encoder", WHISPER, ("N", 80, 3000)),
        ("nemo-ctc-streaming", "model", NEMO, ("N", 80, 57)),
        ("nemo-ctc-streaming", "model", NEMO, ("N", 80, "T")),
    ],
)
def test_whole_metadata_pass(family: str, role: str, metadata: dict[str, str], dims: tuple[int | str, ...]) -> None:
    check(family, role, metadata, dims)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("num_heads", "4", "lists of several lengths .* 1 in num_heads"),
        ("num_heads", "4,", "num_heads = '4,'"),
        ("T", "45,45", "T = '45,45'"),
        ("T", "32000", "takes 45 frames a step, but its metadata says T = 32000"),
        ("left_context_len", "64,9999999", "left_context_len = '64,9999999'"),
        ("T", "31", "T = 31 below decode_chunk_len = 32"),
    ],
)
def test_a_wrong_zipformer_is_refused(key: str, value: str, reason: str) -> None:
    with pytest.raises(ModelDamaged, match=reason):
        check("zipformer2-ctc", "model", ZIPFORMER2 | {key: value}, ("N", 45, 80))


def test_other_features_than_the_engine_makes_are_refused() -> None:
    with pytest.raises(ModelUnsupported, match="takes 40 features a frame, and the engine makes 80"):
        check("zipformer2-ctc", "model", ZIPFORMER2, ("N", 45, 40))
    with pytest.raises(ModelUnsupported, match="takes 128 features a frame"):
        check("nemo-ctc-streaming", "model", NEMO, ("N", 128, 57))


def test_the_window_of_a_nemo_model_is_checked_on_its_last_axis() -> None:
    with pytest.raises(ModelDamaged, match="takes 65 frames a step, but its metadata says window_size = 57"):
        check("nemo-ctc-streaming", "model", NEMO, ("N", 80, 65))


def test_a_state_of_another_size_than_the_metadata_say_is_refused() -> None:
    cache = TensorShape("cache_last_channel", FLOAT, ("N", 4, "time", 4))
    check("nemo-ctc-streaming", "model", NEMO, ("N", 80, 57), cache)
    with pytest.raises(ModelDamaged, match=r"cache_last_channel_dim1 = 17 in its metadata, and its .* says 4"):
        check("nemo-ctc-streaming", "model", NEMO | {"cache_last_channel_dim1": "17"}, ("N", 80, 57), cache)


def test_a_state_may_be_smaller_than_its_key_by_what_the_engine_takes_off() -> None:
    keys = dict.fromkeys(FAMILIES["wenet-ctc-streaming"].metadata["model"], "3")
    check("wenet-ctc-streaming", "model", keys, ("N", "T", 80), TensorShape("cnn_cache", FLOAT, (3, "N", 3, 2)))
    with pytest.raises(ModelDamaged, match="cnn_module_kernel = 3 in its metadata, and its cnn_cache says 4"):
        check("wenet-ctc-streaming", "model", keys, ("N", "T", 80), TensorShape("cnn_cache", FLOAT, (3, "N", 3, 3)))


def test_there_is_a_mean_for_each_stacked_feature() -> None:
    scaling = {"neg_mean": ",".join(["0.5"] * 80), "inv_stddev": ",".join(["0.5"] * 80)}
    metadata = dict.fromkeys(FAMILIES["paraformer"].metadata["model"], "1") | scaling
    check("paraformer", "model", metadata, ("N", "T", 80))
    with pytest.raises(ModelDamaged, match="80 numbers in neg_mean of its metadata instead of 560"):
        check("paraformer", "model", metadata | {"lfr_window_size": "7"}, ("N", "T", 560))


@pytest.mark.parametrize("key", FAMILIES["whisper"].metadata["encoder"])
def test_a_whisper_without_a_key_is_refused(key: str) -> None:
    metadata = {name: value for name, value in WHISPER.items() if name != key}
    with pytest.raises(ModelDamaged, match=f"lacks the metadata '{key}' that a whisper needs"):
        check("whisper", "encoder", metadata, ("N", 80, 3000))


@pytest.mark.parametrize("value", ["", "1.0,,2.0", "1.0,x"])
def test_means_that_are_no_numbers_are_refused(value: str) -> None:
    metadata = dict.fromkeys(FAMILIES["paraformer"].metadata["model"], "1") | {"neg_mean": value}
    with pytest.raises(ModelDamaged, match=r"neg_mean = .* where numbers belong"):
        check("paraformer", "model", metadata, ("N", "T", 560))
