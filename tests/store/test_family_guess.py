from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from edge_asr.errors import ModelDamaged, ModelUnsupported
from edge_asr.store.catalogue import catalogue_directory
from edge_asr.store.family_guess import guess_family
from tests.support import tiny_models


def test_a_transducer_is_told_by_its_graphs_whatever_the_files_are_called(tmp_path: Path) -> None:
    tiny_models.write_lstm_transducer(tmp_path)
    for number, name in enumerate(("encoder", "decoder", "joiner")):
        (tmp_path / f"{name}.onnx").rename(tmp_path / f"part-{number}.onnx")
    family, roles = guess_family(tmp_path)
    assert family == "lstm-transducer"
    assert roles == {
        "tokens": "tokens.txt",
        "encoder": "part-0.onnx",
        "decoder": "part-1.onnx",
        "joiner": "part-2.onnx",
    }


def test_the_8_bit_encoder_and_joiner_and_the_32_bit_decoder_are_taken(tmp_path: Path) -> None:
    tiny_models.write_lstm_transducer(tmp_path)
    for name in ("encoder", "decoder", "joiner"):
        shutil.copyfile(tmp_path / f"{name}.onnx", tmp_path / f"{name}.int8.onnx")
    roles = guess_family(tmp_path)[1]
    assert [roles[part] for part in ("encoder", "decoder", "joiner")] == [
        "encoder.int8.onnx",
        "decoder.onnx",
        "joiner.int8.onnx",
    ]


@pytest.mark.parametrize(
    ("family", "write"),
    [
        ("nemo-ctc-streaming", tiny_models.write_nemo_ctc_streaming),
        ("wenet-ctc-streaming", tiny_models.write_wenet_ctc_streaming),
        ("t-one-ctc", tiny_models.write_t_one_ctc),
        ("paraformer-streaming", tiny_models.write_paraformer_streaming),
        ("nemo-ctc", tiny_models.write_nemo_ctc_offline),
    ],
)
def test_other_families_are_told_by_their_metadata(tmp_path: Path, family: str, write) -> None:
    write(tmp_path)
    assert guess_family(tmp_path)[0] == family


def test_the_starter_model_brings_its_graph() -> None:
    family, roles = guess_family(catalogue_directory() / "starter-en")
    assert (family, roles["graph"], roles["bpe"]) == ("zipformer2-ctc", "vocab.fst", "bpe.model")


def test_a_strange_graph_is_listed(tmp_path: Path) -> None:
    tiny_models.write_lstm_transducer(tmp_path, without_metadata=("T",))
    with pytest.raises(ModelUnsupported, match=r"of no family that is known: decoder\.onnx"):
        guess_family(tmp_path)


def test_a_directory_without_a_model_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match=r"no \.onnx or \.ort file"):
        guess_family(tmp_path)
