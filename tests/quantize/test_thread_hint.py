import json
from pathlib import Path

import onnx

from edge_asr.quantize.thread_hint import KEY, add_thread_hint
from edge_asr.quantize.workshop import Workshop
from edge_asr.store.onnx_header import read_header
from edge_asr.store.store import InstalledModel
from tests.support.tiny_graphs import two_products
from tests.support.tiny_products import write_model


def test_one_thread_is_enough_for_decoder_and_joiner(tmp_path: Path):
    original = InstalledModel(write_model(tmp_path / "sound"), tmp_path / "sound")
    directory = Workshop(original, tmp_path / "work").make("int8", {}).candidate.directory
    for role in ("decoder", "joiner"):
        hint = json.loads(read_header(directory / f"{role}.onnx").metadata[KEY])
        assert hint["session_options"]["intra_op_num_threads"] == 1
    assert KEY not in read_header(directory / "encoder.onnx").metadata


def test_a_hint_that_is_there_is_kept():
    model = two_products()
    onnx.helper.set_model_props(model, {KEY: "mine"})
    add_thread_hint(model)
    assert [entry.value for entry in model.metadata_props if entry.key == KEY] == ["mine"]
