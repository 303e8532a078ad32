from __future__ import annotations

import shutil
from pathlib import Path

import onnx
import pytest

from edge_asr.errors import ModelDamaged, ModelUnsupported
from edge_asr.families import FAMILIES
from edge_asr.store.catalogue import catalogue_directory
from edge_asr.store.family_guess import guess_family
from tests.support import tiny_models
from tests.support.tiny_models import write_graph

STARTER = catalogue_directory() / "starter-en"


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
    family, roles = guess_family(STARTER)
    assert (family, roles["graph"], roles["bpe"]) == ("zipformer2-ctc", "vocab.fst", "bpe.model")


def test_a_strange_graph_is_listed(tmp_path: Path) -> None:
    tiny_models.write_lstm_transducer(tmp_path, without_metadata=("T",))
    with pytest.raises(
        ModelUnsupported,
        match=r"of no family that is known.*: decoder\.onnx \(inputs y, onnx\), encoder\.onnx \(lstm, onnx\)",
    ):
        guess_family(tmp_path)


def test_a_transducer_without_its_joiner_is_not_taken_for_something_else(tmp_path: Path) -> None:
    tiny_models.write_lstm_transducer(tmp_path)
    (tmp_path / "joiner.onnx").unlink()
    with pytest.raises(ModelUnsupported, match="or not all are there"):
        guess_family(tmp_path)


def test_8_bits_are_told_by_the_operators_and_not_by_the_name(tmp_path: Path) -> None:
    shutil.copyfile(STARTER / "model.int8.onnx", tmp_path / "a.onnx")
    shutil.copyfile(STARTER / "tokens.txt", tmp_path / "tokens.txt")
    model = onnx.load(STARTER / "model.int8.onnx")
    kept = [node for node in model.graph.node if node.op_type not in ("MatMulInteger", "DynamicQuantizeLinear")]
    del model.graph.node[:]
    model.graph.node.extend(kept)
    (tmp_path / "a.int8.onnx").write_bytes(model.SerializeToString())
    assert guess_family(tmp_path)[1]["model"] == "a.onnx"


def test_files_in_folders_are_found(tmp_path: Path) -> None:
    tiny_models.write_t_one_ctc(tmp_path / "inner")
    assert guess_family(tmp_path) == ("t-one-ctc", {"tokens": "inner/tokens.txt", "model": "inner/model.onnx"})


def test_a_voice_activity_model_needs_no_tokens(tmp_path: Path) -> None:
    write_graph(tmp_path / "vad.onnx", inputs=("input", "state", "sr"), outputs=("output", "stateN"))
    assert guess_family(tmp_path) == ("silero-vad", {"model": "vad.onnx"})


def test_moonshine_is_told_by_its_inputs(tmp_path: Path) -> None:
    write_graph(tmp_path / "one.onnx", inputs=("input_values",), outputs=("last_hidden_state",))
    write_graph(tmp_path / "two.onnx", inputs=("ids", "states", "use_cache"), outputs=("logits",))
    (tmp_path / "tokens.txt").write_text("YQ== 0\n")
    family, roles = guess_family(tmp_path)
    assert (family, roles["encoder"], roles["decoder"]) == ("moonshine", "one.onnx", "two.onnx")


@pytest.mark.parametrize(
    ("family", "metadata"),
    [
        ("wenet-ctc", {"model_type": "wenet_ctc", "vocab_size": "2", "subsampling_factor": "4"}),
        ("nemo-ctc", {"normalize_type": "", "vocab_size": "2", "subsampling_factor": "8"}),
        ("sense-voice", dict.fromkeys(FAMILIES["sense-voice"].metadata["model"], "1")),
        ("paraformer", dict.fromkeys(FAMILIES["paraformer"].metadata["model"], "1")),
    ],
)
def test_families_of_one_graph_are_told_apart(tmp_path: Path, family: str, metadata: dict[str, str]) -> None:
    write_graph(tmp_path / "model.onnx", inputs=("x", "length"), outputs=("logits", "length_out"), metadata=metadata)
    (tmp_path / "tokens.txt").write_text("<blk> 0\na 1\n")
    assert guess_family(tmp_path) == (family, {"tokens": "tokens.txt", "model": "model.onnx"})


def test_a_model_without_tokens_is_said_so(tmp_path: Path) -> None:
    tiny_models.write_t_one_ctc(tmp_path)["tokens"].unlink()
    with pytest.raises(ModelDamaged, match=r"no tokens\.txt in it, which a t-one-ctc needs"):
        guess_family(tmp_path)


def test_a_directory_without_a_model_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ModelDamaged, match=r"no \.onnx or \.ort file"):
        guess_family(tmp_path)
