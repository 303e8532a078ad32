from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from edge_asr.errors import (
    AlreadyQuantized,
    ChoiceImpossible,
    ModelDamaged,
    ModelUnsupported,
    NodeUnknown,
    QuantizedLess,
    WeightsNotFinite,
)
from edge_asr.quantize import graph as graph_module
from edge_asr.quantize.choices import Choice, WeightOptions
from edge_asr.quantize.graph import (
    Prepared,
    apply_assignment,
    load_graph,
    prepare_graph,
    quantizable_nodes,
)
from edge_asr.quantize.targets import TARGETS
from edge_asr.quantize.unheard import unheard
from edge_asr.quantize.walk import metadata_of, operator_counts
from tests.support.tiny_graphs import (
    FEATURES,
    METADATA,
    OUTPUTS,
    frames,
    graph_of,
    relative_error,
    run,
    two_products,
    weights,
)

PI5 = TARGETS["pi5"]
QUANTIZED: tuple[Choice, ...] = ("int8", "weight8", "weight4", "fp16")
LARGEST_ERROR = {"int8": 0.03, "weight8": 0.03, "weight4": 0.2, "fp16": 0.001}
"""Of two products in a row, as a share of the output's deviation."""


def everything(prepared: Prepared, choice: Choice) -> dict[str, Choice]:
    return {node.name: choice for node in quantizable_nodes(prepared, "encoder", PI5)}


# Reading.


def test_what_is_no_onnx_file_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "encoder.onnx"
    path.write_bytes(b"<!DOCTYPE html><html>not found</html>")
    with pytest.raises(ModelDamaged, match=r"encoder\.onnx"):
        load_graph(path)


def test_an_ort_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnsupported, match=r"\.onnx it came from"):
        load_graph(tmp_path / "encoder.ort")


def test_weights_beside_the_file_are_read(tmp_path: Path) -> None:
    model = two_products()
    expected = run(model)
    onnx.save(model, str(tmp_path / "m.onnx"), save_as_external_data=True, location="m.bin", size_threshold=0)
    assert np.array_equal(run(load_graph(tmp_path / "m.onnx"))[0], expected[0])


def test_missing_weights_beside_the_file_are_refused(tmp_path: Path) -> None:
    onnx.save(two_products(), str(tmp_path / "m.onnx"), save_as_external_data=True, location="m.bin", size_threshold=0)
    (tmp_path / "m.bin").unlink()
    with pytest.raises(ModelDamaged, match=r"m\.bin"):
        load_graph(tmp_path / "m.onnx")


# Preparing.


def test_preparing_changes_no_result() -> None:
    expected = run(two_products())
    assert np.allclose(run(prepare_graph(two_products()).model)[0], expected[0], atol=1e-6)


def test_preparing_keeps_the_metadata() -> None:
    assert metadata_of(prepare_graph(two_products()).model) == METADATA


@pytest.mark.parametrize("choice", QUANTIZED)
def test_quantizing_keeps_the_metadata(choice: Choice) -> None:
    prepared = prepare_graph(two_products())
    assert metadata_of(apply_assignment(prepared, "encoder", everything(prepared, choice)).model) == METADATA


@pytest.mark.parametrize("choice", ["int8", "weight4", "fp16"])
def test_quantizing_twice_is_refused(choice: Choice) -> None:
    prepared = prepare_graph(two_products())
    quantized = apply_assignment(prepared, "encoder", {"first": choice}).model
    with pytest.raises(AlreadyQuantized, match="float32 model it was made from"):
        prepare_graph(quantized)


def test_a_quantized_graph_can_be_continued_where_it_is_float() -> None:
    quantized = apply_assignment(prepare_graph(two_products()), "encoder", {"first": "int8"}).model
    continued = prepare_graph(quantized, is_continued=True)
    assert [node.name for node in quantizable_nodes(continued, "encoder", PI5)] == ["second"]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused_by_name(value: float) -> None:
    model = two_products()
    broken = weights(FEATURES, 96)
    broken[3, 4] = value
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(broken, "a"))
    with pytest.raises(WeightsNotFinite, match="'a', used by 'first'"):
        prepare_graph(model)


def test_a_mask_of_minus_infinity_is_no_broken_weight() -> None:
    nodes = [helper.make_node("MatMul", ["x", "a"], ["h"]), helper.make_node("Max", ["h", "mask"], ["y"])]
    mask = np.full((1, OUTPUTS), -np.inf, np.float32)
    prepare_graph(graph_of(nodes, {"a": weights(FEATURES, OUTPUTS), "mask": mask}))


def test_nodes_without_a_name_get_the_same_one_each_time() -> None:
    def names() -> list[str]:
        model = two_products()
        for node in model.graph.node:
            node.name = ""
        return [node.name for node in quantizable_nodes(prepare_graph(model), "encoder", PI5)]

    assert len(set(names())) == 2
    assert names() == names()


def test_two_nodes_of_one_name_are_told_apart() -> None:
    model = two_products()
    model.graph.node[2].name = "first"
    assert [node.name for node in quantizable_nodes(prepare_graph(model), "encoder", PI5)] == ["first", "first#2"]


def test_weights_listed_among_the_inputs_are_constant() -> None:
    """Old exporters do it, and ONNX Runtime's quantizer then fails with an internal error (onnxruntime#13358)."""
    model = two_products()
    model.graph.input.append(helper.make_tensor_value_info("a", onnx.TensorProto.FLOAT, [FEATURES, 96]))
    prepared = prepare_graph(model)
    assert [tensor.name for tensor in prepared.model.graph.input] == ["x"]
    assert len(quantizable_nodes(prepared, "encoder", PI5)) == 2


def test_weights_in_constant_nodes_are_weights() -> None:
    tensor = numpy_helper.from_array(weights(FEATURES, OUTPUTS))
    nodes = [
        helper.make_node("Constant", [], ["a"], value=tensor),
        helper.make_node("Identity", ["a"], ["b"]),
        helper.make_node("MatMul", ["x", "b"], ["y"], "product"),
    ]
    assert [node.name for node in quantizable_nodes(prepare_graph(graph_of(nodes, {})), "encoder", PI5)] == ["product"]


def test_a_weight_turned_at_run_time_is_turned_once() -> None:
    nodes = [
        helper.make_node("Transpose", ["a"], ["turned"], perm=[1, 0]),
        helper.make_node("MatMul", ["x", "turned"], ["y"], "product"),
    ]
    prepared = prepare_graph(graph_of(nodes, {"a": weights(OUTPUTS, FEATURES)}))
    assert [node.weight_shape for node in quantizable_nodes(prepared, "encoder", PI5)] == [(FEATURES, OUTPUTS)]


def test_equal_weights_are_kept_once() -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["h"], "first"),
        helper.make_node("MatMul", ["h", "b"], ["y"], "second"),
    ]
    square = weights(FEATURES, FEATURES)
    model = prepare_graph(graph_of(nodes, {"a": square, "b": square.copy()})).model
    assert [tensor.name for tensor in model.graph.initializer] == ["a"]


def test_weights_that_nodes_share_are_quantized_once() -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["h"], "first"),
        helper.make_node("MatMul", ["h", "a"], ["y"], "second"),
    ]
    prepared = prepare_graph(graph_of(nodes, {"a": weights(FEATURES, FEATURES)}))
    quantized = apply_assignment(prepared, "encoder", {"first": "int8", "second": "int8"}).model
    assert sum(len(tensor.dims) == 2 for tensor in quantized.graph.initializer) == 1


def test_operator_sets_that_nothing_uses_are_not_named() -> None:
    """An older runtime refuses a file for an operator set it does not know, used or not (sherpa-onnx#188)."""
    model = two_products()
    model.opset_import.append(helper.make_opsetid("com.microsoft.nchwc", 1))
    assert [entry.domain for entry in prepare_graph(model).model.opset_import] == [""]


def test_an_unreadable_graph_is_kept_and_said_to_be() -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["h"], "product"),
        helper.make_node("Unheard", ["h"], ["y"], "strange", domain="com.example"),
    ]
    model = graph_of(nodes, {"a": weights(FEATURES, OUTPUTS)})
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    prepared = prepare_graph(model, name="encoder.onnx")
    assert "constants not folded" in prepared.notes[0]
    assert len(quantizable_nodes(prepared, "encoder", PI5)) == 1


# Choosing.


def test_nodes_are_described() -> None:
    first, second = quantizable_nodes(prepare_graph(two_products()), "encoder", PI5)
    assert (first.component, first.name, first.operator) == ("encoder", "first", "MatMul")
    assert first.weight_shape == (FEATURES, 96)
    assert second.weight_bytes == 96 * OUTPUTS * 4
    assert first.choices == ("fp32", "int8", "weight8", "weight4", "fp16")


def test_a_product_of_two_inputs_is_not_quantizable() -> None:
    model = graph_of([helper.make_node("MatMul", ["x", "z"], ["y"])], {}, inputs={"x": [2, 3], "z": [3, 2]})
    assert quantizable_nodes(prepare_graph(model), "encoder", PI5) == []


def test_weights_beyond_the_range_of_halves_cannot_be_halves() -> None:
    model = graph_of([helper.make_node("MatMul", ["x", "a"], ["y"], "p")], {"a": weights(FEATURES, OUTPUTS) * 1e6})
    prepared = prepare_graph(model)
    assert "fp16" not in quantizable_nodes(prepared, "encoder", PI5)[0].choices
    with pytest.raises(ChoiceImpossible, match="cannot be fp16"):
        apply_assignment(prepared, "encoder", {"p": "fp16"})


def test_a_name_that_no_node_has_is_refused() -> None:
    """ONNX Runtime's quantizer returns the float model then, and says nothing (onnxruntime#24459)."""
    with pytest.raises(NodeUnknown, match="'second/renamed' among its 2"):
        apply_assignment(prepare_graph(two_products()), "encoder", {"first": "int8", "second/renamed": "int8"})


def test_fewer_nodes_than_chosen_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = prepare_graph(two_products())
    monkeypatch.setitem(graph_module._REWRITES, "weight4", lambda node, editor, how: [node])
    with pytest.raises(QuantizedLess, match="0 of 1"):
        apply_assignment(prepared, "encoder", {"first": "weight4"})


def test_choosing_float32_everywhere_gives_the_prepared_graph() -> None:
    prepared = prepare_graph(two_products())
    quantized = apply_assignment(prepared, "encoder", everything(prepared, "fp32"))
    assert np.array_equal(run(quantized.model)[0], run(prepared.model)[0])
    assert quantized.counts.quantized == {}


@pytest.mark.parametrize("choice", QUANTIZED)
def test_a_quantized_graph_gives_about_the_same(choice: Choice) -> None:
    prepared = prepare_graph(two_products())
    quantized = apply_assignment(prepared, "encoder", everything(prepared, choice))
    assert 0 < relative_error(run(quantized.model)[0], run(prepared.model)[0]) < LARGEST_ERROR[choice]
    assert quantized.counts.quantized == {choice: 2}


@pytest.mark.parametrize("choice", QUANTIZED)
def test_quantizing_leaves_the_prepared_graph_alone(choice: Choice) -> None:
    prepared = prepare_graph(two_products())
    before = prepared.model.SerializeToString(deterministic=True)
    apply_assignment(prepared, "encoder", everything(prepared, choice))
    assert prepared.model.SerializeToString(deterministic=True) == before


@pytest.mark.parametrize("choice", QUANTIZED)
def test_the_same_choices_give_the_same_bytes(choice: Choice) -> None:
    def made() -> bytes:
        prepared = prepare_graph(two_products())
        model = apply_assignment(prepared, "encoder", everything(prepared, choice)).model
        return bytes(model.SerializeToString(deterministic=True))

    assert made() == made()


def test_choices_can_be_mixed() -> None:
    prepared = prepare_graph(two_products())
    quantized = apply_assignment(prepared, "encoder", {"first": "weight4", "second": "int8"})
    assert quantized.counts.quantized == {"weight4": 1, "int8": 1}
    assert quantized.counts.after["MatMulInteger"] == 1
    assert quantized.counts.after["com.microsoft.MatMulNBits"] == 1


# int8.


def test_int8_has_the_integers_and_scales_of_onnx_runtime(tmp_path: Path) -> None:
    prepared = prepare_graph(two_products())
    ours = apply_assignment(prepared, "encoder", everything(prepared, "int8")).model
    onnx.save(prepared.model, str(tmp_path / "float.onnx"))
    with unheard():
        quantize_dynamic(
            tmp_path / "float.onnx",
            tmp_path / "int8.onnx",
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            weight_type=QuantType.QInt8,
        )
    theirs = onnx.load(str(tmp_path / "int8.onnx"))
    assert operator_counts(ours) == operator_counts(theirs)
    assert np.array_equal(run(ours)[0], run(theirs)[0])


def test_int8_multiplies_integers() -> None:
    """Weights that are only stored as integers are floats again once loaded: no faster, no smaller (gigastt#69)."""
    prepared = prepare_graph(two_products())
    counts = apply_assignment(prepared, "encoder", everything(prepared, "int8")).counts
    assert counts.before["MatMul"] == 2
    assert counts.after["MatMulInteger"] == 2
    assert not {"MatMul", "DequantizeLinear"} & counts.after.keys()


def test_products_of_one_input_share_its_quantization() -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["q"]),
        helper.make_node("MatMul", ["x", "b"], ["k"]),
        helper.make_node("Add", ["q", "k"], ["y"]),
    ]
    prepared = prepare_graph(graph_of(nodes, {"a": weights(FEATURES, 32), "b": weights(FEATURES, 32, seed=5)}))
    counts = apply_assignment(prepared, "encoder", everything(prepared, "int8")).counts
    assert counts.after["DynamicQuantizeLinear"] == 1


def test_a_column_of_zeros_stays_zero() -> None:
    zeros = weights(FEATURES, OUTPUTS)
    zeros[:, 5] = 0
    prepared = prepare_graph(graph_of([helper.make_node("MatMul", ["x", "a"], ["y"], "p")], {"a": zeros}))
    assert not run(apply_assignment(prepared, "encoder", {"p": "int8"}).model)[0][..., 5].any()


def test_columns_of_very_different_size_each_keep_their_precision() -> None:
    """The scale of a whole matrix would lose the small columns; a scale for each column does not."""
    uneven = weights(FEATURES, OUTPUTS)
    uneven[:, ::2] *= 1e4
    model = graph_of([helper.make_node("MatMul", ["x", "a"], ["y"], "p")], {"a": uneven})
    prepared = prepare_graph(model)
    found, expected = run(apply_assignment(prepared, "encoder", {"p": "int8"}).model)[0], run(prepared.model)[0]
    assert relative_error(found[..., 1::2], expected[..., 1::2]) < LARGEST_ERROR["int8"]


# Blocks.


@pytest.mark.parametrize(("choice", "bits"), [("weight8", 8), ("weight4", 4)])
def test_blocks_are_what_the_fast_kernels_of_arm_take(choice: Choice, bits: int) -> None:
    prepared = prepare_graph(two_products())
    model = apply_assignment(prepared, "encoder", {"first": choice}).model
    node = next(node for node in model.graph.node if node.op_type == "MatMulNBits")
    attributes = {entry.name: entry.i for entry in node.attribute}
    assert attributes == {"K": FEATURES, "N": 96, "bits": bits, "block_size": 32, "accuracy_level": 4}
    assert len(node.input) == 3, "symmetric: no zero points"


@pytest.mark.parametrize("algorithm", ["rtn", "k-quant", "hqq"])
def test_each_algorithm_makes_blocks(algorithm: str) -> None:
    prepared = prepare_graph(two_products())
    options = WeightOptions(algorithm=algorithm)  # type: ignore[arg-type]
    quantized = apply_assignment(prepared, "encoder", everything(prepared, "weight4"), weights=options)
    assert relative_error(run(quantized.model)[0], run(prepared.model)[0]) < LARGEST_ERROR["weight4"]


def test_a_matrix_that_is_no_multiple_of_the_block_is_filled_up() -> None:
    model = graph_of(
        [helper.make_node("MatMul", ["x", "a"], ["y"], "p")], {"a": weights(50, OUTPUTS)}, inputs={"x": [1, "T", 50]}
    )
    prepared, inputs = prepare_graph(model), {"x": frames(5, 50)}
    quantized = apply_assignment(prepared, "encoder", {"p": "weight8"})
    assert relative_error(run(quantized.model, inputs)[0], run(prepared.model, inputs)[0]) < 0.03


# Other nodes that multiply with a matrix.


@pytest.mark.parametrize("choice", ["int8", "weight8"])
@pytest.mark.parametrize("kernel", [(1,), (1, 1)])
def test_a_pointwise_convolution_is_quantized_as_a_product(kernel: tuple[int, ...], choice: Choice) -> None:
    kernels = weights(FEATURES, OUTPUTS).T.reshape(OUTPUTS, FEATURES, *kernel).copy()
    node = helper.make_node("Conv", ["x", "k", "bias"], ["y"], "conv")
    shape = ["N", FEATURES, *("TF"[: len(kernel)])]
    prepared = prepare_graph(graph_of([node], {"k": kernels, "bias": weights(OUTPUTS)}, inputs={"x": shape}))
    inputs = {"x": np.random.default_rng(1).standard_normal((2, FEATURES, 9, 3)[: 2 + len(kernel)]).astype(np.float32)}
    quantized = apply_assignment(prepared, "encoder", {"conv": choice})
    assert "Conv" not in quantized.counts.after
    found, expected = run(quantized.model, inputs)[0], run(prepared.model, inputs)[0]
    assert found.shape == expected.shape
    assert relative_error(found, expected) < LARGEST_ERROR[choice]


@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ((OUTPUTS, FEATURES, 3), {}),
        ((OUTPUTS, FEATURES, 1), {"strides": [2]}),
        ((OUTPUTS, FEATURES, 1), {"pads": [1, 1]}),
        ((FEATURES, 1, 1), {"group": FEATURES}),
    ],
)
def test_other_convolutions_are_left_alone(shape: tuple[int, ...], attributes: dict[str, Any]) -> None:
    """ConvInteger is slow, and quantizing the first convolution ruined a model (onnxruntime#12854, moonshine#73)."""
    node = helper.make_node("Conv", ["x", "k"], ["y"], "conv", **attributes)
    prepared = prepare_graph(graph_of([node], {"k": weights(*shape)}, inputs={"x": ["N", FEATURES, "T"]}))
    assert quantizable_nodes(prepared, "encoder", PI5) == []


@pytest.mark.parametrize("choice", ["int8", "weight8"])
@pytest.mark.parametrize("is_turned", [0, 1])
def test_a_gemm_is_quantized_as_a_product(is_turned: int, choice: Choice) -> None:
    matrix = weights(FEATURES, OUTPUTS)
    node = helper.make_node("Gemm", ["x", "a", "bias"], ["y"], "gemm", transB=is_turned)
    constants = {"a": matrix.T.copy() if is_turned else matrix, "bias": weights(OUTPUTS)}
    prepared = prepare_graph(graph_of([node], constants, inputs={"x": ["N", FEATURES]}))
    inputs = {"x": frames()[0]}
    quantized = apply_assignment(prepared, "joiner", {"gemm": choice})
    assert relative_error(run(quantized.model, inputs)[0], run(prepared.model, inputs)[0]) < LARGEST_ERROR[choice]


def test_a_gemm_with_factors_is_left_alone() -> None:
    node = helper.make_node("Gemm", ["x", "a"], ["y"], "gemm", alpha=0.5)
    prepared = prepare_graph(graph_of([node], {"a": weights(FEATURES, OUTPUTS)}, inputs={"x": ["N", FEATURES]}))
    assert quantizable_nodes(prepared, "joiner", PI5) == []


@pytest.mark.parametrize("choice", ["int8", "fp16"])
def test_an_embedding_is_looked_up_before_it_is_turned_to_floats(choice: Choice) -> None:
    node = helper.make_node("Gather", ["table", "y"], ["out"], "embedding")
    table = weights(500, FEATURES)
    prepared = prepare_graph(
        graph_of([node], {"table": table}, inputs={"y": ["N", 2]}, outputs=["out"], integers=["y"])
    )
    quantized = apply_assignment(prepared, "decoder", {"embedding": choice}).model
    rows = np.array([[0, 499], [7, 7]])
    assert relative_error(run(quantized, {"y": rows})[0], table[rows]) < 0.01
    assert all(
        tensor.data_type != onnx.TensorProto.FLOAT or tensor.dims[1] == 1 for tensor in quantized.graph.initializer
    )


def test_an_embedding_has_no_blocks() -> None:
    node = helper.make_node("Gather", ["table", "y"], ["out"], "embedding")
    model = graph_of([node], {"table": weights(500, 8)}, inputs={"y": ["N", 2]}, outputs=["out"], integers=["y"])
    with pytest.raises(ChoiceImpossible, match="it can be fp32, int8, fp16"):
        apply_assignment(prepare_graph(model), "decoder", {"embedding": "weight4"})


@pytest.mark.parametrize("choice", QUANTIZED)
def test_products_inside_a_branch_are_quantized(choice: Choice) -> None:
    branch = helper.make_graph(
        [helper.make_node("MatMul", ["x", "inner"], ["then"], "in_branch")],
        "then",
        [],
        [helper.make_tensor_value_info("then", onnx.TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights(FEATURES, OUTPUTS), "inner")],
    )
    other = helper.make_graph(
        [helper.make_node("MatMul", ["x", "outer"], ["else"], "in_other")],
        "else",
        [],
        [helper.make_tensor_value_info("else", onnx.TensorProto.FLOAT, None)],
    )
    node = helper.make_node("If", ["c"], ["y"], "if", then_branch=branch, else_branch=other)
    compare = helper.make_node("Greater", ["s", "zero"], ["c"])
    model = graph_of(
        [compare, node],
        {"outer": weights(FEATURES, OUTPUTS, seed=9), "zero": np.array(0, np.float32)},
        inputs={"x": ["N", "T", FEATURES], "s": []},
    )
    prepared = prepare_graph(model)
    quantized = apply_assignment(prepared, "decoder", everything(prepared, choice))
    assert quantized.counts.quantized == {choice: 2}
    for sign in (-1.0, 1.0):
        inputs = {"x": frames(), "s": np.array(sign, np.float32)}
        found, expected = run(quantized.model, inputs)[0], run(prepared.model, inputs)[0]
        assert relative_error(found, expected) < LARGEST_ERROR[choice]
