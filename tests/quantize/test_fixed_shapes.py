from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from edge_asr.errors import ModelUnsupported
from edge_asr.quantize.fixed_shapes import fix_shapes, require_fixed
from edge_asr.quantize.graph import load_graph, prepare_graph
from edge_asr.quantize.softplus import join_softplus
from edge_asr.quantize.trial_run import gives_the_same
from edge_asr.quantize.walk import operator_counts
from tests.support.engine_cases import STARTER
from tests.support.tiny_encoders import write_stateful_transducer

FLOAT_STARTER = STARTER.parent / "starter-en-fp32" / "model.onnx"


@pytest.mark.parametrize("role", ["encoder", "decoder", "joiner"])
def test_every_size_of_a_transducer_is_written_down(role: str, tmp_path: Path) -> None:
    path = write_stateful_transducer(tmp_path, "zipformer")[role]
    fixed = fix_shapes(prepare_graph(load_graph(path), name=path.name))
    dims = [dim for value in (*fixed.graph.input, *fixed.graph.output) for dim in value.type.tensor_type.shape.dim]
    assert all(dim.dim_value > 0 for dim in dims)


@pytest.mark.model
def test_the_starter_model_works_no_size_out_while_it_runs() -> None:
    prepared = prepare_graph(load_graph(FLOAT_STARTER))
    fixed = fix_shapes(prepared)
    assert "Shape" not in operator_counts(fixed)
    assert {each.key for each in fixed.metadata_props} >= set(prepared.metadata)


@pytest.mark.model
def test_the_activations_of_the_starter_model_become_one_operator_each() -> None:
    fixed = fix_shapes(prepare_graph(load_graph(FLOAT_STARTER)))
    before = onnx.ModelProto()
    before.CopyFrom(fixed)
    logarithms = operator_counts(fixed)["Log"]
    assert join_softplus(fixed) == logarithms == operator_counts(fixed)["Softplus"]
    assert "Log" not in operator_counts(fixed)
    assert gives_the_same(before, fixed)


def test_what_depends_on_the_sound_is_refused_with_the_command_to_export_it() -> None:
    with pytest.raises(ModelUnsupported, match=r"NonZero.*--dynamic-batch 0"):
        require_fixed(_nonzero(), "model.onnx")


def test_a_size_that_varies_is_named() -> None:
    model = _nonzero()
    del model.graph.node[:]
    with pytest.raises(ModelUnsupported, match="sizes of y vary"):
        require_fixed(model, "model.onnx")


def _nonzero() -> onnx.ModelProto:
    helper, kind = onnx.helper, onnx.TensorProto
    node = helper.make_node("NonZero", ["a"], ["y"])
    ends = (
        [helper.make_tensor_value_info("a", kind.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("y", kind.INT64, [2, "found"])],
    )
    return helper.make_model(helper.make_graph([node], "g", *ends))


def test_a_chain_that_is_no_softplus_is_left_alone() -> None:
    helper, kind = onnx.helper, onnx.TensorProto
    nodes = [
        helper.make_node("Log", ["a"], ["l"]),
        helper.make_node("Max", ["zero", "a"], ["m"]),
        helper.make_node("Add", ["m", "l"], ["y"]),
    ]
    ends = (
        [helper.make_tensor_value_info("a", kind.FLOAT, [4])],
        [helper.make_tensor_value_info("y", kind.FLOAT, [4])],
    )
    zero = onnx.numpy_helper.from_array(np.zeros(1, np.float32), "zero")
    model = helper.make_model(helper.make_graph(nodes, "g", *ends, [zero]))
    assert join_softplus(model) == 0
