from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

from edge_asr.errors import ModelTooNew
from edge_asr.quantize.graph import prepare_graph
from edge_asr.quantize.versions import standard_opset
from edge_asr.store.inspect import MAX_IR_VERSION, MAX_OPSET
from tests.support.tiny_graphs import FEATURES, graph_of, run, two_products, weights


def test_a_graph_in_the_newest_version_is_written_in_one_that_boards_load() -> None:
    """The ONNX package of a workstation writes what the runtime in sherpa-onnx refuses (sherpa-onnx#2528)."""
    newest = onnx.defs.onnx_opset_version()
    assert newest > MAX_OPSET
    model = two_products(opset=MAX_OPSET - 2, ir_version=MAX_IR_VERSION + 1)
    prepared = prepare_graph(model, name="encoder.onnx")
    assert (standard_opset(prepared.model), prepared.model.ir_version) == (21, 10)
    assert any("24 rewritten as 21" in note for note in prepared.notes)


def test_the_operator_set_of_the_model_is_kept_where_boards_know_it() -> None:
    prepared = prepare_graph(two_products(opset=13, ir_version=7))
    assert (standard_opset(prepared.model), prepared.model.ir_version) == (13, 7)


def test_an_operator_set_without_dynamic_quantization_is_raised() -> None:
    assert standard_opset(prepare_graph(two_products(opset=10, ir_version=5)).model) == 11


def test_what_only_a_newer_operator_set_has_is_refused_with_the_remedy() -> None:
    nodes = [
        helper.make_node("MatMul", ["x", "a"], ["h"]),
        helper.make_node("Swish", ["h"], ["y"]),
    ]
    model = graph_of(nodes, {"a": weights(FEATURES, 8)}, opset=MAX_OPSET + 1)
    with pytest.raises(ModelTooNew, match="export it again with opset 21"):
        prepare_graph(model)


def test_a_rewritten_graph_gives_the_same() -> None:
    expected = run(two_products())
    found = run(prepare_graph(two_products(opset=24, ir_version=11)).model)
    assert np.allclose(found[0], expected[0], atol=1e-6)
