from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

from edge_asr.quantize import sizes as sizes_module
from edge_asr.quantize.graph import prepare_graph, quantizable_nodes
from edge_asr.quantize.sizes import settle_sizes
from edge_asr.quantize.targets import TARGETS
from edge_asr.quantize.trial_run import gives_the_same
from edge_asr.quantize.walk import operator_counts
from tests.support.tiny_graphs import FEATURES, graph_of, run, two_products, weights

FRAMES = 12


def size_of(tensor: str, axis: str, name: str) -> list[onnx.NodeProto]:
    return [
        helper.make_node("Shape", [tensor], [f"{name}/shape"]),
        helper.make_node("Gather", [f"{name}/shape", axis], [name], axis=0),
    ]


def positions_model() -> onnx.ModelProto:
    """Adds ``table[:frames] w``, where ``frames`` is asked for at every run; the batch varies."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        *size_of("r", "one", "frames"),
        helper.make_node("Unsqueeze", ["frames", "zeros"], ["to"]),
        helper.make_node("Slice", ["table", "zeros", "to", "zeros"], ["positions"]),
        helper.make_node("MatMul", ["positions", "w"], ["projected"], "of_positions"),
        helper.make_node("MatMul", ["r", "v"], ["h"], "of_features"),
        helper.make_node("Add", ["h", "projected"], ["y"]),
    ]
    constants = {
        "one": np.array(1),
        "zeros": np.array([0]),
        "table": weights(500, 16),
        "w": weights(16, 32),
        "v": weights(FEATURES, 32),
    }
    return graph_of(nodes, constants, inputs={"x": ["N", FRAMES, FEATURES]})


def batch_model() -> onnx.ModelProto:
    """Asks two tensors for the same batch."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Tanh", ["x"], ["b"]),
        *size_of("a", "zero", "n1"),
        *size_of("b", "zero", "n2"),
        helper.make_node("Mul", ["n1", "n2"], ["square"]),
        helper.make_node("Cast", ["square"], ["factor"], to=onnx.TensorProto.FLOAT),
        helper.make_node("Mul", ["a", "factor"], ["y"]),
    ]
    return graph_of(nodes, {"zero": np.array(0)}, inputs={"x": ["N", FRAMES, FEATURES]})


def inputs(batch: int) -> dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    return {"x": np.random.default_rng(0).standard_normal((batch, FRAMES, FEATURES)).astype(np.float32)}


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("make", [positions_model, batch_model])
def test_a_settled_graph_gives_the_same_for_any_batch(make: object, batch: int) -> None:
    model = make()  # type: ignore[operator]
    settled, complaint = settle_sizes(model)
    assert not complaint
    assert np.allclose(run(settled, inputs(batch))[0], run(model, inputs(batch))[0], atol=1e-6)


def test_what_depends_on_a_fixed_size_only_is_computed_once() -> None:
    settled = settle_sizes(positions_model())[0]
    assert operator_counts(settled) == {"Relu": 1, "MatMul": 1, "Add": 1}
    assert all(tensor.dims[0] != 500 for tensor in settled.graph.initializer), "the table is no longer needed"


def test_the_batch_is_asked_for_once() -> None:
    counts = operator_counts(settle_sizes(batch_model())[0])
    assert (counts["Shape"], counts["Gather"]) == (1, 1)


def test_the_given_graph_stays_as_it_is() -> None:
    model = positions_model()
    before = model.SerializeToString(deterministic=True)
    settle_sizes(model)
    assert model.SerializeToString(deterministic=True) == before


def test_preparing_settles_sizes() -> None:
    assert "Shape" not in operator_counts(prepare_graph(positions_model()).model)


def test_a_graph_that_would_give_something_else_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes_module, "infer_sizes", lambda model: {"a": [2, FRAMES, FEATURES]})
    model = batch_model()
    settled, complaint = settle_sizes(model)
    assert settled is model
    assert "something else" in complaint


def test_sizes_that_cannot_be_inferred_are_left_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Symbolic shape inference gives up on some graphs with a bare Exception (onnxruntime#19997, #20060)."""

    def gives_up(*arguments: object, **options: object) -> onnx.ModelProto:
        raise Exception("Incomplete symbolic shape inference")  # noqa: TRY002

    monkeypatch.setattr(SymbolicShapeInference, "infer_shapes", gives_up)
    prepared = prepare_graph(positions_model(), name="encoder.onnx")
    assert prepared.notes == ("encoder.onnx: sizes not settled: their inference failed",)
    assert len(quantizable_nodes(prepared, "encoder", TARGETS["pi5"])) == 2


def test_graphs_that_compute_the_same_are_told_from_others() -> None:
    assert gives_the_same(two_products(), prepare_graph(two_products()).model)
    other = two_products()
    other.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weights(FEATURES, 96, seed=77), "a"))
    assert not gives_the_same(two_products(), other)
