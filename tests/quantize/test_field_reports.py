"""What people reported when they quantized speech models, each as a whole run with the right outcome.

Most causes have closer tests beside their part; here they are seen from where the user stands. That int8 is slow on
32-bit systems (microsoft/onnxruntime#16426) is the doctor's business.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper, version_converter

from edge_asr.engines.trial import trial_load
from edge_asr.errors import ModelDamaged, ModelTooNew, NothingQuantized, QuantizedLess, WeightsNotFinite
from edge_asr.manifest import MANIFEST_FILE, read_manifest
from edge_asr.quantize import graph
from edge_asr.quantize.document import ComponentRecord, Document
from edge_asr.quantize.order import Order
from edge_asr.quantize.progress import Silence
from edge_asr.quantize.recorded_steps import MOST_STEPS
from edge_asr.quantize.run import quantize
from edge_asr.quantize.targets import TARGETS
from edge_asr.settings import EngineSettings
from edge_asr.store.inspect import MAX_IR_VERSION, MAX_OPSET, inspect_model
from edge_asr.store.onnx_header import read_header
from edge_asr.store.store import InstalledModel
from tests.support.tiny_products import write_model, write_recordings


def original(folder: Path, *, sabotaged: bool = False) -> InstalledModel:
    return InstalledModel(write_model(folder / "model", sabotaged=sabotaged), folder / "model")


def made(folder: Path, model: InstalledModel, recipe: str = "int8", **wishes: object) -> Document:
    wishes = {"target": TARGETS["pi4"], **wishes}
    order = Order(original=model, output=folder / "out", recipe=recipe, **wishes)  # type: ignore[arg-type]
    return quantize(order, Silence()).document


def component(document: Document, role: str) -> ComponentRecord:
    return next(one for one in document.components if one.role == role)


def change_encoder(model: InstalledModel, change: Callable[[onnx.ModelProto], None]) -> None:
    path = model.directory / "encoder.onnx"
    encoder = onnx.load(str(path))
    change(encoder)
    path.write_bytes(encoder.SerializeToString())


def nothing_is_left(folder: Path) -> bool:
    return not [path for path in folder.iterdir() if "out" in path.name]


def test_b37_versions_newer_than_the_runtime_on_the_board_are_written_as_older_ones(tmp_path: Path) -> None:
    """k2-fsa/sherpa-onnx#2528, #3261: the file is too new for the runtime inside sherpa-onnx."""
    model = original(tmp_path)
    path = model.directory / "encoder.onnx"
    newer = version_converter.convert_version(onnx.load(str(path)), MAX_OPSET + 1)
    newer.ir_version = MAX_IR_VERSION + 1
    path.write_bytes(newer.SerializeToString())
    with pytest.raises(ModelTooNew):
        inspect_model(model.directory, model.manifest)
    document = made(tmp_path, model, evaluation=write_recordings(tmp_path / "audio", 20), budget=0.05)
    assert document.points[1].verdict == "within", "beside the original, which the engine cannot load as it is"
    header = read_header(tmp_path / "out" / "encoder.onnx")
    assert (header.opset, header.ir_version) == (21, 10)


def test_b38_the_decoder_stays_float32_and_a_budget_is_kept(tmp_path: Path) -> None:
    """k2-fsa/icefall#2003: int8 doubled the error rate, half of it by the decoder alone."""
    document = made(tmp_path, original(tmp_path))
    assert component(document, "decoder").nodes == {}
    assert component(document, "encoder").nodes == {"int8": 2}
    recordings = write_recordings(tmp_path / "audio", 20)
    ruined = tmp_path / "ruined"
    ruined.mkdir()
    over = made(ruined, original(ruined, sabotaged=True), evaluation=recordings, budget=0.05)
    assert over.kept == ""
    assert not (ruined / "out").exists()


def test_b39_nothing_is_claimed_that_was_not_measured(tmp_path: Path) -> None:
    """k2-fsa/icefall#995: the same recipe nearly doubled one conformer's errors and left another's alone."""
    (point,) = made(tmp_path, original(tmp_path)).points
    assert (point.verdict, point.accuracy, point.speed) == ("not judged", None, None)


def test_b40_convolutions_that_are_no_products_stay_float32(tmp_path: Path) -> None:
    """microsoft/onnxruntime#12854, moonshine-ai/moonshine#73: the first convolution in 8 bits ruined the model."""
    model = original(tmp_path)

    def convolve(encoder: onnx.ModelProto) -> None:
        kernel = np.zeros((80, 1, 3), np.float32)
        kernel[:, 0, 1] = 1.0
        encoder.graph.initializer.append(numpy_helper.from_array(kernel, "kernel"))
        for node in encoder.graph.node:
            node.input[:] = ["smooth" if name == "x" else name for name in node.input]
        nodes = [
            helper.make_node("Transpose", ["x"], ["by_bin"], perm=[0, 2, 1]),
            helper.make_node("Conv", ["by_bin", "kernel"], ["by_bin_smooth"], group=80, pads=[1, 1]),
            helper.make_node("Transpose", ["by_bin_smooth"], ["smooth"], perm=[0, 2, 1]),
        ]
        for node in reversed(nodes):
            encoder.graph.node.insert(0, node)

    change_encoder(model, convolve)
    encoder = component(made(tmp_path, model), "encoder")
    assert encoder.operators_after["Conv"] == 1
    assert "ConvInteger" not in encoder.operators_after


def test_b41_operators_memory_and_time_are_reported_beside_the_size(tmp_path: Path) -> None:
    """ekhodzitsky/gigastt#69: a small file whose weights became floats again as it was loaded."""
    document = made(tmp_path, original(tmp_path), evaluation=write_recordings(tmp_path / "audio", 20))
    encoder = component(document, "encoder")
    assert encoder.operators_after["MatMulInteger"] - encoder.operators_before.get("MatMulInteger", 0) == 2
    assert "DequantizeLinear" not in encoder.operators_after
    speed = document.points[1].speed
    assert speed is not None
    assert speed.resident_bytes > 10 << 20
    assert speed.rtf_cpu > 0


def test_b42_what_was_not_quantized_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """microsoft/onnxruntime#24459: after an upgrade the chosen layers were left alone, without a word."""
    model = original(tmp_path)
    monkeypatch.setitem(graph._REWRITES, "int8", lambda node, _editor, _how: [node])
    with pytest.raises(QuantizedLess, match="2"):
        made(tmp_path, model)
    assert nothing_is_left(tmp_path)


def test_b42_a_recipe_that_finds_nothing_to_do_is_a_failure(tmp_path: Path) -> None:
    model = original(tmp_path)
    for role in ("encoder", "joiner"):
        path = model.directory / f"{role}.onnx"
        plain = onnx.load(str(path))
        for node in plain.graph.node:
            if node.op_type == "MatMul":  # a product of two inputs has no weights
                node.CopyFrom(helper.make_node("Mul", list(node.input), list(node.output)))
        path.write_bytes(plain.SerializeToString())
    with pytest.raises(NothingQuantized):
        made(tmp_path, model)
    assert nothing_is_left(tmp_path)


def test_b43_a_model_with_states_is_calibrated_by_its_own_states(tmp_path: Path) -> None:
    """microsoft/onnxruntime#19601: the usual reader cannot feed 96 states."""
    calibration = write_recordings(tmp_path / "audio", 5).parent
    document = made(tmp_path, original(tmp_path), "int8-static", calibration=calibration)
    assert component(document, "encoder").operators_after["QuantizeLinear"] > 0
    trial_load(tmp_path / "out", read_manifest(tmp_path / "out" / MANIFEST_FILE), EngineSettings())


def test_b44_calibration_is_bounded_however_much_audio_there_is(tmp_path: Path) -> None:
    """microsoft/onnxruntime#10503, #12652, #21979: calibrations that took 100 GB."""
    calibration = write_recordings(tmp_path / "audio", 200).parent
    document = made(tmp_path, original(tmp_path), "int8-static", calibration=calibration)
    assert document.calibration is not None
    assert 120 <= document.calibration.audio_s < 125, "of 260 s"
    (steps,) = (note for note in document.notes if note.startswith("encoder: calibrated with"))
    assert int(steps.split()[3]) < 2 * MOST_STEPS


def test_b47_four_bits_come_only_when_asked_for_and_as_fast_kernels_want_them(tmp_path: Path) -> None:
    """microsoft/onnxruntime#23004, #24769: MatMulNBits ten times slower than int8."""
    assert made(tmp_path, original(tmp_path)).points[0].nodes == {"int8": 3}
    document = made(tmp_path, original(tmp_path), "weight4")
    encoder = onnx.load(str(tmp_path / "out" / "encoder.onnx"))
    blocks = [node for node in encoder.graph.node if node.op_type == "MatMulNBits"]
    levels = [attribute.i for node in blocks for attribute in node.attribute if attribute.name == "accuracy_level"]
    assert levels == [4, 4]
    assert any("smaller, not faster" in note for note in document.notes)


def test_b48_halves_load_and_are_said_to_gain_no_time(tmp_path: Path) -> None:
    """microsoft/onnxconverter-common#320, microsoft/onnxruntime#25522: a type that does not match at the first step."""
    document = made(tmp_path, original(tmp_path), "fp16")
    trial_load(tmp_path / "out", read_manifest(tmp_path / "out" / MANIFEST_FILE), EngineSettings())
    kinds = {
        value.type.tensor_type.elem_type for value in onnx.load(str(tmp_path / "out" / "encoder.onnx")).graph.input
    }
    assert kinds == {onnx.TensorProto.FLOAT}
    assert any("no faster than floats" in note for note in document.notes)


@pytest.mark.parametrize("recipe", ["int8", "weight4", "fp16", "auto"])
def test_b49_weights_that_are_no_numbers_are_named_and_nothing_is_left(tmp_path: Path, recipe: str) -> None:
    """microsoft/onnxruntime#13358, #19997: an assertion about a scale, in place of the tensor's name."""
    model = original(tmp_path)

    def break_weight(encoder: onnx.ModelProto) -> None:
        (tensor,) = (one for one in encoder.graph.initializer if one.name == "first")
        values = numpy_helper.to_array(tensor).copy()
        values[0, 5] = np.nan
        tensor.CopyFrom(numpy_helper.from_array(values, "first"))

    change_encoder(model, break_weight)
    with pytest.raises(WeightsNotFinite, match="'first'"):
        made(tmp_path, model, recipe)
    assert nothing_is_left(tmp_path)


@pytest.mark.parametrize("recipe", ["int8", "int8-static", "weight8", "weight4", "fp16", "auto"])
def test_b50_what_the_engine_reads_from_a_file_survives(tmp_path: Path, recipe: str) -> None:
    """k2-fsa/icefall#979: the fear that quantizing loses the metadata."""
    model = original(tmp_path)
    made(tmp_path, model, recipe)
    for role in ("encoder", "decoder", "joiner"):
        before, after = (
            read_header(folder / f"{role}.onnx").metadata for folder in (model.directory, tmp_path / "out")
        )
        assert after.items() >= before.items()


def test_b51_operator_sets_that_nothing_uses_are_not_named(tmp_path: Path) -> None:
    """k2-fsa/sherpa-onnx#188: an internal operator set, named and not used, that an older runtime refused."""
    model = original(tmp_path)
    change_encoder(
        model,
        lambda encoder: encoder.opset_import.extend(
            [helper.make_opsetid("org.pytorch.aten", 1), helper.make_opsetid("com.microsoft.nchwc", 1)]
        ),
    )
    made(tmp_path, model)
    assert set(read_header(tmp_path / "out" / "encoder.onnx").opsets) == {""}


def test_b53_a_runtime_too_old_for_an_ort_file_says_so(tmp_path: Path) -> None:
    """microsoft/onnxruntime#10951, #8440: .ort files run with what made them, or not at all."""
    made(tmp_path, original(tmp_path), file_format="ort")
    path = tmp_path / "out" / "encoder.ort"
    assert "edge_asr.ort.runtime" in read_header(path).metadata
    content = bytearray(path.read_bytes())
    version = read_header(path).ort_version.encode()
    content[content.rindex(b"\x01\x00\x00\x00" + version + b"\x00") + 4] = ord("9")
    path.write_bytes(content)
    assert read_header(path).ort_version == "9"
    with pytest.raises(ModelDamaged, match=r"ORT format model version \[9\] is not supported"):
        trial_load(tmp_path / "out", read_manifest(tmp_path / "out" / MANIFEST_FILE), EngineSettings())


def test_b54_an_export_with_its_weights_beside_it_is_taken(tmp_path: Path) -> None:
    """k2-fsa/icefall#2040: exporters that write weights into a file of their own, and new operator sets."""
    model = original(tmp_path)
    path = model.directory / "encoder.onnx"
    encoder = onnx.load(str(path))
    onnx.save(encoder, str(path), save_as_external_data=True, location="encoder.data", size_threshold=0)
    made(tmp_path, model)
    trial_load(tmp_path / "out", read_manifest(tmp_path / "out" / MANIFEST_FILE), EngineSettings())


def test_b54_an_operator_set_that_no_board_has_is_refused_with_the_remedy(tmp_path: Path) -> None:
    model = original(tmp_path)

    path = model.directory / "encoder.onnx"
    newer = version_converter.convert_version(onnx.load(str(path)), MAX_OPSET + 1)
    (last,) = (node for node in newer.graph.node if "passed" in node.output)
    place = 1 + list(newer.graph.node).index(last)
    last.output[0] = "plain"
    newer.graph.node.insert(place, helper.make_node("Swish", ["plain"], ["passed"]))
    path.write_bytes(newer.SerializeToString())
    with pytest.raises(ModelTooNew, match="export it again"):
        made(tmp_path, model)
    assert nothing_is_left(tmp_path)
